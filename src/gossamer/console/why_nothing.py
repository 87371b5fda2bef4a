"""Why a query finds nothing: how it was understood, and what its parts find when they are asked alone.

The part that finds nothing alone is the reason; where every part finds something, it is that no page has all of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gossamer.search.query.language import Query, parse, render
from gossamer.search.results import Request
from gossamer.web.service import SearchService

MOST_PARTS = 12
"""Parts that are asked alone."""


class Part(msgspec.Struct, frozen=True):
    """A part of a query, and what it finds."""

    what: str
    query: str
    total: int


class Reason(msgspec.Struct, frozen=True):
    """Why a query finds what it finds."""

    query: str
    understood: str
    """The query as it was understood."""
    total: int
    did_you_mean: str
    notices: tuple[str, ...]
    parts: tuple[Part, ...]
    sentence: str


def why(service: SearchService, typed: str) -> Reason:
    """Ask the query and its parts; the index is asked at most a dozen times."""
    query = parse(typed)
    results = service.search(Request(query=typed, facets=False, literal=True))
    parts = tuple(
        Part(what, text, service.search(Request(query=text, facets=False, literal=True)).total)
        for what, text in list(_parts(query))[:MOST_PARTS]
    )
    notices = tuple(dict.fromkeys((*query.notices, *results.notices)))
    return Reason(
        typed, render(query), results.total, results.did_you_mean, notices, parts, _sentence(results.total, parts)
    )


def _parts(query: Query) -> Iterator[tuple[str, str]]:
    bare = Query(query.typed, query.groups)
    is_filtered = render(bare) != render(query)
    if is_filtered and query.groups:
        yield "without filters and excluded words", render(bare)
        yield "the filters alone", render(msgspec.structs.replace(query, groups=(), excluded=()))
    if len(query.groups) > 1 or is_filtered:
        for group in query.groups:
            text = render(Query(query.typed, (group,)))
            yield f"{text} alone", text


def _sentence(total: int, parts: tuple[Part, ...]) -> str:
    missing = ", ".join(part.query for part in parts if not part.total and part.what.endswith(" alone") and part.query)
    if total:
        return f"The query finds pages, but none with {missing}." if missing else "The query finds pages now."
    if missing:
        return f"Nothing in the index matches {missing}."
    if parts:
        return "Each part finds pages, but no page has all parts."
    return "No page in the index matches the query."
