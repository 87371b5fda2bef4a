"""Segments as records of numbers: the outcome of each visit, and the links on the page.

A visit shows what its URL is: a document, something that leads elsewhere (redirect, alias, duplicate), or neither. Two
kinds of visits show nothing new, and are skipped: a page that was not modified is what it was before, and a failure
that
is tried again (`Outcome.meaning.retry`) says something about a moment, not about the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gossamer.engine.exchange import PartWriter, range_of
from gossamer.frontier.steering.removals import Covered
from gossamer.jobs.link_work import Ints, Task, column
from gossamer.model.outcome import RETRIED, Outcome
from gossamer.model.site import key64
from gossamer.store.remote_segments import open_segments
from gossamer.store.segments import TableFile, open_links, open_pages_once

GONE, DOCUMENT, LEADS = 0, 1, 2

PAGES = pa.schema(
    [
        pa.field("key", pa.int64()),
        pa.field("time", pa.int64()),
        pa.field("segment", pa.int32()),
        pa.field("row", pa.int64()),
        pa.field("kind", pa.int8()),
        pa.field("target", pa.int64()),
        pa.field("url", pa.string()),
    ]
)
LINKS = pa.schema(
    [
        pa.field("source", pa.int64()),
        pa.field("target", pa.int64()),
        pa.field("time", pa.int64()),
        pa.field("segment", pa.int32()),
    ]
)

_PASSED_OVER = pa.array([Outcome.NOT_MODIFIED.value, *RETRIED.listed], pa.string())


class Sizes(msgspec.Struct, frozen=True):
    """Rows of a segment."""

    pages: int
    links: int


def measure_segments(argument: tuple[str, Sequence[str]]) -> list[Sizes]:
    """Task: the size of segments, given their place and their names."""
    segments = open_segments(argument[0])
    return [Sizes(open_pages_once(segments, name).rows, open_links(segments, name).rows) for name in argument[1]]


def read_piece(task: Task) -> None:
    """Task: write the records of some segments, spread by key."""
    place, segments = task.open(), open_segments(task.segments)
    plan = task.plan(place)
    removed = Covered(plan.removed)
    with (
        PartWriter(place, task.own("pages"), plan.partitions) as pages,
        PartWriter(place, task.own("links"), plan.partitions) as links,
    ):
        for number in plan.pieces[task.number]:
            name = plan.segments[number]
            for table in page_records(open_pages_once(segments, name), number, removed):
                pages.add(table, range_of(column(table, "key"), plan.partitions))
            for table in link_records(open_links(segments, name), number):
                links.add(table, range_of(column(table, "source"), plan.partitions))


def page_records(pages: TableFile, segment: int, removed: Covered) -> Iterator[pa.Table]:
    """The outcome of each visit of a segment."""
    for group, table in enumerate(pages.groups(["url", "fetched_at", "outcome", "target"])):
        rows = np.arange(pages.starts[group], pages.starts[group] + table.num_rows)
        telling = pc.invert(pc.is_in(table.column("outcome"), _PASSED_OVER)).to_numpy(zero_copy_only=False)
        urls = table.column("url").to_pylist()
        kept = np.flatnonzero(telling & np.array([not removed(url) for url in urls], bool))
        urls = [urls[place] for place in kept]
        table = table.take(pa.array(kept))
        targets = table.column("target").to_pylist()
        is_document = pc.equal(table.column("outcome"), Outcome.DOCUMENT.value).to_numpy(zero_copy_only=False)
        leads = np.array([bool(target) for target in targets], bool)
        kinds = np.where(is_document, DOCUMENT, np.where(leads, LEADS, GONE))
        columns = [
            pa.array([key64(url) for url in urls], pa.int64()),
            table.column("fetched_at").cast(pa.int64()),
            pa.array(np.full(len(kept), segment, np.int32)),
            pa.array(rows[kept], pa.int64()),
            pa.array(kinds.astype(np.int8)),
            pa.array([key64(target) if target else 0 for target in targets], pa.int64()),
            # Only the address of a document is needed again.
            pa.array([url if kind == DOCUMENT else "" for url, kind in zip(urls, kinds, strict=True)], pa.string()),
        ]
        yield pa.Table.from_arrays(columns, schema=PAGES)


def link_records(links: TableFile, segment: int) -> Iterator[pa.Table]:
    """The links of a segment that may be followed, each once in a row group."""
    for table in links.groups(["source", "target", "rel", "fetched_at"]):
        table = table.filter(followed(table))
        sources, targets = keys_of(table, "source"), keys_of(table, "target")
        times = table.column("fetched_at").cast(pa.int64()).to_numpy()
        first = _first_of_each(sources, targets, times)
        first = first[sources[first] != targets[first]]
        numbers = np.full(len(first), segment, np.int32)
        columns = [sources[first], targets[first], times[first], numbers]
        yield pa.Table.from_arrays([pa.array(one) for one in columns], schema=LINKS)


def followed(table: pa.Table) -> pa.Array:
    """Whether each link may be followed: `nofollow` is one of its words or not."""
    words, numbers = _distinct(table, "rel")
    return pa.array(np.array(["nofollow" not in rel.split() for rel in words], bool)[numbers])


def keys_of(table: pa.Table, name: str) -> Ints:
    """The keys of a column of URLs, each URL hashed once."""
    urls, numbers = _distinct(table, name)
    found: Ints = np.array([key64(url) for url in urls], np.int64)[numbers]
    return found


def _distinct(table: pa.Table, name: str) -> tuple[list[str], NDArray[np.int32]]:
    """The different values of a column, and which of them each row has."""
    encoded = table.column(name).combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False)


def _first_of_each(sources: Ints, targets: Ints, times: Ints) -> NDArray[np.intp]:
    order = np.lexsort((times, targets, sources))
    new = np.ones(len(order), bool)
    if len(order):
        sources, targets, times = sources[order], targets[order], times[order]
        new[1:] = (sources[1:] != sources[:-1]) | (targets[1:] != targets[:-1]) | (times[1:] != times[:-1])
    return order[new]
