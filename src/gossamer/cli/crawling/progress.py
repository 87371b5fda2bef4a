"""What a person sees while a crawl runs, and at its end."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from gossamer import logs
from gossamer.cli.common import err, out, size
from gossamer.cli.crawling.eta import Forecast, Work, forecast
from gossamer.data.folder import DataFolder
from gossamer.frontier.views.backlog import Backlog
from gossamer.frontier.views.inspect import Status
from gossamer.model.counts import counted
from gossamer.model.records import LEVELS
from gossamer.supervise.phase import Phase

_WINDOW = 10.0
"""Seconds over which the pace is measured."""
_SETTLED = 30.0
"""Seconds without a new URL after which the number of URLs counts as known."""
_BAR = 30
_LOOK = 2.0
"""Seconds between two looks at the backlogs of the sites, at least; they may take a twentieth of the time."""
_PLAIN, _LIVE = 10.0, 0.25
"""Seconds between two lines in a file or pipe, and between two pictures on a terminal."""
_TITLES = {
    Phase.CRAWLING: ("Crawling.", "Press Ctrl-C to stop; run the same command again to resume."),
    Phase.STOPPING: (
        "Stopping … Finishing the downloads and pages under way.",
        "Press Ctrl-C again to stop at once; the next crawl fetches them again.",
    ),
    Phase.INDEXING: ("Indexing the last pages …", "Press Ctrl-C to leave that to the next crawl."),
}
"""What is going on, and what Ctrl-C does; each fits into 80 columns."""

log = logging.getLogger(__name__)


class Progress:
    """A live display on a terminal; a line now and then elsewhere."""

    def __init__(
        self,
        folder: DataFolder,
        pages: int | None,
        until: float | None,
        enabled: bool,
        phase: Callable[[], Phase] = lambda: Phase.CRAWLING,
        backlogs: Callable[[], Sequence[Backlog]] = lambda: (),
        now: Callable[[], float] = time.time,
    ) -> None:
        """`phase`: what the crawl is doing; `backlogs`: where it has most to do; `now`: the crawl's clock."""
        self._folder, self._pages, self._until, self._enabled = folder, pages, until, enabled
        self._phase, self._backlogs, self._now = phase, backlogs, now
        self._history: deque[tuple[float, int]] = deque()
        self._first: int | None = None
        self._status: Status | None = None
        self._known, self._grew_at = -1, 0.0
        self._forecast: Forecast | None = None
        self._looked_at, self._look_every = float("-inf"), _LOOK
        self._slowest: Sequence[Backlog] = ()
        self._last_shown, self._last_said = 0.0, ("", Phase.CRAWLING)
        self._is_live = enabled and err.is_terminal
        # The display asks for the picture by itself, so it shows at once that the crawl is told to stop.
        self._live = Live(console=err, refresh_per_second=4, transient=True, get_renderable=self._picture)

    def __enter__(self) -> Self:
        if self._is_live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_live:
            self._live.stop()

    def show(self, status: Status) -> None:
        """Called some times a second by the supervisor."""
        now = time.monotonic()
        self._note(status, now)
        said = (status.paused, self._phase())
        too_soon = now - self._last_shown < (_LIVE if self._is_live else _PLAIN)
        if not self._enabled or (too_soon and said == self._last_said):
            return
        changed, self._last_shown, self._last_said = said[1] is not self._last_said[1], now, said
        self._look(status, now)
        if self._is_live:
            return
        if logs.is_json():
            log.info("%s", self._line(status), extra={"fetched": status.fetched, "due": status.urls_due})
            return
        if changed:
            err.print(" ".join(_TITLES[said[1]]), markup=False)
        err.print(self._line(status), markup=False)

    def _note(self, status: Status, now: float) -> None:
        self._status = status
        self._first = status.fetched if self._first is None else self._first
        if status.urls_known > self._known:
            self._known, self._grew_at = status.urls_known, now
        self._history.append((now, status.fetched))
        while self._history[0][0] < now - _WINDOW:
            self._history.popleft()

    def _look(self, status: Status, now: float) -> None:
        if now - self._looked_at >= self._look_every and self._phase() is Phase.CRAWLING:
            self._slowest = self._backlogs()
            cost = time.monotonic() - now
            self._looked_at, self._look_every = now, max(_LOOK, 20 * cost)
        self._forecast = forecast(self._work(status, now), self._slowest, self._now())

    def _work(self, status: Status, now: float) -> Work:
        done = status.fetched - (self._first or 0)
        return Work(
            done,
            status.urls_due,
            self._rate(),
            growing=now - self._grew_at < _SETTLED,
            pages_left=None if self._pages is None else max(self._pages - done, 0),
            seconds_left=None if self._until is None else self._until - self._now(),
        )

    def _rate(self) -> float:
        (start, before), (end, after) = self._history[0], self._history[-1]
        return (after - before) / (end - start) if end > start else 0.0

    def _line(self, status: Status) -> str:
        left = f"left: {self._forecast.sentence}; " if self._forecast and self._phase() is Phase.CRAWLING else ""
        return (
            f"{_paused(status)}{left}{status.fetched} fetched ({self._rate():.1f}/s), {counted(status.pages, 'page')}, "
            f"{counted(status.duplicates, 'duplicate')}, {counted(status.errors, 'error')}, {status.urls_due} due, "
            f"sites {status.sites_active} active {status.sites_waiting} waiting{_resting(status)}"
        )

    def _picture(self) -> Group:
        status, phase = self._status, self._phase()
        if status is None:
            return Group(Text("Starting …", style="bold"))
        title, hint = _TITLES[phase]
        if status.paused and phase is Phase.CRAWLING:
            title, hint = f"Paused: {status.paused}", "Run `gossamer resume` to continue, or press Ctrl-C to stop."
        table = Table.grid(padding=(0, 2))
        for name, value in self._rows(status):
            table.add_row(Text(name, style="dim"), Text(value) if isinstance(value, str) else value)
        return Group(Text(title, style="bold"), Text(hint, style="dim"), table)

    def _rows(self, status: Status) -> list[tuple[str, RenderableType]]:
        rows: list[tuple[str, RenderableType]] = [
            ("pages", f"{status.pages} kept of {status.fetched} fetched, {self._rate():.1f}/s")
        ]
        if self._forecast is not None and self._phase() is Phase.CRAWLING:
            rows.append(("", ProgressBar(total=1.0, completed=self._forecast.share, width=_BAR)))
            rows.append(("left", self._forecast.sentence))
            if self._forecast.decides is not None:
                rows.append(("slowest", described(self._forecast.decides)))
        kinds = "  ".join(f"{kind}:{urls}" for kind, urls in list(status.errors_by_kind.items())[:6])
        free = size(self._folder.free_mebibytes() * 2**20)
        rows += [
            ("copies", counted(status.duplicates, "duplicate")),
            ("sites", f"{status.sites} in all, {status.sites_active} active, {status.sites_waiting} waiting, "
                      f"{status.sites_blocked} of them blocked" + _resting(status)),
            ("queue", f"{status.urls_due} due, {status.urls_scheduled} later, {status.urls_known} known, "
                      f"{status.urls_refused} refused"),
            ("by level", levels_of(status.queue_by_level)),
            ("errors", f"{status.errors}  {kinds}"),
            ("disk", f"{size(status.bytes)} in {counted(status.segments, 'segment')}, {free} free"),
        ]  # fmt: skip
        return rows


