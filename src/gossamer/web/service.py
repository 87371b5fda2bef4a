"""What the server needs from a searcher and from a crawl, and nothing else: pages can be tested without either.

All calls are synchronous and may take a while; the server makes them on its own
threads. Each may raise a `GossamerError` (no index, a damaged one, one being
rebuilt), whose sentence is shown to the reader.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

from gossamer.frontier.views.stories import Story
from gossamer.search.desk.acting import Rules
from gossamer.search.results import Hit, IndexState, Overview, Request, Results, ScoreExplanation, StoredPage
from gossamer.store.visits import History


class SearchService(Protocol):
    """A searcher, called from several threads at once."""

    def search(self, request: Request) -> Results:
        """The answer to a request; nothing that was typed is an error."""
        ...

    def similar(self, request: Request, url: str) -> tuple[Hit, ...]:
        """The near copies that are collapsed under this hit of the request, best first."""
        ...

    def suggest(self, prefix: str, limit: int = 8, collection: str = "") -> list[str]:
        """Queries that begin so, best first; of words of a collection if one is named."""
        ...

    def page(self, url: str) -> StoredPage | None:
        """The stored text of a page, where it is in the index."""
        ...

    def explain(self, request: Request, url: str) -> ScoreExplanation:
        """Why a page has the score it has for a request."""
        ...

    def state(self) -> IndexState:
        """How the index stands; cheap."""
        ...

    def overview(self) -> Overview:
        """What can be searched, with example queries; takes as long as a dozen searches."""
        ...


class StoryService(Protocol):
    """A crawl that can be asked about the past, by several threads at once; an index may be served without one."""

    def others(self, url: str) -> int:
        """How many other pages have nearly the same text; cheap."""
        ...

    def story(self, url: str, limit: int = 100) -> Story | None:
        """The page's near duplicates in order of time; None where it is no document that can be compared."""
        ...

    def history(self, url: str, older: str = "", newer: str = "") -> History | None:
        """The page's stored visits, and what changed between two of them, each named by its time (RFC 3339, to the
        second); those not named are the two newest that have a text. None where it is no document."""
        ...

    def markdown(self, url: str) -> str | None:
        """The page's stored text as Markdown; None where it is no document."""
        ...


class DeskService(Protocol):
    """The rules of the search desk that count."""

    def current(self) -> Rules:
        """The rules; cheap."""
        ...

    def forget(self) -> None:
        """Look again at the next search: somebody published just now."""
        ...


Via = Literal["page", "api"]

Listener = Callable[[Results, Via], None]
"""Told of every answered search, on the thread that answered it; it must not wait for anything."""


class Services(NamedTuple):
    """What the server asks, and who hears of the answers."""

    search: SearchService
    stories: StoryService | None = None
    listeners: tuple[Listener, ...] = ()
    desk: DeskService | None = None

    def answer(self, request: Request, via: Via) -> Results:
        """The answer to somebody who searches."""
        return self._told(self.search.search(request), via)

    def at_hand(self, request: Request, via: Via) -> Results | None:
        """The same, if nobody has to wait for it: then it need not be asked for on a search thread."""
        remembered: Callable[[Request], Results | None] | None = getattr(self.search, "at_hand", None)
        results = remembered(request) if remembered is not None else None
        return self._told(results, via) if results is not None else None

    def _told(self, results: Results, via: Via) -> Results:
        for listener in self.listeners:
            listener(results, via)
        return results
