"""What programs read beside the API: suggestions, feeds, OpenSearch, robots.txt, health."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from xml.etree import ElementTree as ET

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from gossamer.errors import GossamerError
from gossamer.model.counts import counted
from gossamer.web import feeds
from gossamer.web.links import Links
from gossamer.web.parameters import COLLECTION, PREFIX, request_of
from gossamer.web.pool import SearchPool
from gossamer.web.reasons import public_reason
from gossamer.web.rendering import json_response
from gossamer.web.service import SearchService

FEED_SIZE = 30
OPENSEARCH = "http://a9.com/-/spec/opensearch/1.1/"
_CLOSED = ("/search", "/cached", "/explain", "/story", "/history", "/suggest", "/feed.", "/api/", "/customsearch/")

BaseUrl = Callable[[HttpRequest], str]
"""Origin by which the sender of a request reaches us, without a path."""

Check = Callable[[], object]
"""Raises a `GossamerError` with the reason where something is not well."""


class MachinePages:
    """Handlers for programs."""

    def __init__(
        self, service: SearchService, pool: SearchPool, links: Links, title: str, origin: BaseUrl,
        checks: Sequence[Check] = (),
    ) -> None:  # fmt: skip
        """`checks`: what must be well beside the index for the server to be ready."""
        self._service = service
        self._checks = checks
        self._pool = pool
        self._links = links
        self._title = title
        self._origin = origin

    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            Route("/suggest", self.suggest),
            Route("/feed.atom", self.atom),
            Route("/feed.rss", self.rss),
            Route("/opensearch.xml", self.opensearch),
            Route("/robots.txt", self.robots),
            Route("/healthz", self.healthz),
            Route("/readyz", self.readyz),
        ]

    async def suggest(self, http: HttpRequest) -> Response:
        """Suggestions as OpenSearch wants them: the prefix, and how it may go on."""
        prefix = PREFIX.read(http.query_params)
        collection = COLLECTION.read(http.query_params)
        found = await self._pool.run(self._service.suggest, prefix, 8, collection) if prefix else []
        return json_response([prefix, found], media_type="application/x-suggestions+json")

    async def atom(self, http: HttpRequest) -> Response:
        """The newest results as Atom."""
        return await self._pool.run(self._feed, "atom", self._origin(http), http.query_params)

    async def rss(self, http: HttpRequest) -> Response:
        """The newest results as RSS."""
        return await self._pool.run(self._feed, "rss", self._origin(http), http.query_params)

    def _feed(self, kind: str, origin: str, given: Mapping[str, str]) -> Response:
        asked = request_of(given)
        results = self._service.search(
            msgspec.structs.replace(asked, sort="date", page=1, size=FEED_SIZE, facets=False)
        )
        changed = 0.0 if results.hits else self._service.state().committed_at
        body = getattr(feeds, kind)(
            results,
            self._title,
            origin + self._links.search(asked, sort="date", size=10, page=1),
            origin + self._links.feed(kind, msgspec.structs.replace(asked, size=10)),
            changed,
        )
        return Response(body, 200, {"cache-control": "no-cache"}, f"application/{kind}+xml")

    async def opensearch(self, http: HttpRequest) -> Response:
        """The description by which a browser adds this search."""
        origin = self._origin(http)
        return Response(
            opensearch(self._title, lambda path: origin + self._links.to(path)),
            200, {"cache-control": "public, max-age=3600"}, "application/opensearchdescription+xml",
        )  # fmt: skip

    async def robots(self, http: HttpRequest) -> Response:
        """Crawlers may see the start page; endless result pages are not for them."""
        closed = "".join(f"Disallow: {self._links.to(path)}\n" for path in _CLOSED)
        return PlainTextResponse(f"User-agent: *\n{closed}", headers={"cache-control": "public, max-age=3600"})

    async def healthz(self, http: HttpRequest) -> Response:
        """Whether the process answers."""
        return PlainTextResponse("ok\n", headers={"cache-control": "no-store"})

    async def readyz(self, http: HttpRequest) -> Response:
        """Whether index and database can be used; where not, why."""
        try:
            documents, reasons = await self._pool.run(self._readiness)
        except GossamerError as error:  # too many searches wait
            documents, reasons = 0, [public_reason(error)]
        if reasons:
            response = json_response({"ready": False, "reasons": reasons}, 503)
            response.headers["cache-control"] = "no-store"
            return response
        return PlainTextResponse(f"ok, {counted(documents, 'document')}\n", headers={"cache-control": "no-store"})

    def _readiness(self) -> tuple[int, list[str]]:
        """Documents that can be searched, and what is not well."""
        reasons, documents = [], 0
        try:
            documents = self._service.state().documents
        except (GossamerError, OSError) as error:
            reasons.append(public_reason(error))
        for check in self._checks:
            try:
                check()
            except (GossamerError, OSError) as error:
                reasons.append(public_reason(error))
        return documents, reasons


def opensearch(title: str, url: Callable[[str], str]) -> bytes:
    """An OpenSearch 1.1 description; `url` makes an address of a path."""
    title = feeds.xml_text(title)
    root = ET.Element("OpenSearchDescription", xmlns=OPENSEARCH)
    ET.SubElement(root, "ShortName").text = title[:16]
    ET.SubElement(root, "LongName").text = title[:48]
    ET.SubElement(root, "Description").text = f"Search with {title}"[:1024]
    ET.SubElement(root, "InputEncoding").text = "UTF-8"
    image = ET.SubElement(root, "Image", width="32", height="32", type="image/svg+xml")
    image.text = url("/favicon.svg")
    templates = (
        ("text/html", "results", "/search?q={searchTerms}&page={startPage?}"),
        ("application/x-suggestions+json", "suggestions", "/suggest?q={searchTerms}"),
        ("application/atom+xml", "results", "/feed.atom?q={searchTerms}"),
        ("application/rss+xml", "results", "/feed.rss?q={searchTerms}"),
    )
    for type_, rel, path in templates:
        ET.SubElement(root, "Url", type=type_, rel=rel, method="get", template=url(path))
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))
