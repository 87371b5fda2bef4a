"""`gossamer evaluate`: how good a ranking is on queries whose answers are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from gossamer import __version__
from gossamer.cli.common import DEFAULT_DATA, Debug, Json, err, out, print_json
from gossamer.cli.searching.preferred import show_trial
from gossamer.clock import SystemClock
from gossamer.compose.search import open_searcher
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.errors import GossamerError, StorageError, UsageError
from gossamer.evaluate.collections import Collection, load, sample
from gossamer.evaluate.metrics import first_relevant
from gossamer.evaluate.rankers import BARE, SearchRanker, over_documents
from gossamer.evaluate.runs import Difference, Ranker, Run, differences, run, tally, trec_lines
from gossamer.model.counts import counted, noun
from gossamer.operate.canonical import canonical_or_error
from gossamer.search.ranking import NAMES, RankingConfig
from gossamer.tables import evaluations
from gossamer.tables.evaluations import EvaluationResult, RankingResult, WorstQuery

_QUERY_WIDTH = 30
"""Columns a query has at least."""
_WORST, _WORDS = 20, 300
"""Queries whose words are kept with a result, and characters of each."""


def command(
    collection: str = "",
    *,
    data: Annotated[Path | None, Parameter(name="--data")] = None,
    ranking: str = "",
    against: str | None = None,
    k: Annotated[int, Parameter(name="--k")] = 10,
    limit_queries: int | None = None,
    run_file: Annotated[Path | None, Parameter(name="--run")] = None,
    diff: int = 5,
    keep: bool = True,
    clicks: Annotated[bool, Parameter(negative="")] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Measure a ranking on queries with known answers: nDCG, MAP, recall at 100 and MRR.

    Parameters
    ----------
    collection
        Queries with judgements: a file, a folder or an archive (also `.zst` and `.gz`), or several files separated by
        commas. JSON with queries and the URLs or ids that answer them; questions about passages as in SQuAD; TREC
        judgements, topics and documents; or Cranfield, MED, LISA or TIME, one of several as `classic.tar.zst:med`.
        If the collection contains documents, `evaluate` indexes them temporarily.
    data
        Data folder whose index to search, if the collection has no documents and judges URLs.
    ranking
        web, bm25, or tantivy (the plain library); default: the setting search.ranking.
    against
        A second ranking to compare with.
    k
        How many results nDCG counts.
    limit_queries
        Run only this many queries, spread evenly over the collection.
    run_file
        Write the results to this file, in the format of trec_eval.
    diff
        With --against: show this many of the queries that differ most.
    keep
        Store the figures in the database of the crawl, if there is one. The console shows how they change over time.
    clicks
        Instead of a collection: report whether clicks of readers improve the ranking (setting `search.clicks_trial`).
    """
    if clicks or not collection:
        if not clicks or collection:
            raise UsageError("name a collection, or give --clicks without one")
        show_trial(data or DEFAULT_DATA, json)
        return
    if k < 1 or diff < 0 or (limit_queries is not None and limit_queries < 1):
        raise UsageError("--k and --limit-queries must be at least 1, and --diff at least 0")
    chosen = load(collection)
    if limit_queries is not None:
        chosen = sample(chosen, limit_queries)
        chosen = msgspec.structs.replace(
            chosen, name=f"{chosen.name} ({len(chosen.queries)} {noun(len(chosen.queries), 'query')})"
        )
    if not chosen.documents:
        data = data or DEFAULT_DATA
        chosen = _by_canonical_url(chosen, data)
    names = [ranking] if against is None else [ranking, against]
    with open_rankers(chosen, data, names) as rankers:
        runs = [run(name, ranker, chosen, k) for name, ranker in rankers]
    if run_file is not None:
        _write_run(run_file, runs[0])
    if keep and data is not None:
        keep_runs(data, chosen, runs, k)
    differing = differences(runs[0], runs[1], chosen, diff) if len(runs) > 1 else []
    if json:
        print_json(_summary(chosen, runs, differing, k))
    else:
        _print(chosen, runs, differing, k)


@contextmanager
def open_rankers(collection: Collection, data: Path | None, names: Sequence[str]) -> Iterator[list[tuple[str, Ranker]]]:
    """The rankings of these names (empty: the one of the settings), each with the name to show, over a temporary index
    of the collection's documents, or over the index of the data folder where it has none."""
    for name in names:
        if name and name not in (*NAMES, BARE):
            raise UsageError(f"there is no ranking {name!r}: choose one of {', '.join((*NAMES, BARE))}")
    if collection.documents:
        config = settings_of_crawl(data).search if data else RankingConfig()
        with over_documents(collection.documents, names, config) as rankers:
            yield list(zip((name or config.ranking for name in names), rankers, strict=True))
        return
    if BARE in names:
        raise UsageError(f"the ranking {BARE} needs documents: name a collection that contains them")
    folder = data or DEFAULT_DATA
    searcher, config = open_searcher(folder), settings_of_crawl(folder).search
    yield [(name or config.ranking, SearchRanker(searcher, name)) for name in names]


