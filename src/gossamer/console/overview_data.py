"""What the overview shows: how the crawl stands, how fast it goes, and how quickly news can be found.

All of it comes from counters. Still, looking costs more the more sites there are, so the answer to "how does it
stand" is shared by everybody who looks at the same time, and asking takes a twentieth of the time at most.
"""

from __future__ import annotations

from collections import deque
from pathlib import Path
from threading import Lock
from typing import Literal

import msgspec

from gossamer.console.context import Crawl
from gossamer.data.connection import SharedConnection
from gossamer.data.folder import DataFolder
from gossamer.database.condition import server_bytes
from gossamer.database.database import Database
from gossamer.frontier.freshness import Freshness, collection_freshness
from gossamer.frontier.steering import controls
from gossamer.frontier.views.backlog import slowest
from gossamer.frontier.views.inspect import Status, Waiting, status, waiting_sites
from gossamer.frontier.views.site_list import Machine, machines
from gossamer.indexer.indexed import IndexStanding, index_standing
from gossamer.tables import delays, samples
from gossamer.tables.delays import Delays
from gossamer.tables.samples import DAY, HOUR

_GOOD_FOR = 1.0
"""Seconds for which a look at the crawl is good."""
_MEASURED = 20.0
"""Seconds over which the present speed is measured."""
_DISK_GOOD_FOR = 60.0
_RESTING_SHOWN = 5
WINDOWS = {"hour": HOUR, "day": DAY, "week": 7 * DAY}
"""Seconds over which the service level is looked at."""

Activity = Literal["running", "paused", "stopped"]


class Look(msgspec.Struct, frozen=True):
    """The crawl at one moment."""

    at: float
    standing: Status
    activity: Activity
    since: float | None
    """Since when it runs, is paused or stopped, where that is known."""
    speed: float | None
    """Pages fetched a second; None before there are two looks."""
    kept: float | None
    """Documents kept a second."""
    left: float | None = None
    """Seconds that what waits takes at the least, while it runs."""


