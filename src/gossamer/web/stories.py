"""The pages about the past: who else has a text, and how a page changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from gossamer.dedup.difference import Change, Difference, Piece, folded
from gossamer.errors import GossamerError
from gossamer.model.moments import timestamp
from gossamer.model.site import site_of
from gossamer.store.visits import History, PageVisit
from gossamer.web.links import Links
from gossamer.web.parameters import ADDRESS, NEWER, OLDER
from gossamer.web.pool import SearchPool
from gossamer.web.rendering import Renderer
from gossamer.web.service import SearchService, Services

SHOWN = 200_000
"""Characters of a difference that are shown."""
_NO_CRAWL = "This server has an index but no crawl, so it has no stored visits."


class Paragraph(msgspec.Struct, frozen=True):
    """A paragraph of a difference as it is shown; of what stayed, only the number."""

    kind: Literal["same", "removed", "added", "changed"]
    count: int = 1
    pieces: tuple[Piece, ...] = ()


class Teller(msgspec.Struct, frozen=True):
    """A page of a story as it is shown."""

    url: str
    title: str
    site: str
    published: str
    seen_at: float
    is_representative: bool
    is_asked: bool


class Version(msgspec.Struct, frozen=True):
    """A visit as it is shown."""

    visit: PageVisit
    time: str
    """How it is named in addresses."""
    note: str = ""


class StoryPages:
    """Handlers; each asks the crawl and renders on a search thread."""

    def __init__(self, services: Services, pool: SearchPool, renderer: Renderer, links: Links) -> None:
        self._service, self._stories = services.search, services.stories
        self._pool, self._renderer, self._links = pool, renderer, links

    def routes(self) -> list[Route]:
        """Where the pages are."""
        return [Route("/story", self.story), Route("/history", self.history)]

    async def story(self, http: HttpRequest) -> Response:
        """Who else has the text of a page, and who had it first."""
        return await self._pool.run(self._story, http, http.query_params)

    async def history(self, http: HttpRequest) -> Response:
        """The versions of a page, and what changed between two of them."""
        return await self._pool.run(self._history, http, http.query_params)

    def _story(self, http: HttpRequest, given: Mapping[str, str]) -> Response:
        url = ADDRESS.read(given)
        if self._stories is None:
            return self._renderer.refuse(http.scope, 404, _NO_CRAWL)
        story = self._stories.story(url)
        if story is None:
            return self._renderer.refuse(http.scope, 404, "The crawl has no document with this URL.")
        tellers = [
            Teller(
                page.url, title_of(self._service, page.url), site_of(page.url), page.published, page.seen_at,
                page.is_representative, page.url == url,
            )
            for page in story.pages
        ]  # fmt: skip
        return self._page("story.html", url=url, cluster=story.cluster, tellers=tellers)

    def _history(self, http: HttpRequest, given: Mapping[str, str]) -> Response:
        if self._stories is None:
            return self._renderer.refuse(http.scope, 404, _NO_CRAWL)
        history = self._stories.history(ADDRESS.read(given), OLDER.read(given), NEWER.read(given))
        if history is None:
            return self._renderer.refuse(http.scope, 404, "The crawl has no page with this URL.")
        compared = history.comparison
        paragraphs, cut = shown(compared.text, SHOWN) if compared is not None else ([], False)
        versions = versions_of(history)
        return self._page(
            "history.html",
            history=history,
            versions=versions,
            texts=[one for one in versions if one.visit.has_text],
            compared=compared,
            chosen=[timestamp(one.fetched_at) for one in (compared.older, compared.newer)] if compared else [],
            paragraphs=paragraphs,
            cut=SHOWN if cut else 0,
        )

    def _page(self, template: str, **values: Any) -> Response:
        response = self._renderer.page(template, **values)
        response.headers["x-robots-tag"] = "noindex"
        return response


def title_of(service: SearchService, url: str) -> str:
    """The title of a page; empty where it is not in the index, or there is none."""
    try:
        page = service.page(url)
    except GossamerError:
        return ""
    return page.title if page is not None else ""


def versions_of(history: History) -> list[Version]:
    """The visits, with a note where the text came to be like other texts than before."""
    found = []
    before: int | None = None
    for visit in reversed(history.visits):
        note = ""
        if visit.has_text:
            note = "in another near-duplicate cluster" if before not in (None, visit.cluster) else ""
            before = visit.cluster if visit.cluster is not None else before
        found.append(Version(visit, timestamp(visit.fetched_at), note))
    return found[::-1]


def shown(text: Difference, most: int) -> tuple[list[Paragraph], bool]:
    """A difference paragraph by paragraph, up to about so many characters, and whether it goes on."""
    found: list[Paragraph] = []
    left = most
    for paragraph in _paragraphs(text.changes):
        if left <= 0:
            return found, True
        cut = _cut(paragraph, left)
        found.append(cut)
        left -= sum(len(piece.text) for piece in cut.pieces)
    return found, left < 0


def _paragraphs(changes: tuple[Change, ...]) -> Iterator[Paragraph]:
    for change in changes:
        if change.kind == "same":
            yield Paragraph("same", change.paragraphs)
        elif change.kind == "changed":
            yield Paragraph("changed", 1, tuple(folded(change.pieces)))
        else:
            (piece,) = change.pieces
            lines = (line for line in piece.text.split("\n") if line.strip())
            yield from (Paragraph(change.kind, 1, (Piece(piece.kind, line),)) for line in lines)


def _cut(paragraph: Paragraph, most: int) -> Paragraph:
    """A paragraph whose pieces have at most so many characters each."""
    pieces = tuple(Piece(piece.kind, piece.text[: most + 1]) for piece in paragraph.pieces)
    return Paragraph(paragraph.kind, paragraph.count, pieces)
