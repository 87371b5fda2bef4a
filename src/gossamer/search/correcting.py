"""Did you mean: a query with the words that no page has spelled as pages spell them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from gossamer.index import schema
from gossamer.index.analysis import Languages, query_stems, surface_words
from gossamer.search.corpus import Place
from gossamer.search.query.language import Query, Term, render
from gossamer.search.suggest import FEW_FOUND, Spelling, did_you_mean


def plain_terms(query: Query) -> list[str]:
    """The words of a query that may be corrected."""
    return [term.text for group in query.groups for term in group if _is_plain(term)]


def places_of(word: str, languages: Languages) -> list[Place]:
    """How the index may spell a word in the text of a page."""
    stems = [(schema.BODY_STEMS, stem) for stem in query_stems(word, languages)]
    return stems + [(schema.BODY, typed) for typed in surface_words(word)]


def corrected(
    query: Query, found: int, pages: Callable[[str, str], int], languages: Languages,
    vocabulary: Callable[[Sequence[str]], Spelling],
) -> str:  # fmt: skip
    """The query respelled; empty where there is no reason to. The vocabulary is asked for only where there is, and
    with the words that may be mistakes."""

    def frequency(word: str) -> int:
        return max((pages(*place) for place in places_of(word, languages)), default=0)

    words = plain_terms(query)
    if all(frequency(word) for word in words):
        return ""
    doubtful = [word for word in words if found <= FEW_FOUND or not frequency(word)]
    better = did_you_mean(words, vocabulary(doubtful), found, frequency)
    return render(_respelled(query, dict(zip(words, better, strict=True)))) if better else ""


def _is_plain(term: Term) -> bool:
    return not term.phrase and term.field == "any"


def _respelled(query: Query, spelling: dict[str, str]) -> Query:
    def respell(term: Term) -> Term:
        return msgspec.structs.replace(term, text=spelling.get(term.text, term.text)) if _is_plain(term) else term

    groups = tuple(tuple(map(respell, group)) for group in query.groups)
    return msgspec.structs.replace(query, groups=groups)
