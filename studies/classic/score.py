"""The score of the papers' search engine: SC = rank + 0.5 · in the title + 0.1 · in the text (S2.5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import itemgetter

from gossamer.index import schema
from gossamer.index.analysis import is_spaceless, surface_words
from gossamer.search.ordering import Candidate, Ranks
from gossamer.search.view import View


def classic_score(rank: float, in_title: int, in_text: int) -> float:
    """The score of a page with this link rank, in which the query's words occur so often."""
    return rank + 0.5 * in_title + 0.1 * in_text


def classic(view: View, hits: Sequence[Candidate], words: Sequence[str], ranks: Ranks | None) -> list[Candidate]:
    """The hits in order of their classic score."""
    addresses = [address for _, address in hits]
    scored = []
    known = ranks.of(view.numbers(schema.KEY, addresses)) if ranks is not None else [0.0] * len(hits)
    for address, rank in zip(addresses, known, strict=True):
        page = view.stored(address)
        score = classic_score(rank, occurrences(page.title, words), occurrences(page.text, words))
        scored.append((score, address))
    return sorted(scored, key=itemgetter(0), reverse=True)


def occurrences(text: str, words: Sequence[str]) -> int:
    """How often the words occur in a text, all together."""
    lower, counted = text.lower(), Counter(surface_words(text))
    return sum(lower.count(word) if is_spaceless(word) else counted[word] for word in set(words))
