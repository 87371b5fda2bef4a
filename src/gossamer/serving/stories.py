"""Stories and histories of a data folder, for the pages of the server.

What an operator removed, or what is no document any more, has no history here: its old texts lie in the
segments, but they are not for everybody. A history is looked for in the segments, so only one is read at a
time, and only for a while.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from threading import Lock
from typing import TypeVar

from msgspec.structs import replace

from gossamer.clock import Clock, SystemClock
from gossamer.data.connection import SharedConnection
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.errors import BusyError
from gossamer.frontier import changes
from gossamer.frontier.steering.removals import covered
from gossamer.frontier.views import inspect, stories
from gossamer.frontier.views.stories import Story
from gossamer.model.site import key64, site_of
from gossamer.settings import Settings
from gossamer.store.durable import SegmentMissingError
from gossamer.store.visits import Comparison, History, PageVisit, newest_two

_PATIENCE = 3.0
"""Seconds for which segments are looked through."""
UNPACKED = 8 * 1024 * 1024
"""Bytes that an office document may unpack to for its Markdown: a parser has seconds for it, a reader has not. Of a
larger one readers get the text in paragraphs; `gossamer page` gives its structure, too."""
_TRIES = 3
"""How often segments are looked for again that were merged into others while they were read."""

T = TypeVar("T")


class StoredStories:
    """`web.service.StoryService` of a data folder; safe to share between threads."""

    def __init__(self, folder: DataFolder, clock: Clock | None = None, settings: Settings | None = None) -> None:
        settings = settings or Settings()
        limits = replace(settings.parse, max_unpacked=min(settings.parse.max_unpacked, UNPACKED))
        self._folder, self._settings = folder, replace(settings, parse=limits)
        self._reader = SharedConnection(folder.database)
        self._clock = clock or SystemClock()
        self._reading, self._making = Lock(), Lock()

    def others(self, url: str) -> int:
        """How many other pages have nearly the same text."""
        cluster = self._reader.ask(lambda db: stories.cluster_of(db, url)) if "//" in url else None
        return cluster.pages - 1 if cluster is not None else 0

    def story(self, url: str, limit: int = 100) -> Story | None:
        """The page's near duplicates in order of time; None where it is no document that can be compared."""
        return self._reader.ask(lambda db: stories.story_of(db, url, limit)) if "//" in url else None

    def history(self, url: str, older: str = "", newer: str = "") -> History | None:
        """The page's stored visits, and what changed between two of them; None where it is no document."""
        if "//" not in url or not self._reader.ask(lambda db: _is_document(db, url)):
            return None
        if not self._reading.acquire(blocking=False):
            raise BusyError("the server is reading another history: try again in a moment")
        try:
            return _again_if_merged(lambda: self._history(url, older, newer))
        finally:
            self._reading.release()

    def markdown(self, url: str) -> str | None:
        """The page's stored text as Markdown; None where it is no document."""
        from gossamer.data.page_markdown import document_markdown  # Arrow and NumPy: as for histories

        if "//" not in url:
            return None
        if not self._making.acquire(timeout=_PATIENCE):
            raise BusyError("the server is making the Markdown of other pages: try again in a moment")
        try:
            found = document_markdown(self._folder, self._settings, self._reader.ask, url)
        finally:
            self._making.release()
        return found[1].text if found is not None else None

    def _history(self, url: str, older: str, newer: str) -> History:
        from gossamer.store.history import read_history  # Arrow: a server that nobody asks for histories goes without

        until = self._clock.now() + _PATIENCE
        ids = reversed(self._reader.ask(inspect.segment_ids))
        visits, is_complete = read_history(self._folder.segments, ids, url, lambda: self._clock.now() < until)
        return History(url, tuple(visits), is_complete, self._comparison(visits, older, newer))

    def _comparison(self, visits: list[PageVisit], older: str, newer: str) -> Comparison | None:
        from gossamer.store.history import compare

        pair = newest_two(visits)
        if pair is None:
            return None
        chosen = _at(visits, older) or pair[0], _at(visits, newer) or pair[1]
        first, second = sorted(chosen, key=lambda one: one.fetched_at)
        return compare(self._folder.segments, first, second)


def _at(visits: list[PageVisit], time: str) -> PageVisit | None:
    """The visit of a time, RFC 3339 to the second, where it has a text."""
    return next((one for one in visits if one.has_text and moment(one.fetched_at) == time), None)


def moment(seconds: float) -> str:
    """The time of a visit as it stands in addresses."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


def _is_document(db: Database, url: str) -> bool:
    return bool(changes.documents(db, key64(site_of(url)), [key64(url)])) and not covered(db)(url)


def _again_if_merged(read: Callable[[], T]) -> T:
    for _ in range(_TRIES - 1):
        try:
            return read()
        except SegmentMissingError:
            continue
    return read()
