"""Answers of several shards as one: pure functions, the same law for one shard and for a hundred.

Scores of different shards are calculated by different machines from different parts: the last digits may differ where
one index would have found two pages equal. Equal within `PRECISE` digits is equal, and then the page's key decides.
So the order does not depend on which replica answered, and turning the page shows no result twice. The hits of a
single shard stand as they came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import msgspec

from gossamer.search import grouping
from gossamer.search.limits import WINDOW, Span
from gossamer.search.ordering import clustered
from gossamer.search.semantic.fusing import CANDIDATES, FIRST, Meaning, can_tell, fused
from gossamer.search.shards.values import Meant, Showing, Sighting, Spellings, Suggested
from gossamer.search.suggest import complete

PRECISE = 4
"""Digits behind the point that are compared."""


class Line(msgspec.Struct, frozen=True):
    """The results that are shown, in order."""

    showings: list[Showing]
    is_full: bool = True
    """Whether there are as many as were asked for."""
    field: str = ""
    """What they are grouped by; empty where groups have no limit."""
    groups: list[int] = []
    """The group of each."""


def merged(several: Sequence[Sequence[Sighting]], ranking: str, by_date: bool) -> list[Sighting]:
    """The best of all shards in order: by what decides who is among the best, then the best of them by score."""
    tie = len(several) > 1
    found = _ordered([one for sightings in several for one in sightings], lambda one: one.order, tie)
    if by_date or ranking == "bm25":
        return found
    best = _ordered(found[:WINDOW], lambda one: one.score, tie)
    # What comes after the best has no priors.
    return best + [msgspec.structs.replace(one, score=one.order) for one in found[WINDOW:]]


class Mixed(msgspec.Struct, frozen=True):
    """The best of all shards by words and meaning."""

    found: list[Sighting]
    added: int
    """Pages that match by meaning only."""
    meanings: dict[int, Meaning]
    """What meaning adds to the score of a candidate, by key."""


def mixed(found: Sequence[Sighting], told: Sequence[Meant], weight: float) -> Mixed | None:
    """The best by words, with what the vectors of the shards say; None where words stay alone."""
    near = {key: one for meant in told for key, one in meant.near.items()}
    first = [one for one in found if one.score >= FIRST]
    best, rest = found[len(first) : len(first) + CANDIDATES], found[len(first) + CANDIDATES :]
    if not near or not can_tell([near.get(one.key) for one in best]):
        return None
    known = {one.key for one in (*first, *best)}
    new = {one.key: one for meant in told for one in meant.found if one.key not in known}
    nearest = sorted({*(one.key for one in best), *new} & near.keys(), key=lambda key: (-near[key], key))
    taken = [new[key] for key in nearest[:CANDIDATES] if key in new]
    candidates = [*best, *taken]
    meanings = fused([one.score for one in candidates], [near.get(one.key) for one in candidates], weight)
    kept = 1 - weight
    scored = [_scored(one, kept * one.score + meaning.value) for one, meaning in zip(candidates, meanings, strict=True)]
    there = {one.key for one in taken}
    later = [_scored(one, kept * one.score) for one in rest if one.key not in there]
    matching = {key for meant in told for key in meant.matching}
    by_key = {one.key: meaning for one, meaning in zip(candidates, meanings, strict=True)}
    ordered = _ordered(scored, lambda one: one.score, len(told) > 1)
    return Mixed([*first, *ordered, *later], len(there - matching), by_key)


def _scored(one: Sighting, score: float) -> Sighting:
    return msgspec.structs.replace(one, score=score)


def _ordered(found: list[Sighting], value: Callable[[Sighting], float], tie: bool) -> list[Sighting]:
    if not tie:
        return sorted(found, key=lambda one: -value(one))
    return sorted(found, key=lambda one: (-round(value(one), PRECISE), one.key))


def one_page(
    found: Sequence[Sighting], span: Span, leaders: Callable[[Sequence[int]], Mapping[int, int]], collapses: bool,
    most: int,
) -> Line:  # fmt: skip
    """The results that a request wants to see: near copies under one of them if it `collapses`, at most so many of one
    group.

    A cluster stands where its best hit stands. Its representative is shown, where it is among the hits; else that
    best hit."""
    line = clustered((one.cluster for one in found) if collapses else range(len(found)))
    field, groups = grouping.groups(lambda name: [getattr(one, name) for one in found]) if most else ("", ())
    if field:
        seen = [grouping.Seen(groups[places[0]], found[places[0]].score, places[0]) for _, places in line]
        page = [line[place] for place in grouping.arranged(seen, span, most)]
    else:
        page = line[span.first : span.first + span.size]
    several = [number for number, places in page if len(places) > 1]
    named = leaders(several) if several else {}
    showings = []
    for number, places in page:
        keys = [found[place].key for place in places]
        leader = named.get(number) if len(places) > 1 else None
        speaker = leader if leader is not None and leader in keys else keys[0]
        showings.append(Showing(speaker, found[places[0]].score, len(places) - 1))
    of_page = [groups[places[0]] for _, places in page] if field else []
    return Line(showings, len(page) == span.size or not collapses, field, of_page)


def copies_of(found: Sequence[Sighting], key: int) -> list[Sighting]:
    """The hits that are collapsed under the hit with a key."""
    shown = next((one for one in found if one.key == key), None)
    return [one for one in found if shown is not None and one.cluster == shown.cluster and one.key != key]


def completed(prefix: str, several: Sequence[Suggested], limit: int) -> list[str]:
    """How a query may go on, by the words and titles of all shards."""
    if len(several) == 1:
        (only,) = several
        return complete(prefix, only.terms, [title for _, title in only.titles], limit)
    terms: Counter[str] = Counter()
    for one in several:
        terms.update(dict(one.terms))
    titles = sorted((title for one in several for title in one.titles), key=lambda title: (-title[0], title[1]))
    return complete(prefix, terms.most_common(3 * limit), [title for _, title in titles[:limit]], limit)


class MergedSpelling:
    """The vocabularies of all shards, as far as they were asked: `suggest.Spelling`."""

    def __init__(self, several: Sequence[Spellings]) -> None:
        self._counts: Counter[str] = Counter()
        self._neighbours: dict[str, set[tuple[int, str]]] = {}
        self._completions: dict[str, set[str]] = {}
        for one in several:
            self._counts.update(one.frequencies)
            for word, near in one.neighbours.items():
                self._neighbours.setdefault(word, set()).update(near)
            for word, longer in one.completions.items():
                self._completions.setdefault(word, set()).update(longer)

    def frequency(self, word: str) -> int:
        """Pages of all shards that have this word."""
        return self._counts[word]

    def neighbours(self, word: str) -> list[tuple[int, str]]:
        """The words a mistake or two away in any shard, best first."""
        near = self._neighbours.get(word, ())
        return sorted(near, key=lambda match: (match[0], -self._counts[match[1]], match[1]))

    def completions(self, start: str) -> list[str]:
        """The longer words that any shard names, those on most pages first."""
        return sorted(self._completions.get(start, ()), key=lambda word: (-self._counts[word], word))
