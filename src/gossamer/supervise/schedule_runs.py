"""The plan of a data folder as it stands: what is due when, what ran, what is paused."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from datetime import UTC, tzinfo
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.schedule.config import Schedule
from gossamer.schedule.plan import DEFAULT, words
from gossamer.schedule.times import next_start, rhythm
from gossamer.tables import schedules

log = logging.getLogger(__name__)

_LOCAL = Path("/etc/localtime")


class Standing(msgspec.Struct, frozen=True):
    """How an entry of the plan stands."""

    name: str
    run: str
    rhythm: str
    always: bool
    next_at: float | None
    """When it is due; in the past where it waits for its turn. None: always, idle or paused."""
    paused_at: float | None
    wanted: bool
    last: schedules.Run | None

    @property
    def is_running(self) -> bool:
        """Whether its last run has not ended."""
        return self.last is not None and self.last.ended_at is None


def plan_of(entries: Mapping[str, Schedule]) -> dict[str, Schedule]:
    """What is to be run: the entries that name a command; without any, a crawl that watches, and a server."""
    named = {name: entry for name, entry in entries.items() if words(entry)}
    return named or dict(DEFAULT)


def standing(db: Database, machine: str, plan: Mapping[str, Schedule], now: float) -> list[Standing]:
    """All entries of a plan with their next start and last run, by name."""
    since = {entry.name: entry for entry in schedules.entries(db, machine)}
    last, paused, zone = schedules.last_runs(db, machine), schedules.pauses(db, machine), local_zone()
    found = []
    for name, entry in sorted(plan.items()):
        known, run = since.get(name), last.get(name)
        times = rhythm(entry)
        seen = known.since if known is not None and known.rhythm == times else now
        due = None if name in paused else next_start(entry, run.began_at if run else None, seen, now, zone)
        wanted = known is not None and known.wanted_at is not None
        found.append(Standing(name, " ".join(words(entry)), times, entry.always, due, paused.get(name), wanted, run))
    return found


def require_entry(plan: Mapping[str, Schedule], name: str) -> Schedule:
    """The entry of that name."""
    if name not in plan:
        raise UsageError(f"there is no schedule {name!r}: choose one of {', '.join(sorted(plan))}")
    return plan[name]


def local_zone() -> tzinfo:
    """The time zone of this machine with all its rules, not only its present offset."""
    name = os.environ.get("TZ", "").lstrip(":")
    try:
        return (_named_zone(name) if name else None) or _zone_of(_LOCAL)
    except (OSError, ValueError):
        return UTC


@cache
def _named_zone(name: str) -> ZoneInfo | None:
    """What the environment names, as a zone or as a file; said once where it is neither."""
    try:
        return _zone_of(Path(name)) if name.startswith("/") else ZoneInfo(name)
    except (OSError, ValueError, ZoneInfoNotFoundError):
        log.warning("TZ=%s is not a time zone, so schedules use %s: set TZ to one such as Europe/Rome", name, _LOCAL)
        return None


def _zone_of(path: Path) -> ZoneInfo:
    with path.open("rb") as file:
        return ZoneInfo.from_file(file, key=str(path.resolve()))