def _by_canonical_url(collection: Collection, data: Path) -> Collection:
    """Judged pages by the names that the index knows them by."""
    settings = settings_of_crawl(data)
    judgements = {
        query: {canonical_or_error(url, settings): grade for url, grade in judged.items()}
        for query, judged in collection.judgements.items()
    }
    return msgspec.structs.replace(collection, judgements=judgements)


def keep_runs(data: Path, collection: Collection, runs: Sequence[Run], k: int) -> None:
    """Write what was found into the database of a crawl; an evaluation is not lost because that cannot be done."""
    folder = DataFolder(data)
    if not folder.has_crawl():
        return
    mean = runs[0].mean
    kept = tuple(_ranking_result(one, collection, k) for one in runs)
    result = EvaluationResult(mean.queries, mean.left_out, kept, len(collection.documents), __version__)
    try:
        with closing(folder.open_database()) as database:
            evaluations.note(database, SystemClock().now(), collection.name, result)
    except GossamerError as error:
        err.print(f"The result was not stored: {error}", style="yellow", markup=False)


def _ranking_result(one: Run, collection: Collection, k: int) -> RankingResult:
    by_score = sorted(one.scores, key=lambda query: (one.scores[query].ndcg, query))
    worst = tuple(
        WorstQuery(
            query,
            collection.queries[query][:_WORDS],
            one.scores[query].ndcg,
            first_relevant(one.ranked[query], collection.judgements[query]),
        )
        for query in by_score[:_WORST]
    )
    measures = dict(zip(_measure_names(k), msgspec.structs.astuple(one.mean.scores), strict=True))
    per_query = {query: one.scores[query].ndcg for query in by_score[: evaluations.MOST_QUERIES]}
    return RankingResult(one.name, measures, per_query, worst)


def _measure_names(k: int) -> tuple[str, ...]:
    return (f"nDCG@{k}", "MAP", "recall@100", "MRR")


def _write_run(path: Path, found: Run) -> None:
    try:
        with path.open("w", encoding="utf-8") as sink:
            sink.writelines(f"{line}\n" for line in trec_lines(found))
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}: choose another file") from error


def _summary(collection: Collection, runs: Sequence[Run], differing: Sequence[Difference], k: int) -> dict[str, Any]:
    return {
        "collection": collection.name,
        "documents": len(collection.documents),
        "queries": runs[0].mean.queries,
        "left_out": runs[0].mean.left_out,
        "k": k,
        "rankings": [
            {"name": one.name, **msgspec.to_builtins(one.mean.scores), "per_query": one.scores} for one in runs
        ],
        "differences": differing,
    }


def _print(collection: Collection, runs: Sequence[Run], differing: Sequence[Difference], k: int) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("ranking")
    for name in _measure_names(k):
        table.add_column(name, justify="right")
    rows = [(one.name, msgspec.structs.astuple(one.mean.scores), ".4f") for one in runs]
    if len(runs) > 1:
        gains = tuple(this - other for this, other in zip(rows[0][1], rows[1][1], strict=True))
        rows.append(("difference", gains, "+.4f"))
    for name, values, form in rows:
        table.add_row(Text(name), *(f"{value:{form}}" for value in values))
    out.print(table)
    mean = runs[0].mean
    said = f"{collection.name}: {counted(mean.queries, 'query')}"
    said += f", {counted(collection.documents, 'document')}" if collection.documents else ""
    said += f"; left out {mean.left_out} more without a relevant document" if mean.left_out else ""
    out.print(said, markup=False)
    if len(runs) > 1:
        better, worse, equal = tally(runs[0], runs[1])
        out.print(
            f"{runs[0].name} is better for {counted(better, 'query')}, worse for {worse}, equal for {equal}",
            markup=False,
        )
    if differing:
        out.print()
        out.print(_differing(differing, runs, k))


def _differing(differing: Sequence[Difference], runs: Sequence[Run], k: int) -> Table:
    """A line for each query: nDCG and the place of the first relevant document under both rankings."""
    this, other = runs[0].name, runs[1].name
    headings = (f"nDCG@{k}", "", "", "first relevant", "")
    under = ("gain", this, other, this, other)
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="right")
    table.add_column("query")
    table.add_row(*(Text(text, style="dim") for text in under))
    taken = sum(max(len(heading), len(name), 6) + 2 for heading, name in zip(headings, under, strict=True))
    for one in differing:
        places = (str(place) if place else "–" for place in (one.first_relevant, one.first_relevant_against))
        query = Text(f"{one.query}: {one.text}")
        query.truncate(max(_QUERY_WIDTH, out.width - taken), overflow="ellipsis")
        table.add_row(f"{one.gain:+.3f}", f"{one.ndcg:.3f}", f"{one.against:.3f}", *places, query)
    return table
