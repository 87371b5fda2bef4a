"""The measures of a ranking, as TREC defines them.

A judgement gives a document a grade; above 0 it is relevant, and what nobody judged is not.
A document that is ranked twice counts where it stands first. Every measure lies between 0 and 1.
A query for which nothing is relevant says nothing about a ranking: it has no scores and is left
out of the means, which say how many were left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log2

import msgspec

Judgements = Mapping[str, int]
"""Document → grade, for one query."""


class Scores(msgspec.Struct, frozen=True):
    """All measures of one query, or their means over several."""

    ndcg: float
    average_precision: float
    recall: float
    reciprocal_rank: float


class Mean(msgspec.Struct, frozen=True):
    """Means over queries."""

    scores: Scores
    queries: int
    """How many were averaged."""
    left_out: int
    """Queries for which nothing is relevant."""


def ndcg(ranked: Sequence[str], judgements: Judgements, k: int = 10) -> float:
    """Normalised discounted cumulative gain of the first `k`: the grade is the gain (not 2^grade - 1), the
    discount is log2(place + 1), and the best order possible has 1."""
    best = sorted((grade for grade in judgements.values() if grade > 0), reverse=True)
    return _gain([judgements.get(document, 0) for document in _once(ranked)[:k]]) / (_gain(best[:k]) or 1.0)


def average_precision(ranked: Sequence[str], judgements: Judgements) -> float:
    """The precision at the place of each relevant document, 0 for one that is missing, averaged."""
    relevant = _relevant(judgements)
    found, total = 0, 0.0
    for place, document in enumerate(_once(ranked), 1):
        if document in relevant:
            found += 1
            total += found / place
    return total / (len(relevant) or 1)


def recall(ranked: Sequence[str], judgements: Judgements, k: int = 100) -> float:
    """The share of the relevant documents that are among the first `k`."""
    relevant = _relevant(judgements)
    return len(relevant.intersection(_once(ranked)[:k])) / (len(relevant) or 1)


def reciprocal_rank(ranked: Sequence[str], judgements: Judgements) -> float:
    """1 ÷ the place of the first relevant document; 0 where there is none."""
    place = first_relevant(ranked, judgements)
    return 1 / place if place else 0.0


def first_relevant(ranked: Sequence[str], judgements: Judgements) -> int:
    """The place of the first relevant document, from 1; 0 where there is none."""
    relevant = _relevant(judgements)
    return next((place for place, document in enumerate(_once(ranked), 1) if document in relevant), 0)


def scores(ranked: Sequence[str], judgements: Judgements, k: int = 10) -> Scores | None:
    """All measures of one query; none where nothing is relevant."""
    if not _relevant(judgements):
        return None
    return Scores(
        ndcg(ranked, judgements, k),
        average_precision(ranked, judgements),
        recall(ranked, judgements),
        reciprocal_rank(ranked, judgements),
    )


def mean(each: Iterable[Scores | None]) -> Mean:
    """The means over the queries that have scores."""
    every = list(each)
    kept = [one for one in every if one is not None]
    values = [sum(getattr(one, name) for one in kept) / len(kept) if kept else 0.0 for name in Scores.__struct_fields__]
    return Mean(Scores(*values), len(kept), len(every) - len(kept))


def _relevant(judgements: Judgements) -> set[str]:
    return {document for document, grade in judgements.items() if grade > 0}


def _once(ranked: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(ranked))


def _gain(grades: Sequence[int]) -> float:
    return sum(max(0, grade) / log2(place + 1) for place, grade in enumerate(grades, 1))
