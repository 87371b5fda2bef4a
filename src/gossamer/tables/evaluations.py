"""Results of `gossamer evaluate` over time: how good the ranking was on a set of queries, run by run.

A run holds the means, the score of each query, and the words of the worst ones, so that two runs can be compared when
the
set itself is gone.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gossamer.database.database import Database
from gossamer.errors import CorruptError

KEPT_RUNS = 1_000
"""Runs of a set that are kept."""
MOST_QUERIES = 5_000
"""Queries of a run whose scores are kept."""


class WorstQuery(msgspec.Struct, frozen=True):
    """A query that did badly."""

    id: str
    text: str
    ndcg: float
    first_relevant: int
    """Place of the first relevant document, from 1; 0: none was found."""


class RankingResult(msgspec.Struct, frozen=True):
    """What one ranking scored."""

    ranking: str
    measures: dict[str, float]
    """Means over the queries by name of the measure: `nDCG@10`, `MAP`, `recall@100`, `MRR`."""
    per_query: dict[str, float] = {}
    """nDCG by id of the query."""
    worst: tuple[WorstQuery, ...] = ()


class EvaluationResult(msgspec.Struct, frozen=True):
    """One run over a set."""

    queries: int
    left_out: int
    rankings: tuple[RankingResult, ...]
    documents: int = 0
    """Of the set itself; 0 if the index of the crawl was searched."""
    version: str = ""
    """Of Gossamer."""

    def of(self, ranking: str) -> RankingResult | None:
        """What a ranking scored, where it took part."""
        return next((one for one in self.rankings if one.ranking == ranking), None)


class Evaluation(msgspec.Struct, frozen=True):
    """A run, and when it was."""

    at: float
    name: str
    result: EvaluationResult


def note(db: Database, at: float, name: str, result: EvaluationResult) -> None:
    """Store a run; the oldest ones of a set that has very many are deleted."""
    db.patiently(lambda: _note(db, at, name, result))


def _note(db: Database, at: float, name: str, result: EvaluationResult) -> None:
    with db.transaction():
        db.execute(
            "INSERT INTO evaluations (at, name, result) VALUES (?, ?, ?) "
            "ON CONFLICT (at, name) DO UPDATE SET result = excluded.result",
            (at, name, msgspec.json.encode(result).decode()),
        )
        sql = "SELECT at FROM evaluations WHERE name = ? ORDER BY at DESC LIMIT 1 OFFSET ?"
        for (oldest,) in db.execute(sql, (name, KEPT_RUNS)):
            db.execute("DELETE FROM evaluations WHERE name = ? AND at <= ?", (name, oldest))


def names(db: Database) -> list[tuple[str, int, float]]:
    """The sets, the one that was run last first: name, number of runs, time of the last."""
    rows = db.execute("SELECT name, COUNT(*), MAX(at) FROM evaluations GROUP BY name ORDER BY MAX(at) DESC, name")
    return [(name, int(runs), float(last)) for name, runs, last in rows]


def history(db: Database, name: str, limit: int = 100) -> list[Evaluation]:
    """The last runs of a set in order of time."""
    rows = db.execute("SELECT at, result FROM evaluations WHERE name = ? ORDER BY at DESC LIMIT ?", (name, limit))
    return [Evaluation(at, name, _decoded(text)) for at, text in reversed(rows)]


def rankings(runs: Sequence[Evaluation]) -> list[str]:
    """The rankings that took part in some of the runs, those of the last run first."""
    return list(dict.fromkeys(one.ranking for run in reversed(runs) for one in run.result.rankings))


def _decoded(text: str) -> EvaluationResult:
    try:
        return msgspec.json.decode(text, type=EvaluationResult)
    except msgspec.DecodeError as error:
        raise CorruptError(f"a stored evaluation cannot be read ({error}): another version wrote it") from error
