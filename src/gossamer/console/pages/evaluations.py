"""How good the ranking is on queries whose answers are known, over time (`gossamer evaluate`)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from starlette.responses import Response
from starlette.routing import Route

from gossamer.console.context import Asked, Console
from gossamer.console.series import Chart
from gossamer.search.results import Request
from gossamer.tables import evaluations
from gossamer.tables.evaluations import Evaluation, RankingResult, WorstQuery

PATH = "/console/evaluations"
SHOWN = 20
"""Runs in the table, and worst queries."""
CHARTED = 200


class Measure(msgspec.Struct, frozen=True):
    """A measure of the last run, and what changed since the run before."""

    name: str
    value: float
    change: float | None
    """None where there was none before that can be compared."""


class Worst(msgspec.Struct, frozen=True):
    """A query that did badly, and how it did before."""

    query: WorstQuery
    change: float | None


class Comparison(msgspec.Struct, frozen=True):
    """The last run of a ranking against the one before."""

    at: float
    before_at: float | None
    measures: list[Measure]
    worst: list[Worst]
    better: int
    """Queries with a higher nDCG than in the run before."""
    worse: int


def routes(console: Console) -> list[Route]:
    """Where the pages are."""
    return [
        console.shows("/evaluations", lambda asked: _show(console, asked)),
        console.shows("/evaluations/chart.json", lambda asked: _chart(console, asked)),
    ]


def _show(console: Console, asked: Asked) -> Response:
    sets = console.crawl.ask(evaluations.names)
    name = asked.query.get("set", "") or (sets[0][0] if sets else "")
    runs = console.crawl.ask(lambda db: evaluations.history(db, name, CHARTED))
    rankings = evaluations.rankings(runs)
    ranking = asked.query.get("ranking", "")
    ranking = ranking if ranking in rankings else (rankings[0] if rankings else "")
    shown = [(run, found) for run in reversed(runs) if (found := run.result.of(ranking)) is not None]
    return console.page(
        asked, "evaluations.html", sets=sets, name=name, rankings=rankings, ranking=ranking, path=PATH,
        runs=shown[:SHOWN], comparison=compare(runs, ranking), measures=_measures(shown),
        names={measure: measure for measure in _measures(shown)},
        chart_path=f"/console/evaluations/chart.json?{_chart_query(console, name, ranking)}",
        try_it=lambda text: console.links.search(Request(query=text)),
    )  # fmt: skip


def _chart_query(console: Console, name: str, ranking: str) -> str:
    return console.links.to("", set=name, ranking=ranking).partition("?")[2]


def _chart(console: Console, asked: Asked) -> Response:
    name, ranking = asked.query.get("set", ""), asked.query.get("ranking", "")
    runs = console.crawl.ask(lambda db: evaluations.history(db, name, CHARTED))
    shown = [(run, found) for run in runs if (found := run.result.of(ranking)) is not None]
    measures = _measures(shown)
    series: dict[str, list[float | None]] = {
        measure: [found.measures.get(measure) for _, found in shown] for measure in measures
    }
    return console.data(Chart(at=[run.at for run, _ in shown], series=series))


def _measures(shown: Sequence[tuple[Evaluation, RankingResult]]) -> list[str]:
    """The measures of all runs: how many places nDCG looks at may differ between them."""
    return list(dict.fromkeys(name for _, found in shown for name in found.measures))


def compare(runs: Sequence[Evaluation], ranking: str) -> Comparison | None:
    """The last run of a ranking, beside the one before it; None where there is none. `runs` in order of time."""
    found = [(run.at, one) for run in runs if (one := run.result.of(ranking)) is not None]
    if not found:
        return None
    at, last = found[-1]
    before_at, before = found[-2] if len(found) > 1 else (None, RankingResult(ranking, {}))
    changes = {query: score - before.per_query[query] for query, score in last.per_query.items()
               if query in before.per_query}  # fmt: skip
    measures = [
        Measure(name, value, value - before.measures[name] if name in before.measures else None)
        for name, value in last.measures.items()
    ]
    worst = [Worst(query, changes.get(query.id)) for query in last.worst[:SHOWN]]
    better, worse = sum(change > 0 for change in changes.values()), sum(change < 0 for change in changes.values())
    return Comparison(at, before_at, measures, worst, better, worse)
