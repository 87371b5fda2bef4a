"""The pages people see: start, results, cached text, explanation. Plain HTML; a script only adds comfort."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from gossamer.clock import Clock
from gossamer.errors import GossamerError
from gossamer.index.folder import IndexMissingError
from gossamer.search.query.operators import CHOSEN
from gossamer.search.results import Marked, Overview, Request
from gossamer.web.clicks.today import Watch
from gossamer.web.collections import PATH as COLLECTIONS
from gossamer.web.collections import Collections
from gossamer.web.custom import fields
from gossamer.web.doors import searxng
from gossamer.web.links import Links, kept
from gossamer.web.marking import marker
from gossamer.web.overviews import Overviews
from gossamer.web.parameters import (
    ADDRESS,
    COLLECTION,
    FIELDS,
    FILTERS,
    GROUP,
    QUERY,
    SIMILAR,
    SINCE,
    SORT,
    request_of,
)
from gossamer.web.pool import SearchPool
from gossamer.web.reasons import public_reason
from gossamer.web.rendering import Renderer
from gossamer.web.service import Services
from gossamer.web.views import ago, bars, page_numbers, value_words

SINCE_LABELS = {"": "Any time", "day": "Past day", "week": "Past week", "month": "Past month", "year": "Past year"}
SORT_LABELS = {"relevance": "Relevance", "date": "Newest"}
FIRST_COMMAND = "gossamer crawl https://www.example.org/ --contact you@example.org"
"""What fills an empty index."""
TYPING = "typing"
"""Parameter of a page that the script asks for while somebody types: nobody counts it as asked."""
SHOWN_TEXT = 200_000
"""Characters of a stored text that are shown."""


class Pages:
    """Handlers; each asks the service and renders on a search thread."""

    def __init__(
        self, services: Services, pool: SearchPool, renderer: Renderer, links: Links, clock: Clock,
        watch: Watch | None = None,
    ) -> None:  # fmt: skip
        """`watch`: who notes what readers are shown and open; None: nobody."""
        self._services, self._service, self._stories = services, services.search, services.stories
        self._pool = pool
        self._renderer = renderer
        self._links = links
        self._clock = clock
        self._watch = watch
        self._overviews = Overviews(services.search)
        self._collections = Collections(services.desk, links)

    def routes(self) -> list[Route]:
        """Where the pages are."""
        return [
            Route("/", self.home),
            Route("/search", self.search),
            Route("/cached", self.cached),
            Route("/explain", self.explain),
            Route(f"{COLLECTIONS}/{{name}}", self.collection),
            Route(f"{COLLECTIONS}/{{name}}/", self.collection),
            Route(f"{COLLECTIONS}/{{name}}/search", self.collection_search),
            Route(f"{COLLECTIONS}/{{name}}/colours.css", self.collection_colours),
        ]

    async def home(self, http: HttpRequest) -> Response:
        """The start page; clients of SearXNG search at this address, too."""
        if searxng.is_asked(http.query_params):
            return await self._pool.run(searxng.respond, self._services, http.query_params)
        return await self._pool.run(self._home)

    async def search(self, http: HttpRequest) -> Response:
        """Results; the start page where nothing is asked."""
        if searxng.is_asked(http.query_params):
            return await self._pool.run(searxng.respond, self._services, http.query_params)
        request = request_of(http.query_params)
        if not request.query:
            return await self._pool.run(self._home)
        return await self._pool.run(self._search, request, http)

    async def collection(self, http: HttpRequest) -> Response:
        """The start page of a collection."""
        return await self._pool.run(self._collection, http)

    async def collection_search(self, http: HttpRequest) -> Response:
        """Results of a collection; its start page where nothing is asked."""
        if searxng.is_asked(http.query_params):
            name = http.path_params["name"]
            return await self._pool.run(searxng.respond, self._services, http.query_params, name)
        return await self._pool.run(self._collection, http)

    async def collection_colours(self, http: HttpRequest) -> Response:
        """The stylesheet of a collection."""
        return await self._pool.run(self._collections.colours, http.path_params["name"])

    async def cached(self, http: HttpRequest) -> Response:
        """The stored text of a page."""
        return await self._pool.run(self._cached, http, http.query_params)

    async def explain(self, http: HttpRequest) -> Response:
        """Why a page ranks where it does."""
        return await self._pool.run(self._explain, http, http.query_params)

    def _home(self) -> Response:
        try:
            state = self._service.state()
            overview = self._overviews.current(state) if state.documents else Overview()
        except IndexMissingError:
            return self._start(0, Overview(), 0.0)
        except GossamerError as error:
            return self._renderer.page("home.html", 503, problem=public_reason(error), documents=0)
        return self._start(state.documents, overview, overview.fetched_at or state.committed_at)

    def _collection(self, http: HttpRequest) -> Response:
        name = http.path_params["name"]
        values = self._collections.values(name)
        if not values:
            return self._renderer.refuse(http.scope, 404, "There is no page at this address.")
        if http.url.path.endswith("/search"):
            request = request_of(http.query_params)
            if request.query:
                return self._search(msgspec.structs.replace(request, collection=name), http)
        try:
            documents = self._service.state().documents
        except GossamerError as error:
            return self._renderer.page("home.html", 503, problem=public_reason(error), documents=0, **values)
        return self._renderer.page(
            "home.html", problem="", documents=documents, overview=Overview(), fetched_at=0.0, fetched_ago="",
            first_command=FIRST_COMMAND, examples=[], sites=[], collections=[], **values,
        )  # fmt: skip

    def _start(self, documents: int, overview: Overview, fetched_at: float) -> Response:
        return self._renderer.page(
            "home.html",
            problem="",
            documents=documents,
            overview=overview,
            fetched_at=fetched_at,
            fetched_ago=ago(self._clock.now() - fetched_at),
            first_command=FIRST_COMMAND,
            collections=self._collections.all(),
            examples=[(query, self._links.search(Request(query=query))) for query in overview.examples],
            sites=[(site, self._links.search(Request(query=f"site:{site.value}"))) for site in overview.sites],
        )

    def _search(self, request: Request, http: HttpRequest) -> Response:
        is_typing, now = http.query_params.get(TYPING) == "1", self._clock.now()
        reader = self._watch.reader(http) if self._watch is not None else ""
        if self._watch is not None and not is_typing:
            request = self._watch.drawn(reader, request, now)
        results = self._service.search(request) if is_typing else self._services.answer(request, "page")
        clicks = self._watch.shown(reader, results, now, is_typing) if self._watch is not None else ""
        marked = results.attempt.query if results.attempt else request.query
        page = self._renderer.page(
            "results.html",
            request=request,
            results=results,
            marked_query=marked,
            clicks=clicks,
            plain=Request(query=request.query, collection=request.collection),
            kept=kept(request),
            chips=[*self._chips(request), *fields.chips(request, results, self._links)],
            first=(request.page - 1) * request.size + 1,
            previous=request.page - 1 if results.hits else 0,
            following=request.page + 1 if results.hits and request.page < results.pages else 0,
            numbers=page_numbers(request.page, results.pages),
            choices=[operator for operator in CHOSEN.values() if operator.facet],
            bars=bars(results.facets.years, request.query),
            since_labels=SINCE_LABELS,
            sort_labels=SORT_LABELS,
            sections=fields.sections(request, results, self._links),
            orders=fields.orders(request, results, self._links),
            shown_values=fields.shown_values,
            **self._collections.values(request.collection),
        )
        page.headers["x-robots-tag"] = "noindex"
        return page

    def _chips(self, request: Request) -> list[tuple[str, str]]:
        """The filters in use, each with the address of the same search without it."""
        skin = self._collections.find(request.collection)
        own = {SINCE.name: SINCE_LABELS[request.since], SIMILAR.name: "Including similar pages",
               GROUP.name: "Any number of results of a site",
               COLLECTION.name: skin.title if skin is not None else request.collection}  # fmt: skip
        return [
            (own.get(one.name) or value_words(value, one.name), self._links.search(request, **{one.name: one.default}))
            for one in FILTERS
            if one not in (SORT, FIELDS) and (value := getattr(request, one.name)) != one.default
        ]

    def _cached(self, http: HttpRequest, given: Mapping[str, str]) -> Response:
        page, query = self._service.page(ADDRESS.read(given)), QUERY.read(given)
        if page is None:
            return self._renderer.refuse(http.scope, 404, "This page is not in the index.")
        response = self._renderer.page(
            "cached.html",
            page=page,
            query=query,
            back=self._links.search(Request(query=query)) if query else "",
            paragraphs=paragraphs(page.text[:SHOWN_TEXT], query),
            has_history=self._stories is not None,
            others=self._others(page.url),
            cut=SHOWN_TEXT if len(page.text) > SHOWN_TEXT else 0,
        )
        response.headers["x-robots-tag"] = "noindex"
        return response

    def _others(self, url: str) -> int:
        """Near duplicates of a page; none where the crawl cannot be asked: the text is there nevertheless."""
        try:
            return self._stories.others(url) if self._stories is not None else 0
        except GossamerError:
            return 0

    def _explain(self, http: HttpRequest, given: Mapping[str, str]) -> Response:
        request, url = request_of(given), ADDRESS.read(given)
        if not request.query or not url:
            return self._renderer.refuse(
                http.scope, 404, "The parameters q (query) and url (address of a page) are required."
            )
        why = self._service.explain(request, url)
        response = self._renderer.page(
            "explain.html",
            request=request,
            kept=kept(request),
            url=url,
            why=why,
            highest=max((factor.value for factor in why.factors), default=1.0) or 1.0,
        )
        response.headers["x-robots-tag"] = "noindex"
        return response


def paragraphs(text: str, query: str) -> list[Marked]:
    """A stored text line by line, with the words of the query marked."""
    marked = marker(query)
    return [marked(line) for line in text.splitlines() if line.strip()]