def levels_of(queue: dict[str, int], most: int = 6) -> str:
    """The queue by level of priority, and what the numbers mean."""
    if not queue:
        return "–"
    levels = sorted((int(level), urls) for level, urls in queue.items())
    new = [f"{level}: {urls}" for level, urls in levels if level < LEVELS]
    again = [f"{level - LEVELS}: {urls}" for level, urls in levels if level >= LEVELS]
    groups = [
        f"{name} " + ", ".join(found[:most]) + (", …" if len(found) > most else "")
        for name, found in (("new", new), ("seen before", again))
        if found
    ]
    return "; ".join(groups) + f" (level: URLs; 0 is fetched first, {LEVELS - 1} last)"


def described(backlog: Backlog) -> str:
    """A site that takes long, and why."""
    return f"{backlog.name}: {counted(backlog.urls, 'URL')}, one every {backlog.gap:.3g} s"


def _paused(status: Status) -> str:
    return f"paused: {status.paused}; " if status.paused else ""


def _resting(status: Status) -> str:
    """Sites that wait for a word of the operator, where there are any."""
    paused = f", {status.sites_paused} paused" if status.sites_paused else ""
    return paused + (f", {status.sites_at_limit} at their limit" if status.sites_at_limit else "")


def summary(status: Status) -> None:
    """The end of a crawl in figures."""
    out.print(
        f"{counted(status.pages, 'page')} kept, {status.fetched:,} fetched, {counted(status.duplicates, 'duplicate')}, "
        f"{counted(status.errors, 'error')}, {status.urls_refused:,} refused, {counted(status.sites, 'site')}, "
        f"{size(status.bytes)}.",
        markup=False,
    )
    if resting := _resting(status).removeprefix(", "):
        out.print(f"Sites not crawled: {resting}. Change it with `gossamer resume` and `gossamer limit`.", markup=False)
