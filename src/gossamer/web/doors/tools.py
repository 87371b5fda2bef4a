"""What a language model may ask of a crawl: functions with plain values, whatever protocol carries them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import msgspec

from gossamer.errors import UsageError
from gossamer.model.moments import timestamp
from gossamer.search.results import Request, Since, Sort, StoredPage
from gossamer.web import answers
from gossamer.web.collections import Collections
from gossamer.web.history_answers import history_answer
from gossamer.web.links import Links
from gossamer.web.parameters import BadParameter, request_of
from gossamer.web.service import Services

LONGEST = 20_000
"""Characters of a page in one answer: some 5,000 tokens."""
_RARE = frozenset({"similar", "highlights", "alternates", "recommended", "score", "type"})
"""What a model does not need of a result."""


class Tool(NamedTuple):
    """One function, and its title for people."""

    call: Callable[..., dict[str, Any]]
    title: str


class Tools:
    """The functions over what a server asks; each answers with values that JSON has."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def all(self) -> tuple[Tool, ...]:
        """Every tool: all of them read only."""
        return (
            Tool(self.search, "Search the crawled pages"),
            Tool(self.read_page, "Read a page"),
            Tool(self.page_history, "What changed on a page"),
            Tool(self.explain_rank, "Why a page is found"),
            Tool(self.sites, "What can be searched"),
        )

    def search(
        self,
        query: Annotated[str, 'Words, "phrases", -not, site:example.org, intitle:word, after:2026-01-31'],
        limit: Annotated[int, "Results, 1 to 50"] = 10,
        page: Annotated[int, "Page of results, from 1"] = 1,
        site: Annotated[str, "Only pages of this host and of hosts below it"] = "",
        language: Annotated[str, "Only pages in this language, ISO 639-1, such as en"] = "",
        since: Annotated[Since, "Only pages dated within the last day, week, month or year"] = "",
        sort: Annotated[Sort, "Order of the results"] = "relevance",
        collection: Annotated[str, "Only pages of this collection of the search desk"] = "",
    ) -> dict[str, Any]:
        """Search the crawled pages. Each result has a URL, a title, an excerpt, a date, a language and the time of the
        visit; read_page gives the whole text."""
        if not 1 <= limit <= 50 or page < 1:
            raise UsageError("limit is a whole number from 1 to 50, and page is one from 1")
        given = {
            "q": query, "size": str(limit), "page": str(page), "site": site, "lang": language, "since": since,
            "sort": sort, "collection": collection, "facets": "0",
        }  # fmt: skip
        results = self._services.answer(self._request(given), "api")
        answer = answers.search_answer(results)
        told = msgspec.to_builtins(answer)
        kept = ("total", "page", "pages", "notices", "attempt", "reason", "try_instead", "did_you_mean", "incomplete")
        hits = [{name: value for name, value in hit.items() if name not in _RARE and value} for hit in told["hits"]]
        return {"hits": hits, **{name: told[name] for name in kept if told[name]}}

    def read_page(
        self,
        url: Annotated[str, "URL of a page in the index, as search gives it"],
        start: Annotated[int, "Character at which to begin: `next_start` of the answer before"] = 0,
    ) -> dict[str, Any]:
        """Read a page of the index as Markdown, in pieces of 20,000 characters; `next_start` says where the next piece
        begins. No request is sent to the site."""
        page = self._page(url)
        text = self._services.stories.markdown(page.url) if self._services.stories is not None else None
        text = page.text if text is None else text
        start = max(start, 0)
        end = start + LONGEST
        facts = msgspec.to_builtins(answers.page_answer(page, text[start:end]))
        told = {name: value for name, value in facts.items() if value is not None}
        return {**told, "characters": len(text), **({"next_start": end} if end < len(text) else {})}

    def page_history(self, url: Annotated[str, "URL of a page of the crawl"]) -> dict[str, Any]:
        """List the stored visits to a page, newest first, and what changed between the two newest."""
        history = self._services.stories.history(url) if self._services.stories is not None else None
        if history is None:
            raise UsageError(f"the crawl has no page with the URL {url}: search gives the URLs of pages")
        told: dict[str, Any] = msgspec.to_builtins(history_answer(history))
        return told

    def explain_rank(self, query: Annotated[str, "The query"], url: Annotated[str, "URL of a page"]) -> dict[str, Any]:
        """Explain why a page has its place in the results of a query, or why it is not among them."""
        explained = self._services.search.explain(self._request({"q": query}), url)
        told: dict[str, Any] = msgspec.to_builtins(answers.explain_answer(explained))
        return told

    def sites(self) -> dict[str, Any]:
        """List the largest sites of the index with their numbers of pages, how large and how fresh it is, and queries
        that find something."""
        overview, state = self._services.search.overview(), self._services.search.state()
        told = msgspec.to_builtins(overview)
        told["fetched_at"] = timestamp(overview.fetched_at) or None
        return {"documents": state.documents, **told}

    def _request(self, given: dict[str, str]) -> Request:
        try:
            return Collections(self._services.desk, Links("")).check(request_of(given, strictly=True))
        except BadParameter as error:
            raise UsageError(str(error)) from error

    def _page(self, url: str) -> StoredPage:
        page = self._services.search.page(url)
        if page is None:
            raise UsageError(f"the index has no page with the URL {url}: search gives the URLs of pages")
        return page
