"""Rankings at work: every query of a collection, what came first, how good that is, and where two rankings differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

import msgspec

from gossamer.evaluate.metrics import Mean, Scores, first_relevant, mean, scores
from gossamer.evaluate.values import Collection

DEPTH = 1_000
"""Documents asked for by each query, as at TREC: average precision looks at all of them."""
_SHOWN = 3


class Ranker(Protocol):
    """Whatever puts documents in order for a query."""

    def rank(self, query: str, limit: int) -> list[str]:
        """The ids of the best documents, the best first, at most `limit`."""


class Run(msgspec.Struct, frozen=True):
    """What one ranking answered, and how good it was."""

    name: str
    ranked: dict[str, list[str]]
    """Query → documents, the best first."""
    scores: dict[str, Scores]
    """Of the queries for which something is relevant."""
    mean: Mean


class Difference(msgspec.Struct, frozen=True):
    """One query under two rankings."""

    query: str
    text: str
    ndcg: float
    against: float
    first_relevant: int
    """Place of the first relevant document, from 1; 0: none."""
    first_relevant_against: int
    top: list[str]
    """The first documents."""
    top_against: list[str]

    @property
    def gain(self) -> float:
        """How much the first ranking is better."""
        return self.ndcg - self.against


def run(name: str, ranker: Ranker, collection: Collection, k: int = 10, depth: int = DEPTH) -> Run:
    """Ask every query that has judgements."""
    ranked: dict[str, list[str]] = {}
    every: dict[str, Scores | None] = {}
    for query, text in collection.queries.items():
        judgements = collection.judgements.get(query, {})
        every[query] = found = scores([], judgements)
        if found is not None:
            ranked[query] = ranker.rank(text, depth)
            every[query] = scores(ranked[query], judgements, k)
    return Run(name, ranked, {query: one for query, one in every.items() if one}, mean(every.values()))


def differences(this: Run, other: Run, collection: Collection, count: int) -> list[Difference]:
    """The queries whose nDCG differs most, the greatest difference first; none that are equal."""
    found = [_difference(query, this, other, collection) for query in this.scores if query in other.scores]
    found = [one for one in found if one.gain]
    return sorted(found, key=lambda one: (-abs(one.gain), one.query))[:count]


def tally(this: Run, other: Run) -> tuple[int, int, int]:
    """For how many queries this ranking is better, worse, and equal by nDCG."""
    gains = [one.ndcg - other.scores[query].ndcg for query, one in this.scores.items() if query in other.scores]
    return sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains), gains.count(0)


def trec_lines(this: Run) -> Iterator[str]:
    """The run as `trec_eval` reads it; the scores only keep the order."""
    tag = "-".join(this.name.split()) or "gossamer"
    for query, ranked in this.ranked.items():
        for place, document in enumerate(ranked, 1):
            yield f"{query} Q0 {document} {place} {len(ranked) - place + 1} {tag}"


def _difference(query: str, this: Run, other: Run, collection: Collection) -> Difference:
    judgements: Mapping[str, int] = collection.judgements[query]
    return Difference(
        query=query,
        text=collection.queries[query],
        ndcg=this.scores[query].ndcg,
        against=other.scores[query].ndcg,
        first_relevant=first_relevant(this.ranked[query], judgements),
        first_relevant_against=first_relevant(other.ranked[query], judgements),
        top=this.ranked[query][:_SHOWN],
        top_against=other.ranked[query][:_SHOWN],
    )
