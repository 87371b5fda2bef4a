"""Why there are no results, and what finds something instead.

The reasons, in order: nothing was asked; the index is empty; no page has a word; a filter or an excluded word leaves
nothing over; no page has all words. Each costs at most one count of results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from gossamer.model.counts import counted, noun
from gossamer.search.attempts.wording import quoted, these, unknown
from gossamer.search.query.language import Query, render
from gossamer.search.query.operators import CHOSEN
from gossamer.search.results import Request

_UNFILTERED = {"since": "", "fields": "", **dict.fromkeys(CHOSEN, "")}
_MOST_ALONE = 3
"""Words that are offered alone."""


class Reason(msgspec.Struct, frozen=True):
    """Why nothing was found."""

    sentence: str = ""
    instead: tuple[str, ...] = ()
    """Queries that find something."""


def of_empty(query: Query) -> Reason:
    """Nothing was asked."""
    if not query.typed:
        return Reason("The query is empty. Type a word.")
    return Reason(f"{quoted(query.typed)} has no word, number or filter to search for. Type a word.")


def reason(
    query: Query, request: Request, documents: int, frequency: Callable[[str], int], count: Callable[[Request], int]
) -> Reason:
    """Why a query finds nothing. `frequency`: pages that have a word of it; `count`: how many pages a request finds."""
    if not documents:
        return Reason("The index has no pages yet.")
    if query.like is not None and (not query.like.words or _has_nothing_else(query, request)):
        return Reason(query.like.why_none)
    words = list(dict.fromkeys(term.text for group in query.groups for term in group))
    missing = unknown(query, frequency)
    known = [word for word in words if word not in missing]
    bare = msgspec.structs.replace(query, filters=(), excluded=())
    if missing:
        alone = tuple(_alone(query, known)) if not _is_narrowed(query, request) else ()
        return Reason(f"No page has {these(missing)}.", alone)
    if _is_narrowed(query, request) and query.groups:
        open_request = msgspec.structs.replace(request, query=render(bare), **_UNFILTERED)
        pages = count(open_request)
        if pages:
            what = f"{counted(pages, 'page')} {noun(pages, 'matches', 'match')} {quoted(render(bare))}"
            return Reason(f"{what}, but none of them fits the filters and excluded words.", (render(bare),))
    if not query.groups:
        return Reason("No page fits the filters and excluded words together.")
    if len(words) == 1:
        return Reason(f"No page matches {quoted(render(query))}.", tuple(_alone(query, [])))
    return Reason(f"Pages have {these(words, 'and')}, but no page has all of them.", tuple(_alone(query, known)))


def _alone(query: Query, known: list[str]) -> Iterator[str]:
    """Each word that pages have, by itself."""
    for group in query.groups[:_MOST_ALONE]:
        if len(query.groups) > 1 and all(term.text in known for term in group):
            yield render(Query(query.typed, (group,)))


def _is_narrowed(query: Query, request: Request) -> bool:
    return bool(query.filters or query.excluded) or any(getattr(request, name) for name in _UNFILTERED)


def _has_nothing_else(query: Query, request: Request) -> bool:
    """Whether the query only asks for pages like another."""
    others = [one for one in query.filters if one.operator != "like"]
    return not (query.groups or _is_narrowed(msgspec.structs.replace(query, filters=tuple(others)), request))
