"""What the server needs from a searcher, and nothing else: the page can be tested without an index.

All calls are synchronous and may take a while; the server makes them on its own
threads. Each may raise a `GossamerError` (no index, a damaged one, one being
rebuilt), whose sentence is shown to the reader.
"""

from __future__ import annotations

from typing import Protocol

from gossamer.search.results import Hit, IndexState, Request, Results, ScoreExplanation, StoredPage


class SearchService(Protocol):
    """A searcher, called from several threads at once."""

    def search(self, request: Request) -> Results:
        """The answer to a request; nothing that was typed is an error."""
        ...

    def similar(self, request: Request, url: str) -> tuple[Hit, ...]:
        """The near copies that are collapsed under this hit of the request, best first."""
        ...

    def suggest(self, prefix: str, limit: int = 8) -> list[str]:
        """Queries that begin so, best first."""
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
