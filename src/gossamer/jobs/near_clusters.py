"""Near-duplicate clusters from scratch, over all documents.

A crawl decides page by page: a document joins the founder it is most like, in the order of the downloads. Here all
documents are compared together: those that share a lookup key meet by exchange (`near_pairs`), and documents connected
by
near-duplicates are one cluster (`components`), named by its smallest key. So the result depends on the documents alone,
and shows how the order of the crawl, or a change of method, has shaped the live clusters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from heapq import nsmallest
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from gossamer.dedup.clusters import MIN_CONFIDENCE, Member, choose
from gossamer.dedup.near.own import own_title
from gossamer.dedup.near.registry import DEFAULT, METHODS, near_method
from gossamer.engine.exchange import PartWriter, partition_of, write_parts
from gossamer.errors import UsageError
from gossamer.jobs.components import connect, labels, write_edges
from gossamer.jobs.context import JobContext, numbered, part_table, put_table, run_stage
from gossamer.jobs.near_pairs import Pairs, buckets
from gossamer.jobs.segment_input import PageSource, Unread, all_unread, newest_pages, run_over_pages
from gossamer.store.place import open_place

CLUSTERS = pa.schema(
    [
        ("cluster", pa.int64()),
        ("key", pa.int64()),
        ("url", pa.string()),
        ("pages", pa.int64()),
        ("is_representative", pa.bool_()),
        ("reason", pa.string()),
        ("live_cluster", pa.int64()),
    ]
)
"""A document that was long enough to compare: its cluster, the number of pages in it, whether it represents them and
why, and the number of its cluster in the crawl.
"""
ORDER = ("cluster", "key")
_CANDIDATES = pa.schema([("near_key", pa.int64()), ("key", pa.int64()), ("print", pa.binary())])
_DOCUMENTS = pa.schema(
    [
        ("key", pa.int64()),
        ("url", pa.string()),
        ("published", pa.string()),
        ("seen_at", pa.float64()),
        ("named", pa.int64()),
        ("live_cluster", pa.int64()),
        ("live_pages", pa.int64()),
    ]
)
_LABELLED = _DOCUMENTS.insert(0, pa.field("cluster", pa.int64()))
_LARGEST = 20
_DOCUMENTS_OF_A_PART = 50_000
"""A fingerprint is stored with each of its keys: 2.5 KB a document."""
Row = dict[str, Any]


class LargeCluster(msgspec.Struct, frozen=True):
    """A cluster with many pages."""

    cluster: int
    pages: int
    representative: str
    reason: str


class ClusterReport(msgspec.Struct, frozen=True):
    """What was found, and where the crawl's own clusters differ."""

    method: str
    documents: int
    compared: int
    """Documents long enough to be compared."""
    clusters: int
    """Clusters of more than one page."""
    pages: int
    """Pages in them."""
    same: int
    """Clusters of more than one page that are the same in the crawl."""
    only_here: int
    """Pages that have a near-duplicate here, and none in the crawl."""
    only_live: int
    """Pages that have a near-duplicate in the crawl, and none here."""
    crowded: int
    """Lookup keys that so many pages share that not all of them were compared with each other."""
    largest: list[LargeCluster]
    unread: list[Unread]


class _PrintTask(msgspec.Struct, frozen=True):
    source: PageSource
    method: str
    number: int
    parts: int


class _Printed(msgspec.Struct, frozen=True):
    documents: int
    compared: int
    unread: list[Unread]


class _PartTask(msgspec.Struct, frozen=True):
    work: str
    method: str
    files: list[str]
    part: int
    parts: int
    name: str
    stars: list[str] = []


class _Found(msgspec.Struct, frozen=True):
    clusters: int = 0
    pages: int = 0
    same: int = 0
    only_here: int = 0
    only_live: int = 0
    largest: list[LargeCluster] = []


def near_clusters(context: JobContext, method: str = DEFAULT) -> tuple[ClusterReport, list[str]]:
    """Cluster all documents; returns the report and the names of the Parquet files with the clusters."""
    _check(method)
    pages = newest_pages(context)
    sources = pages.sources
    parts = context.parts_for(pages.documents, _DOCUMENTS_OF_A_PART)
    printed = run_over_pages(
        context, "fingerprints", _fingerprints, sources,
        lambda number, source: _PrintTask(source, method, number, parts),
    )  # fmt: skip
    candidates = [numbered("candidates", number) for number in range(len(sources))]
    edges = [numbered("edges", part) for part in range(parts)]
    crowded = run_stage(
        context, "comparing", _compare,
        [_PartTask(context.work, method, candidates, part, parts, name) for part, name in enumerate(edges)],
    )  # fmt: skip
    stars = connect(context, edges, parts)
    documents = [numbered("documents", number) for number in range(len(sources))]
    labelled = [numbered("labelled", part) for part in range(parts)]
    run_stage(
        context, "naming", _label,
        [_PartTask(context.work, method, documents, part, parts, name, stars) for part, name in enumerate(labelled)],
    )  # fmt: skip
    results = [numbered("clusters", part, ".parquet") for part in range(parts)]
    found = run_stage(
        context, "clusters", _gather,
        [_PartTask(context.work, method, labelled, part, parts, name) for part, name in enumerate(results)],
    )  # fmt: skip
    return _report(method, printed, found, sum(crowded)), results


def _check(method: str) -> None:
    if method not in METHODS:
        raise UsageError(f"there is no method {method!r}: use one of {', '.join(METHODS)}")


