"""What a person sees while a crawl runs, and at its end."""

from __future__ import annotations

import logging
import time
from collections import deque
from types import TracebackType
from typing import Self

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from gossamer import logs
from gossamer.cli.common import duration, err, out, size
from gossamer.crawl.folder import DataFolder
from gossamer.frontier.inspect import Status

_WINDOW = 10.0

log = logging.getLogger(__name__)


class Progress:
    """A live display on a terminal; a line now and then elsewhere."""

    def __init__(self, folder: DataFolder, pages: int | None, until: float | None, enabled: bool) -> None:
        self._folder, self._pages, self._until, self._enabled = folder, pages, until, enabled
        self._history: deque[tuple[float, int]] = deque()
        self._first: int | None = None
        self._last_shown, self._last_paused = 0.0, ""
        self._live = Live(console=err, refresh_per_second=4, transient=True) if enabled and err.is_terminal else None

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def show(self, status: Status) -> None:
        """Called some times a second by the supervisor."""
        now = time.monotonic()
        self._first = status.fetched if self._first is None else self._first
        self._history.append((now, status.fetched))
        while self._history[0][0] < now - _WINDOW:
            self._history.popleft()
        too_soon = now - self._last_shown < (0.25 if self._live else 10.0)
        if not self._enabled or (too_soon and status.paused == self._last_paused):
            return
        self._last_shown, self._last_paused = now, status.paused
        if self._live:
            self._live.update(self._picture(status))
        elif logs.is_json():
            log.info("%s", self._line(status), extra={"fetched": status.fetched, "due": status.urls_due})
        else:
            err.print(self._line(status), markup=False)

    def _rate(self) -> float:
        (start, before), (end, after) = self._history[0], self._history[-1]
        return (after - before) / (end - start) if end > start else 0.0

    def _eta(self, status: Status) -> str:
        rate = self._rate()
        if self._until is not None:
            return duration(self._until - time.time())
        if self._pages is not None and rate:
            return duration((self._pages - status.fetched + (self._first or 0)) / rate)
        return ""

    def _line(self, status: Status) -> str:
        return (
            f"{_paused(status)}{status.fetched} fetched ({self._rate():.1f}/s), {status.pages} pages, "
            f"{status.duplicates} duplicates, {status.errors} errors, {status.urls_due} due, "
            f"sites {status.sites_active} active {status.sites_waiting} waiting{_resting(status)}"
        )

    def _picture(self, status: Status) -> Group:
        table = Table.grid(padding=(0, 2))
        for name, value in self._rows(status):
            table.add_row(Text(name, style="dim"), Text(value))
        title = _paused(status) + "`gossamer resume` goes on" if status.paused else "Crawling"
        return Group(Text(f"{title} — Ctrl-C stops in good order; the same command goes on", style="bold"), table)

    def _rows(self, status: Status) -> list[tuple[str, str]]:
        levels = "  ".join(f"{level}:{urls}" for level, urls in list(status.queue_by_level.items())[:10])
        kinds = "  ".join(f"{kind}:{urls}" for kind, urls in list(status.errors_by_kind.items())[:6])
        free = size(self._folder.free_mebibytes() * 2**20)
        rows = [
            ("pages", f"{status.pages} kept of {status.fetched} fetched, {self._rate():.1f}/s"),
            ("copies", f"{status.duplicates} duplicates"),
            ("sites", f"{status.sites} in all, {status.sites_active} active, {status.sites_waiting} waiting, "
                      f"{status.sites_blocked} of them blocked" + _resting(status)),
            ("queue", f"{status.urls_due} due, {status.urls_scheduled} later, {status.urls_known} known, "
                      f"{status.urls_refused} refused"),
            ("by level", levels or "–"),
            ("errors", f"{status.errors}  {kinds}"),
            ("disk", f"{size(status.bytes)} in {status.segments} segments, {free} free"),
        ]  # fmt: skip
        if eta := self._eta(status):
            rows.append(("left", eta))
        return rows


def _paused(status: Status) -> str:
    return f"paused: {status.paused}; " if status.paused else ""


def _resting(status: Status) -> str:
    """Sites that wait for a word of the operator, where there are any."""
    paused = f", {status.sites_paused} paused" if status.sites_paused else ""
    return paused + (f", {status.sites_at_limit} at their limit" if status.sites_at_limit else "")


def summary(status: Status, now: float) -> None:
    """The end of a crawl in a few lines."""
    out.print(
        f"{status.pages} pages kept, {status.fetched} fetched, {status.duplicates} duplicates, {status.errors} errors, "
        f"{status.urls_refused} refused, {status.sites} sites, {size(status.bytes)}.",
        markup=False,
    )
    if resting := _resting(status).removeprefix(", "):
        out.print(f"Sites left alone: {resting}; `gossamer resume` and `gossamer limit` change that.", markup=False)
    if status.urls_due or status.urls_scheduled:
        later = "" if status.next_due_at is None else f"; the next is due in {duration(status.next_due_at - now)}"
        out.print(
            f"{status.urls_due + status.urls_scheduled} URLs are still to be fetched{later}: "
            "the same command without seeds goes on.",
            markup=False,
        )
