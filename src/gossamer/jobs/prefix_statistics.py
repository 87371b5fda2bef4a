"""Counts the statistics of the URL table (S0.8) from scratch, as the frontier keeps them while it crawls.

Each task counts the URLs of one key range by leaf (`scope.statistics`); sums of a site come together by exchange. The
result corrects the kept counters by *differences* (`rebuild_counters`): counters and URLs are read at one moment, and
the
errors of that moment are corrected later, so that a crawl may run meanwhile.

`near` is the one figure that the table does not hold as such. It is counted as: a document that joined a cluster whose
representative is of the same site. The live counter decides that when the document is stored, and does not follow later
changes of the cluster or the page; so the two may differ a little, and this count is the better one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache

import msgspec
import numpy as np
import pyarrow as pa

from gossamer.database.schema import REFUSED, REMOVED
from gossamer.engine.exchange import partition_of, write_parts
from gossamer.frontier.prefixes import add_counts
from gossamer.frontier.views.table_statistics import all_leaves
from gossamer.jobs.context import JobContext, get_table, numbered, part_table, put_table, run_stage
from gossamer.jobs.url_table import UrlFiles, export_urls
from gossamer.model.outcome import COPIES, ERRORS, Outcome
from gossamer.model.site import key64, site_of
from gossamer.scope.shape import path_shape
from gossamer.scope.statistics import Counts, prefix_of
from gossamer.store.place import Place, open_place

FIGURES = Counts.__struct_fields__
STATISTICS = pa.schema([("site", pa.string()), ("prefix", pa.string()), *((name, pa.int64()) for name in FIGURES)])
ORDER = ("site", "prefix")
_COUNTED = {"site_id", "url", "state", "fit", "outcome", "joined", "cluster_site"}
_DOCUMENT = Outcome.DOCUMENT.value

Leaf = tuple[str, str]
"""Site and prefix."""


class PrefixReport(msgspec.Struct, frozen=True):
    """What was counted."""

    urls: int
    """Known URLs."""
    sites: int
    leaves: int
    unfetched: int
    fetched: int
    fit: int
    documents: int


class _CountTask(msgspec.Struct, frozen=True):
    work: str
    file: str
    name: str
    parts: int


class _SumTask(msgspec.Struct, frozen=True):
    work: str
    files: list[str]
    part: int
    name: str


class _Sums(msgspec.Struct, frozen=True):
    sites: int
    leaves: int
    counts: Counts


def prefix_statistics(context: JobContext) -> tuple[PrefixReport, list[str]]:
    """Count all URLs by site and prefix; returns the sums and the names of the Parquet files with the leaves."""
    return _count(context, export_urls(context))


def _count(context: JobContext, urls: UrlFiles) -> tuple[PrefixReport, list[str]]:
    parts = context.parts_for(urls.rows)
    names = [numbered("counts", number) for number in range(len(urls.names))]
    run_stage(
        context, "counting URLs", _count_urls,
        [_CountTask(context.work, *pair, parts) for pair in zip(urls.names, names, strict=True)],
    )  # fmt: skip
    results = [numbered("prefixes", part, ".parquet") for part in range(parts)]
    sums = run_stage(
        context, "adding up", _add_up,
        [_SumTask(context.work, names, part, name) for part, name in enumerate(results)],
    )  # fmt: skip
    total = sum((one.counts for one in sums), Counts())
    report = PrefixReport(
        total.known, sum(one.sites for one in sums), sum(one.leaves for one in sums), total.unfetched, total.visited,
        total.fit, total.documents,
    )  # fmt: skip
    return report, results


def _count_urls(task: _CountTask) -> None:
    """Task: the leaves of one key range, to the task that has their site."""
    place = open_place(task.work)
    counted = _counted(get_table(place, task.file, sorted(_COUNTED)).to_pylist())
    table = _table(sorted(counted.items()))
    sites = np.fromiter((key64(site) for site, _ in sorted(counted)), np.int64, len(counted))
    write_parts(place, task.name, table, partition_of(sites, task.parts), task.parts)


def _counted(rows: Iterable[dict[str, object]]) -> dict[Leaf, list[int]]:
    sums: dict[Leaf, list[int]] = defaultdict(lambda: [0] * len(FIGURES))
    for row in rows:
        outcome = row["outcome"]
        if row["state"] == REMOVED or (row["state"] == REFUSED and outcome is None):
            continue
        url = str(row["url"])
        is_document = outcome == _DOCUMENT
        figures = (
            1, bool(row["fit"]), outcome is not None, is_document, outcome in ERRORS, outcome in COPIES,
            is_document and bool(row["joined"]) and row["cluster_site"] == row["site_id"],
        )  # fmt: skip
        leaf = sums[site_of(url), _prefix(path_shape(url))]
        for place, figure in enumerate(figures):
            leaf[place] += figure
    return sums


@lru_cache(maxsize=65_536)
def _prefix(shape: str) -> str:
    return prefix_of(shape)


def _table(leaves: Iterable[tuple[Leaf, Iterable[int]]]) -> pa.Table:
    rows = [(*leaf, *counts) for leaf, counts in leaves]
    columns = zip(*rows, strict=True) if rows else [[]] * len(STATISTICS)
    arrays = [pa.array(values, field.type) for field, values in zip(STATISTICS, columns, strict=True)]
    return pa.Table.from_arrays(arrays, schema=STATISTICS)


def _add_up(task: _SumTask) -> _Sums:
    """Task: the sums of some sites."""
    place = open_place(task.work)
    table = part_table(place, task.files, task.part, STATISTICS)
    summed = table.group_by(list(ORDER)).aggregate([(name, "sum") for name in FIGURES])
    summed = summed.select([*ORDER, *(f"{name}_sum" for name in FIGURES)]).rename_columns(STATISTICS.names)
    summed = summed.cast(STATISTICS).sort_by([(name, "ascending") for name in ORDER])
    put_table(place, task.name, summed)
    total = Counts(*(int(np.sum(summed.column(name).to_numpy())) for name in FIGURES))
    return _Sums(len(summed.column("site").unique()), summed.num_rows, total)


class Correction(msgspec.Struct, frozen=True):
    """A leaf whose kept counters were wrong."""

    site: str
    prefix: str
    kept: Counts
    counted: Counts


def rebuild_counters(context: JobContext) -> tuple[PrefixReport, list[Correction]]:
    """Count all URLs, and correct the counters that the frontier keeps; returns the corrections. The context's database
    must be open for writing; a crawl may be running."""
    with context.db.snapshot():
        kept = all_leaves(context.db)
        urls = export_urls(context)
    report, names = _count(context, urls)
    wrong = list(_differences(kept, context.place, names))
    # Added, not set: a crawl may have counted further meanwhile.
    add_counts(context.db, [(one.site, one.prefix, one.counted - one.kept) for one in wrong])
    return report, wrong


def _differences(kept: dict[Leaf, Counts], place: Place, names: list[str]) -> Iterator[Correction]:
    nothing = Counts()
    left = dict(kept)
    for leaf, counted in counted_leaves(place, names):
        before = left.pop(leaf, nothing)
        if before != counted:
            yield Correction(*leaf, before, counted)
    for leaf, before in sorted(left.items()):
        if before != nothing:
            yield Correction(*leaf, before, nothing)


def counted_leaves(place: Place, names: Iterable[str]) -> Iterator[tuple[Leaf, Counts]]:
    """The leaves of a result."""
    for name in names:
        for site, prefix, *counts in zip(*get_table(place, name).to_pydict().values(), strict=True):
            yield (site, prefix), Counts(*counts)