def _report(method: str, printed: Sequence[_Printed], found: Sequence[_Found], crowded: int) -> ClusterReport:
    return ClusterReport(
        method=method,
        documents=sum(one.documents for one in printed),
        compared=sum(one.compared for one in printed),
        clusters=sum(one.clusters for one in found),
        pages=sum(one.pages for one in found),
        same=sum(one.same for one in found),
        only_here=sum(one.only_here for one in found),
        only_live=sum(one.only_live for one in found),
        crowded=crowded,
        largest=_first(one for part in found for one in part.largest),
        unread=all_unread(printed),
    )


def _first(clusters: Iterable[LargeCluster]) -> list[LargeCluster]:
    return nsmallest(_LARGEST, clusters, key=lambda one: (-one.pages, one.representative))


def _fingerprints(task: _PrintTask) -> _Printed:
    """Task: the fingerprints of some pages to the tasks of their lookup keys; their other columns to the task of their
    own key."""
    place, method = open_place(task.source.work), near_method(task.method)
    unread: list[Unread] = []
    documents = compared = 0
    columns = ["url", "text", "title", "page_type", "date", "date_confidence"]
    with (
        PartWriter(place, numbered("candidates", task.number), task.parts) as candidates,
        PartWriter(place, numbered("documents", task.number), task.parts) as described,
    ):
        for table in task.source.tables(columns, unread):
            documents += table.num_rows
            rows = []
            keys: list[tuple[int, int, bytes]] = []
            for row in table.to_pylist():
                title = own_title(row["title"] or "", row["page_type"] or "")
                fingerprint = method.fingerprint(row["text"] or "", title)
                if fingerprint:
                    rows.append(_described(row))
                    keys += [(near_key, row["key"], fingerprint) for near_key in set(method.keys(fingerprint))]
            compared += len(rows)
            _add(described, pa.Table.from_pylist(rows, _DOCUMENTS), "key", task.parts)
            _add(candidates, _from_tuples(keys, _CANDIDATES), "near_key", task.parts)
    return _Printed(documents, compared, unread)


def _described(row: Row) -> Row:
    sure = row["date_confidence"] is None or row["date_confidence"] >= MIN_CONFIDENCE
    return {**row, "published": (row["date"] or "") if sure else ""}


def _from_tuples(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [[]] * len(schema)
    return pa.Table.from_arrays([pa.array(one, f.type) for f, one in zip(schema, columns, strict=True)], schema=schema)


def _add(writer: PartWriter, table: pa.Table, column: str, parts: int) -> None:
    writer.add(table, partition_of(table.column(column).to_numpy(), parts))


def _compare(task: _PartTask) -> int:
    """Task: the pairs of near-duplicates among the pages of some lookup keys; returns the crowded ones."""
    place = open_place(task.work)
    table = _shared(part_table(place, task.files, task.part, _CANDIDATES))
    rows = zip(*(table.column(name).to_pylist() for name in table.column_names), strict=True)
    pairs = Pairs(near_method(task.method))
    for bucket in buckets(rows):
        pairs.add(bucket)
    ends = np.array(pairs.edges, np.int64).reshape(-1, 2)
    write_edges(place, task.name, ends[:, 0], ends[:, 1], task.parts)
    return pairs.crowded


def _shared(table: pa.Table) -> pa.Table:
    """The rows whose lookup key is not theirs alone, in its order; most pages are like no other."""
    keys = table.column("near_key").to_numpy()
    order = np.argsort(keys, kind="stable")
    alike = keys[order][1:] == keys[order][:-1]
    shared = np.concatenate([alike, [False]]) | np.concatenate([[False], alike])
    return table.take(pa.array(order[shared[: len(order)]]))


def _label(task: _PartTask) -> None:
    """Task: each page with the name of its cluster, to the task of that cluster."""
    place = open_place(task.work)
    table = part_table(place, task.files, task.part, _DOCUMENTS)
    names = labels(place, task.stars, task.part)
    clusters = np.fromiter((names.get(key, key) for key in table.column("key").to_pylist()), np.int64, table.num_rows)
    table = table.add_column(0, _LABELLED.field(0), pa.array(clusters))
    write_parts(place, task.name, table, partition_of(clusters, task.parts), task.parts)


def _gather(task: _PartTask) -> _Found:
    """Task: the clusters of a part, with the representative of each."""
    place = open_place(task.work)
    clusters: dict[int, list[Row]] = defaultdict(list)
    for row in part_table(place, task.files, task.part, _LABELLED).to_pylist():
        clusters[row["cluster"]].append(row)
    rows: list[Row] = []
    large: list[LargeCluster] = []
    same = only_here = only_live = 0
    for name in sorted(clusters):
        pages = sorted(clusters[name], key=lambda row: int(row["key"]))
        shown, reason = _representative(pages)
        rows += [
            {**row, "pages": len(pages), "is_representative": row["url"] == shown, "reason": reason} for row in pages
        ]
        if len(pages) == 1:
            only_live += (pages[0]["live_pages"] or 1) > 1
            continue
        large.append(LargeCluster(name, len(pages), shown, reason))
        only_here += sum((row["live_pages"] or 1) == 1 for row in pages)
        live = {(row["live_cluster"], row["live_pages"]) for row in pages}
        same += len(live) == 1 and pages[0]["live_pages"] == len(pages)
    put_table(place, task.name, pa.Table.from_pylist(rows, CLUSTERS))
    return _Found(len(large), sum(one.pages for one in large), same, only_here, only_live, _first(large))


def _representative(pages: Sequence[Row]) -> tuple[str, str]:
    """The representative of pages, and the reason, by the rule of the crawl."""
    if len(pages) == 1:
        return str(pages[0]["url"]), ""
    chosen = choose(Member(row["url"], row["seen_at"] or 0.0, row["named"], row["published"]) for row in pages)
    return chosen.member.url, chosen.reason