class Watch:
    """How the crawl stands, for all pages and threads of a server together."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        # A connection of its own: nobody else's page waits while many sites are counted.
        self._reader = SharedConnection(crawl.folder.database)
        self._lock = Lock()
        self._look: Look | None = None
        self._good_until = 0.0
        self._readings: deque[tuple[float, int, int]] = deque(maxlen=64)
        self._disk: tuple[float, Disk] | None = None

    def look(self) -> Look:
        """How it stands now; its figures may be those of a moment ago."""
        with self._lock:
            now = self._crawl.clock.now()
            if self._look is None or not self._look.at <= now < self._good_until:
                self._look = self._reader.ask(lambda db: self._ask(db, now))
                took = self._crawl.clock.now() - now
                self._good_until = now + max(_GOOD_FOR, 20 * took)
                return self._look
            # Who has just paused the crawl, on this server or by a command, sees it paused.
            activity, since = self._reader.ask(lambda db: _activity(db, now))
            return msgspec.structs.replace(self._look, activity=activity, since=since)

    def _ask(self, db: Database, now: float) -> Look:
        standing = status(db, now)
        if not self._readings:
            self._begin(db, now)
        if self._readings and (standing.fetched < self._readings[-1][1] or now < self._readings[-1][0]):
            self._readings.clear()  # a site was removed, or the clock was set back
        self._readings.append((now, standing.fetched, standing.pages))
        while len(self._readings) > 2 and self._readings[1][0] <= now - _MEASURED:
            self._readings.popleft()
        (then, fetched, pages), passed = self._readings[0], now - self._readings[0][0]
        activity, since = _activity(db, now)
        measured = passed >= 0.5 and then <= now
        speed = max(0.0, (standing.fetched - fetched) / passed) if measured else None
        return Look(
            at=now, standing=standing, activity=activity, since=since, speed=speed,
            kept=max(0.0, (standing.pages - pages) / passed) if measured else None,
            left=self._left(db, standing, speed or 0.0, now) if activity == "running" else None,
        )  # fmt: skip

    def _left(self, db: Database, standing: Status, speed: float, now: float) -> float | None:
        """The site that needs longest at its pace decides, and all together are no faster than they are now."""
        if not standing.urls_due:
            return None
        polite = max((one.seconds(now) for one in slowest(db, self._crawl.settings().polite)), default=0.0)
        return max(polite, standing.urls_due / speed if speed else 0.0) or None

    def _begin(self, db: Database, now: float) -> None:
        """The first look is compared with the last sample, where that is of this minute or the one before."""
        last = samples.newest(db)
        if last is not None and now - 120 <= last.taken_at <= now:
            self._readings.append((last.taken_at, last.fetched, last.pages))

    def disk(self) -> Disk:
        """What lies on the disk; looked at once a minute, but for the stored pages, which are counted anyway."""
        now = self._crawl.clock.now()
        segments = self.look().standing.bytes
        if self._disk is None or not self._disk[0] <= now < self._disk[0] + _DISK_GOOD_FOR:
            self._disk = now, self._crawl.ask(lambda db: disk_of(self._crawl.folder, db, segments))
        return msgspec.structs.replace(self._disk[1], segments=segments)


def _activity(db: Database, now: float) -> tuple[Activity, float | None]:
    paused = controls.paused(db)
    if paused is not None:
        return "paused", paused.since or None
    working = machines(db, now)
    if working:
        return "running", min(machine.since for machine in working)
    last = samples.newest(db)
    return "stopped", last.taken_at if last else None


class Disk(msgspec.Struct, frozen=True):
    """Bytes on the disk of a data folder."""

    free: int
    segments: int
    index: int
    database: int


def disk_of(folder: DataFolder, db: Database, segments: int) -> Disk:
    """What a crawl takes up, and what is left."""
    if isinstance(folder.database, Path):
        beside = folder.database.parent.glob(f"{folder.database.name}*")
        database = sum(_size(path) for path in beside)
    else:
        database = server_bytes(db)
    index = sum(_size(path) for path in folder.index.rglob("*")) if folder.index.is_dir() else 0
    return Disk(folder.free_mebibytes() * 1024 * 1024, segments, index, database)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:  # merged away meanwhile
        return 0


class Level(msgspec.Struct, frozen=True):
    """Whether news were found in time, over one window."""

    window: str
    delays: Delays
    within: float
    """Share of the documents that surely needed no longer than the goal."""
    met: bool | None
    """None where no document was announced."""


def service_levels(db: Database, goal: float, now: float) -> list[Level]:
    """How quickly announced documents could be searched, over the last hour, day and week."""
    present = delays.histogram(db)
    found = []
    for window, seconds in WINDOWS.items():
        before = samples.as_of(db, now - seconds)
        since = samples.grown(before.delays if before else {}, present)
        summary = delays.summary(since)
        met = summary.p95 <= goal if summary.documents else None
        found.append(Level(window, summary, samples.within(since, goal), met))
    return found


class Overview(msgspec.Struct, frozen=True):
    """Everything else that the page shows."""

    machines: list[Machine]
    resting: list[Waiting]
    paused: list[controls.PausedSite]
    pause_reason: str
    freshness: Freshness
    index: IndexStanding
    has_history: bool
    """Whether there is anything to draw."""


def overview(db: Database, crawl: Crawl, now: float) -> Overview:
    """What the page shows beside the look at the crawl."""
    settings = crawl.settings()
    paused = controls.paused(db)
    return Overview(
        machines=machines(db, now),
        resting=waiting_sites(db, now, _RESTING_SHOWN),
        paused=controls.paused_sites(db, _RESTING_SHOWN),
        pause_reason=paused.reason if paused else "",
        freshness=collection_freshness(db, settings.revisit, now),
        index=index_standing(crawl.folder, db),
        has_history=samples.are_several(db),
    )
