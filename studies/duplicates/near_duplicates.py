"""How well a near-duplicate method does on a collection of texts, against the overlap worked out in full.

The truth is the Jaccard overlap of the sets of four-word runs, for every pair of texts of a collection that reaches
`OVERLAP`, wherever it lies. Exact copies are taken out first, as the crawler does, and so are texts that are too short
to compare: both would flatter every method.

A pair is *found* when two fingerprints share a key and are similar enough: a method that judges well but never brings
the two together finds nothing in a crawl.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations

import msgspec
import numpy as np

from gossamer.dedup.exact import content_hash
from gossamer.dedup.near.contract import OVERLAP, NearMethod, same
from gossamer.dedup.near.runs import Numbers, runs
from studies.duplicates.methods.shingles import jaccard

ALMOST = 0.8
"""Overlap below which calling two texts the same is wrong without doubt."""
UNRELATED = 0.5
"""Overlap below which a candidate was not worth a look."""
_ROUNDS = 6
"""Times the texts are fingerprinted when time is taken: the first fills the tables of words, the best counts."""
Pair = tuple[int, int]


class Texts(msgspec.Struct, frozen=True, eq=False):
    """Texts to compare, with their sets of runs."""

    name: str
    pages: int
    """How many there were, copies and short ones included."""
    copies: int
    """How many of them were the same as an earlier one."""
    texts: list[str]
    runs: list[Numbers]

    @classmethod
    def of(cls, name: str, texts: Iterable[str]) -> Texts:
        """Different texts that are long enough to compare."""
        pages, different = 0, dict[str, str]()
        for text in texts:
            pages += 1
            different.setdefault(content_hash(text), text)
        kept = [(text, sets) for text in different.values() if len(sets := runs(text))]
        return cls(name, pages, pages - len(different), [text for text, _ in kept], [sets for _, sets in kept])

    def overlap(self, pair: Pair) -> float:
        """The true overlap of two of them."""
        return jaccard(self.runs[pair[0]], self.runs[pair[1]])


class Judgement(msgspec.Struct, frozen=True):
    """What one method did on one collection."""

    method: str
    collection: str
    pairs: int
    """Near duplicates there are."""
    recall: float
    """Share of them that is found."""
    judged: float | None
    """Share of them that is similar enough by the fingerprints, keys apart; `None` where it was not looked at."""
    precision: float
    """Share of the found pairs that overlap by `ALMOST` or more."""
    strict: float
    """Share of the found pairs that overlap by `OVERLAP` or more."""
    wrong_candidates: float
    """Pairs that share a key and overlap by less than `UNRELATED`, per million pairs of texts."""


def true_pairs(texts: Texts) -> set[Pair]:
    """All pairs that overlap by `OVERLAP` or more: they share one of the rarest tenth of their runs, for certain."""
    if not texts.runs:
        return set()
    every, counts = np.unique(np.concatenate(texts.runs), return_counts=True)
    rarity = np.empty(len(every), np.int64)
    rarity[np.lexsort((every, counts))] = np.arange(len(every))
    rare = [np.sort(rarity[np.searchsorted(every, one)])[: _enough(len(one))].tolist() for one in texts.runs]
    return {pair for pair in sharing(rare) if texts.overlap(pair) >= OVERLAP}


def _enough(number: int) -> int:
    """Of so many runs: so many that they cannot all be among those that a near duplicate lacks."""
    return int(number * (1 - OVERLAP) + 1e-6) + 1


def sharing(keys: Iterable[Iterable[int]]) -> set[Pair]:
    """Pairs of places whose keys have one in common."""
    holders: dict[int, list[int]] = defaultdict(list)
    for place, own in enumerate(keys):
        for key in own:
            holders[key].append(place)
    return {pair for held in holders.values() if len(held) > 1 for pair in combinations(held, 2)}


def judge(method: NearMethod, texts: Texts, truth: set[Pair]) -> Judgement:
    """One method on one collection; shares of nothing are 1, for nothing went wrong."""
    prints = [method.fingerprint(text) for text in texts.texts]
    candidates = sharing(map(method.keys, prints))
    found = {(a, b) for a, b in candidates if same(method, prints[a], prints[b])}
    judged = sum(same(method, prints[a], prints[b]) for a, b in truth)
    overlaps = np.array([texts.overlap(pair) for pair in found])
    unrelated = sum(texts.overlap(pair) < UNRELATED for pair in candidates)
    return Judgement(
        method.name, texts.name, len(truth),
        recall=len(found & truth) / len(truth) if truth else 1.0,
        judged=judged / len(truth) if truth else 1.0,
        precision=float(np.mean(overlaps >= ALMOST)) if found else 1.0,
        strict=float(np.mean(overlaps >= OVERLAP)) if found else 1.0,
        wrong_candidates=per_million_pairs(unrelated, len(prints)),
    )  # fmt: skip


def is_found(method: NearMethod, left: bytes, right: bytes) -> bool:
    """Whether two fingerprints would meet and be called the same."""
    return not set(method.keys(left)).isdisjoint(method.keys(right)) and same(method, left, right)


def per_million_pairs(number: int, texts: int) -> float:
    """A number of pairs, per million pairs of so many texts."""
    return 1e6 * number / max(1, texts * (texts - 1) // 2)


def repeated(texts: Texts, truth: set[Pair]) -> float:
    """Share of the pages that say what another page says: one of each group of copies and near duplicates is new."""
    group = list(range(len(texts.texts)))
    for left, right in truth:
        group[_root(group, left)] = _root(group, right)
    joined = sum(_root(group, place) != place for place in range(len(group)))
    return (texts.copies + joined) / max(1, texts.pages)


def _root(group: list[int], place: int) -> int:
    while group[place] != place:
        group[place] = place = group[group[place]]
    return place


def texts_per_second(method: NearMethod, texts: Sequence[str]) -> float:
    """Fingerprints per second of processor time."""
    best = 0.0
    for _ in range(_ROUNDS):
        start = time.process_time()
        for text in texts:
            method.fingerprint(text)
        best = max(best, len(texts) / max(1e-9, time.process_time() - start))
    return best
