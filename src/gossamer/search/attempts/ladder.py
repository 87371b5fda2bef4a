"""Second attempts: what else is searched where a query finds nothing, or little.

The steps, in order; the first that finds more is taken, and the results say so:

1. where a quoted phrase or a compound finds little: the same query, *wider* (other forms of the words of a phrase,
   compounds written apart or together); what the query itself finds comes first;
2. where nothing is found: the query respelled. Words no page has are corrected: mistakes, the other keyboard layout,
   Russian in Latin letters, words not typed to their end, a missing space;
3. the words of its phrases, without the quotes;
4. both;
5. where no page has even some of the words: the query without its rarest word.

Filters and excluded words are never dropped: whoever sets them means them. `reasons` says what they cost.
A ladder is pure: it names the steps, and whoever holds the index takes them. One index and many shards therefore answer
alike. Each step costs a search, so there are `MOST` at most.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

import msgspec

from gossamer.index.analysis import is_spaceless
from gossamer.search.attempts.wording import quoted, these, unknown
from gossamer.search.limits import ENOUGH
from gossamer.search.query.compounds import variants
from gossamer.search.query.language import Query, Term, is_read_alone, parse, render
from gossamer.search.results import Attempt, Request

T = TypeVar("T")

MOST = 5
"""Steps that are taken."""
_DROPPED = 2
"""Words that are left out, one more in each step."""

_IN_ORDER = " in this order."
_EDGES = "()-−"
"""What means something at the edge of a word without quotes."""


class Standing(msgspec.Struct, frozen=True):
    """What a query found."""

    exact: int
    """Pages that match all of it."""
    total: int
    """Pages that are shown: where few match all of it, also those that match a part."""


class Step(msgspec.Struct, frozen=True):
    """Another query, and what is said where it finds more."""

    query: Query
    attempt: Attempt
    wider: bool = False

    def request(self, asked: Request) -> Request:
        """The request with this query."""
        return msgspec.structs.replace(asked, query=self.attempt.query, wider=self.wider)


def climb(
    steps: Iterable[Step], exact: int, total: Callable[[], int], ask: Callable[[Step, bool], tuple[T, Standing]]
) -> tuple[T, Attempt] | None:
    """What the first step found that finds more than the query itself; where not even some of its words were found,
    what the first step found that finds pages with some.

    `exact` and `total`: what the query itself found, as in `Standing`. `ask`: takes a step; its total counts only if it
    is asked to look for pages with a part of the words, too, which takes longer."""
    taken = []
    for step in steps:
        answer, mine = ask(step, False)
        if mine.exact > exact:
            return answer if mine.exact >= ENOUGH else ask(step, True)[0], step.attempt
        taken.append(step)
    for step in taken if taken and not total() else ():
        answer, mine = ask(step, True)
        if mine.total:
            return answer, step.attempt
    return None


def steps(
    query: Query,
    exact: int,
    total: Callable[[], int],
    respelled: Callable[[], Query | None],
    frequency: Callable[[str], int],
    compound: Callable[[str], int],
) -> Iterator[Step]:
    """What to try, in order.

    `respelled`: the query as `correcting` spells it. `frequency`: on how many pages a word of the query is;
    `compound`: the same for a word of another writing of it."""
    if exact >= ENOUGH:
        return iter(())
    widened = _widened(query, exact, compound)
    others = _others(query, total, respelled, frequency) if not exact else ()
    return islice(itertools.chain(widened, others), MOST)


def _widened(query: Query, exact: int, compound: Callable[[str], int]) -> Iterator[Step]:
    if _has_forms(query) or variants(query, compound):
        yield Step(query, Attempt(render(query), _wider_sentence(query, exact), adds=bool(exact)), wider=True)


def _others(
    query: Query, total: Callable[[], int], respelled: Callable[[], Query | None], frequency: Callable[[str], int]
) -> Iterator[Step]:
    why = _why(query, frequency)
    spelled = respelled()
    bare = unquoted(query)
    if spelled is not None:
        yield _step(spelled, why)
    if bare is not None:
        yield _step(bare, why, "These pages have them in any order." if why.endswith(_IN_ORDER) else "")
    if spelled is not None and bare is not None:
        yield _step(unquoted(spelled) or spelled, why)
    if not total():
        for other in _without_rarest(bare or query, frequency):
            yield _step(other, why)


def _has_forms(query: Query) -> bool:
    """Whether the query has a phrase whose words may have other forms."""
    terms = (term for group in query.groups for term in group)
    return any(term.phrase and term.field == "any" and not is_spaceless(term.text) for term in terms)


def unquoted(query: Query) -> Query | None:
    """The query with the words of its phrases instead of the phrases; None where it has no phrase of several words."""
    if not any(_is_phrase(term) for group in query.groups for term in group):
        return None
    groups: list[tuple[Term, ...]] = []
    for group in query.groups:
        if len(group) == 1 and _is_phrase(group[0]):
            groups += [(one,) for one in _words(group[0])]
        else:  # of alternatives each word is one
            groups.append(tuple(one for term in group for one in (_words(term) if _is_phrase(term) else [term])))
    return _again(msgspec.structs.replace(query, groups=tuple(group for group in groups if group)))


def _is_phrase(term: Term) -> bool:
    return term.phrase and term.field == "any" and " " in term.text


def _words(phrase: Term) -> list[Term]:
    words = (word.strip(_EDGES) for word in phrase.text.replace("|", " ").split())
    return [Term(word) for word in words if is_read_alone(word)]


def _without_rarest(query: Query, frequency: Callable[[str], int]) -> Iterator[Query]:
    """The query without the group that fewest pages have, then without two."""
    groups = list(query.groups)
    for _ in range(min(_DROPPED, len(groups) - 1)):
        groups.remove(min(groups, key=lambda group: max(frequency(term.text) for term in group)))
        yield _again(msgspec.structs.replace(query, groups=tuple(groups)))


def _again(query: Query) -> Query:
    """The query as it is understood where it is written."""
    return parse(render(query), query.fields)


def _step(query: Query, why: str, what: str = "") -> Step:
    text = render(query)
    return Step(query, Attempt(text, f"{why} {what or f'These are results for {quoted(text)}.'}"))


def _why(query: Query, frequency: Callable[[str], int]) -> str:
    """Why the query finds nothing, in a sentence."""
    terms = [term for group in query.groups for term in group]
    missing = unknown(query, frequency)
    if missing:
        return f"No page has {these(missing)}."
    if len(query.groups) == 1 and terms[0].phrase:
        return f"No page has the words {quoted(terms[0].text)}{_IN_ORDER}"
    return f"No page matches {quoted(render(query))}."


def _wider_sentence(query: Query, exact: int) -> str:
    phrases = [term.text for group in query.groups for term in group if term.phrase]
    if not phrases:
        what = quoted(render(query))
        if exact:
            return f"Few pages have {what}. Pages that write it together or apart are shown, too."
        return f"No page has {what} as you wrote it. These pages write it together or apart."
    what = these(phrases, "and")
    if exact:
        return f"Few pages have {what}. Pages with other forms of the words follow them."
    return f"No page has {what} exactly so. These pages have other forms of the words."
