"""The JSON API: each operation is declared once, with its parameters and its answer.

The declarations make the routes, the checks of parameters, the OpenAPI document
and its page. An operation runs on a search thread and returns a value of
`answers`; a search whose answer is at hand needs no thread. A wrong parameter
is 400, an index that cannot be used 503.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from gossamer.model.meant import closest
from gossamer.search.like.values import as_value
from gossamer.search.query.language import parse
from gossamer.search.results import Request
from gossamer.web import answers
from gossamer.web.collections import Collections
from gossamer.web.custom.fields import check_own
from gossamer.web.history_answers import HistoryAnswer, history_answer
from gossamer.web.links import Links
from gossamer.web.parameters import (
    ADDRESS,
    COLLECTION,
    FACETS,
    FORMAT,
    GROUP,
    LIMIT,
    LITERAL,
    NEWER,
    OLDER,
    PAGE,
    PREFIX,
    QUERY,
    SEARCH,
    SIZE,
    SORT,
    WORDS,
    BadParameter,
    Parameter,
    request_of,
)
from gossamer.web.pool import SearchPool
from gossamer.web.rendering import json_response
from gossamer.web.service import Services, StoryService
from gossamer.web.stories import title_of

PREFIX_PATH = "/api/v1"

_ONE_PAGE = tuple(parameter for parameter in SEARCH if parameter not in (PAGE, SIZE, GROUP, FACETS))
"""A search without what only matters to a list of results."""


class Missing(Exception):  # noqa: N818 - named as what it is
    """What was asked for is not there."""


class Operation(msgspec.Struct, frozen=True):
    """One thing that can be asked."""

    name: str
    summary: str
    parameters: tuple[Parameter[Any], ...]
    answer: type[msgspec.Struct]
    call: Callable[[Services, Mapping[str, str]], msgspec.Struct]
    may_miss: bool = False
    """Whether it can answer 404."""
    at_hand: Callable[[Services, Mapping[str, str]], msgspec.Struct | None] | None = None
    """What answers without waiting, if it can."""

    @property
    def path(self) -> str:
        """Where it is asked."""
        return f"{PREFIX_PATH}/{self.name}"


def _search(services: Services, given: Mapping[str, str]) -> msgspec.Struct:
    return answers.search_answer(services.answer(_asked(services, given), "api"))


def _search_at_hand(services: Services, given: Mapping[str, str]) -> msgspec.Struct | None:
    request = request_of(given, strictly=True)
    if request.collection:  # whether it exists may have to be read
        return None
    results = services.at_hand(request, "api")
    return answers.search_answer(results) if results is not None else None


def _similar(services: Services, given: Mapping[str, str]) -> msgspec.Struct:
    url = ADDRESS.read_strictly(given)
    hits = services.search.similar(_asked(services, given), url)
    return answers.SimilarAnswer(url, tuple(answers.hit_answer(hit) for hit in hits))


def _like(services: Services, given: Mapping[str, str]) -> msgspec.Struct:
    url = ADDRESS.read_strictly(given)
    operator = f"like:{as_value(url)}"
    if not parse(operator).values("like"):
        raise BadParameter(f"{ADDRESS.name}: {url[:80]!r} is not the address of a page")
    asked = {name: value for name, value in given.items() if name != ADDRESS.name}
    return _search(services, asked | {QUERY.name: f"{WORDS.read_strictly(given)} {operator}".strip()})


def _suggest(services: Services, given: Mapping[str, str]) -> msgspec.Struct:
    prefix, limit, collection = PREFIX.read_strictly(given), LIMIT.read_strictly(given), COLLECTION.read_strictly(given)
    Collections(services.desk, Links("")).check(Request(query=prefix, collection=collection))
    found = services.search.suggest(prefix, limit, collection) if prefix else []
    return answers.SuggestAnswer(prefix, tuple(found))


def _page(services: Services, given: Mapping[str, str]) -> msgspec.Struct:
    form, page = FORMAT.read_strictly(given), services.search.page(ADDRESS.read_strictly(given))
    markdown = _stories(services).markdown(page.url) if page is not None and form == "markdown" else None
    if page is None or (form == "markdown" and markdown is None):
        raise Missing("this page is not in the index")
    return answers.page_answer(page, markdown)


def _explain(services: Services, given: Mapping[str, str]) -> msgspec.Struct:
    url = ADDRESS.read_strictly(given)
    return answers.explain_answer(services.search.explain(_asked(services, given), url))


def _story(services: Services, given: Mapping[str, str]) -> msgspec.Struct:
    url = ADDRESS.read_strictly(given)
    story = _stories(services).story(url)
    if story is None:
        raise Missing("the crawl has no document with this URL")
    return answers.story_answer(url, story, [title_of(services.search, page.url) for page in story.pages])


def _history(services: Services, given: Mapping[str, str]) -> msgspec.Struct:
    url = ADDRESS.read_strictly(given)
    history = _stories(services).history(url, OLDER.read_strictly(given), NEWER.read_strictly(given))
    if history is None:
        raise Missing("the crawl has no page with this URL")
    return history_answer(history)


def _asked(services: Services, given: Mapping[str, str]) -> Request:
    request = Collections(services.desk, Links("")).check(request_of(given, strictly=True))
    if request.fields or request.sort not in SORT.values:
        check_own(request, services.search.state().fields)
    return request


def _stories(services: Services) -> StoryService:
    if services.stories is None:
        raise Missing("this server has an index but no crawl, so it has no stored visits")
    return services.stories


def _status(services: Services, given: Mapping[str, str]) -> msgspec.Struct:
    return answers.status_answer(services.search.state())


OPERATIONS = (
    Operation("search", "Search the index.", SEARCH, answers.SearchAnswer, _search, at_hand=_search_at_hand),
    Operation(
        "similar", "List the near-duplicates collapsed under one result.", (*_ONE_PAGE, ADDRESS),
        answers.SimilarAnswer, _similar,
    ),
    Operation(
        "like", "List pages that are like a page of the index.",
        (ADDRESS, WORDS, *(one for one in SEARCH if one not in (QUERY, LITERAL))), answers.SearchAnswer, _like,
    ),
    Operation(
        "suggest", "Suggest completions of a query.", (PREFIX, LIMIT, COLLECTION), answers.SuggestAnswer, _suggest
    ),
    Operation(
        "page", "Return the stored text of a page.", (ADDRESS, FORMAT), answers.PageAnswer, _page, may_miss=True
    ),
    Operation(
        "explain", "Explain the rank of a page for a query.", (*_ONE_PAGE, ADDRESS), answers.ExplainAnswer, _explain
    ),
    Operation(
        "story", "List pages with almost the same text as a page, oldest first.", (ADDRESS,), answers.StoryAnswer,
        _story, may_miss=True,
    ),
    Operation(
        "history", "List the stored visits to a page and compare two of them.", (ADDRESS, OLDER, NEWER),
        HistoryAnswer, _history, may_miss=True,
    ),
    Operation("status", "Return the state of the index.", (), answers.StatusAnswer, _status),
)  # fmt: skip


def _check_names(operation: Operation, given: Mapping[str, str]) -> None:
    """A parameter that does not exist was meant to be another one: to ignore it would answer another question."""
    known = [parameter.name for parameter in operation.parameters]
    # Whoever asks about one result may hand on the whole search that it is of.
    silent = {one.name for one in SEARCH} if set(_ONE_PAGE) <= set(operation.parameters) else set()
    for name in given:
        if name not in known and name not in silent:
            close = closest(name, known)
            meant = f" (did you mean {close}?)" if close else ""
            listed = f"use {', '.join(known)}" if known else "this request takes none"
            raise BadParameter(f"there is no parameter {name[:80]!r}{meant}: {listed}")


def routes(services: Services, pool: SearchPool) -> list[Route]:
    """A route for each operation."""
    return [Route(operation.path, _endpoint(operation, services, pool)) for operation in OPERATIONS]


def _endpoint(operation: Operation, services: Services, pool: SearchPool) -> Callable[[HttpRequest], Any]:
    def answer(given: Mapping[str, str]) -> Response:
        return json_response(operation.call(services, given))

    async def endpoint(request: HttpRequest) -> Response:
        given = request.query_params
        _check_names(operation, given)
        found = operation.at_hand(services, given) if operation.at_hand is not None else None
        return json_response(found) if found is not None else await pool.run(answer, given)

    return endpoint
