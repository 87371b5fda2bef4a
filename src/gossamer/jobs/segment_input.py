"""Shared by the jobs over stored pages: segments cut into balanced groups, and the present version of each document.

`newest_pages` sorts the documents of the URL table by the group of their segment; a task then reads one group
(`PageSource.tables`), each page once and in the present version. Row groups without such a page are not read.

A segment that cannot be read costs its own pages and nothing else: they are counted, with the segment's name. One that
was
merged into another while the job ran is read there (`run_over_pages`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import msgspec
import numpy as np
import pyarrow as pa

from gossamer.engine.exchange import write_parts
from gossamer.errors import CorruptError, UsageError
from gossamer.frontier.views.segments import LiveSegment, follow, live_segments, merged_segments
from gossamer.jobs.context import JobContext, get_table, numbered, part_table, run_stage
from gossamer.jobs.url_table import export_urls
from gossamer.store.durable import SegmentMissingError
from gossamer.store.place import open_place
from gossamer.store.remote_segments import open_segments
from gossamer.store.segments import TableFile, open_links, open_pages_once

BYTES_OF_A_GROUP = 200_000_000
"""Bytes of segments, raw responses included, that one task reads."""
CARRIED = ("key", "site_id", "live_cluster", "live_pages", "seen_at", "named")
"""Columns of the URL table for a page, beside those of its segment."""
_PLACES = pa.schema(
    [
        ("segment", pa.string()),
        ("row", pa.int64()),
        ("key", pa.int64()),
        ("site_id", pa.int64()),
        ("live_cluster", pa.int64()),
        ("live_pages", pa.int64()),
        ("seen_at", pa.float64()),
        ("named", pa.int64()),
    ]
)
_ROUNDS = 5
"""How often to look again for pages whose segments were merged meanwhile."""


class Unread(msgspec.Struct, frozen=True, order=True):
    """Pages of a segment that could not be read, and why."""

    segment: str
    pages: int
    problem: str
    is_missing: bool = False


def balanced(segments: Sequence[LiveSegment], groups: int) -> list[list[str]]:
    """Segments in groups of about the same size, each in order; never an empty one."""
    found: list[list[str]] = [[] for _ in range(min(groups, len(segments)))]
    sizes = [0] * len(found)
    for segment in sorted(segments, key=lambda one: (-one.bytes, one.id)):
        smallest = min(range(len(found)), key=lambda group: (sizes[group], group))
        found[smallest].append(segment.id)
        sizes[smallest] += max(1, segment.bytes)
    return [sorted(group) for group in found]


def segment_groups(context: JobContext) -> list[list[str]]:
    """All current segments, cut for the engine; raises a `UsageError` if nothing is stored."""
    segments = live_segments(context.db)
    if not segments:
        raise UsageError("nothing is stored yet: run `gossamer crawl` first")
    size = sum(segment.bytes for segment in segments)
    return balanced(segments, context.parts_for(size, BYTES_OF_A_GROUP))


class _SortTask(msgspec.Struct, frozen=True):
    work: str
    file: str
    name: str
    groups: list[list[str]]


class NewestPages(msgspec.Struct, frozen=True):
    """All documents, cut by segment."""

    sources: list[PageSource]
    """One for each task."""
    documents: int


def newest_pages(context: JobContext) -> NewestPages:
    """The present version of each document, cut into groups of segments."""
    groups = segment_groups(context)
    urls = export_urls(context, documents_only=True)
    names = [numbered("places", number) for number in range(len(urls.names))]
    tasks = [_SortTask(context.work, *pair, groups) for pair in zip(urls.names, names, strict=True)]
    unknown = any(run_stage(context, "sorting documents", _sort_documents, tasks))
    # A last group holds documents in segments that are not in the list.
    count = len(groups) + unknown
    return NewestPages([PageSource(context.work, context.segments, names, group) for group in range(count)], urls.rows)


def _sort_documents(task: _SortTask) -> bool:
    """Task: documents to the tasks that read their segments; returns whether some are in none of those."""
    place = open_place(task.work)
    urls = get_table(place, task.file)
    names = ("segment", "row", "key", "site_id", "cluster", "cluster_pages", "seen_at", "named")
    table = pa.Table.from_arrays([urls.column(name) for name in names], schema=_PLACES)
    group_of = {segment: number for number, group in enumerate(task.groups) for segment in group}
    numbers = [group_of.get(segment, len(task.groups)) for segment in table.column("segment").to_pylist()]
    write_parts(place, task.name, table, np.array(numbers, np.int32), len(task.groups) + 1)
    return len(task.groups) in numbers


class PageSource(msgspec.Struct, frozen=True):
    """The documents of some segments; small enough to be a task's argument."""

    work: str
    segments: str
    files: list[str]
    group: int
    moved: dict[str, tuple[str, int]] = {}
    """Segments that were merged into others since."""

    def tables(self, columns: Sequence[str], unread: list[Unread]) -> Iterator[pa.Table]:
        """The pages with these columns and those `CARRIED`, one row group at a time; unreadable ones are added to
        `unread`."""
        for segment, places in self._by_segment():
            try:
                file = open_pages_once(open_segments(self.segments), segment)
            except CorruptError as error:
                unread.append(Unread(segment, places.num_rows, str(error), isinstance(error, SegmentMissingError)))
                continue
            yield from _pages_of(file, segment, places, columns, unread)

    def _by_segment(self) -> Iterator[tuple[str, pa.Table]]:
        places = _moved(part_table(open_place(self.work), self.files, self.group, _PLACES), self.moved)
        places = places.sort_by([("segment", "ascending"), ("row", "ascending")])
        names = places.column("segment").to_pylist()
        start = 0
        for end in range(1, len(names) + 1):
            if end == len(names) or names[end] != names[start]:
                yield names[start], places.slice(start, end - start)
                start = end


def _moved(places: pa.Table, moved: dict[str, tuple[str, int]]) -> pa.Table:
    if not moved:
        return places
    pairs = zip(places.column("segment").to_pylist(), places.column("row").to_pylist(), strict=True)
    found = [follow(moved, *pair) for pair in pairs]
    for number, name in enumerate(("segment", "row")):
        field = _PLACES.field(name)
        places = places.set_column(number, field, pa.array([pair[number] for pair in found], field.type))
    return places


def _pages_of(
    file: TableFile, segment: str, places: pa.Table, columns: Sequence[str], unread: list[Unread]
) -> Iterator[pa.Table]:
    rows = places.column("row").to_numpy()
    ends = np.searchsorted(rows, file.starts[1:])
    if beyond := len(rows) - (int(ends[-1]) if len(ends) else 0):
        unread.append(Unread(segment, beyond, f"{file.path} is damaged: it has {file.rows} rows, but should have more"))
    start = 0
    for group, end in enumerate(ends.tolist()):
        if end == start:
            continue
        here, start = places.slice(start, end - start), end
        try:
            table = file.read_group(group, columns)
        except CorruptError as error:
            unread.append(Unread(segment, here.num_rows, str(error)))
            continue
        table = table.take(pa.array(here.column("row").to_numpy() - file.starts[group]))
        for name in CARRIED:
            table = table.append_column(_PLACES.field(name), here.column(name))
        yield table


class PageResult(Protocol):
    """The result of a task over pages, with the pages that it could not read."""

    @property
    def unread(self) -> Sequence[Unread]:
        """Pages that were left out."""
        ...


A = TypeVar("A")
R = TypeVar("R", bound=PageResult)


def run_over_pages(
    context: JobContext,
    stage: str,
    function: Callable[[A], R],
    sources: Sequence[Any],
    argument: Callable[[int, Any], A],
) -> list[R]:
    """Run a task for each source. If a segment was merged into another before its task came to it, the task is run
    again with the present state of the database, and its files are written anew."""
    sources = list(sources)
    results = run_stage(context, stage, function, [argument(*pair) for pair in enumerate(sources)])
    for _ in range(_ROUNDS):
        missing = {one.segment for result in results for one in result.unread if one.is_missing}
        moved = merged_segments(context.db) if missing else {}
        again = [
            number
            for number, result in enumerate(results)
            if any(one.is_missing and one.segment in moved for one in result.unread)
        ]
        if not again:
            break
        for number in again:
            sources[number] = msgspec.structs.replace(sources[number], moved=moved)
        redone = run_stage(context, stage, function, [argument(number, sources[number]) for number in again])
        for number, result in zip(again, redone, strict=True):
            results[number] = result
    return results


class LinkSource(msgspec.Struct, frozen=True):
    """The links of some segments."""

    segments: str
    ids: list[str]
    moved: dict[str, tuple[str, int]] = {}

    def tables(self, columns: Sequence[str], unread: list[Unread]) -> Iterator[pa.Table]:
        """The links, one row group at a time."""
        for segment in dict.fromkeys(follow(self.moved, one, 0)[0] for one in self.ids):
            try:
                yield from open_links(open_segments(self.segments), segment).groups(columns)
            except CorruptError as error:
                unread.append(Unread(segment, 0, str(error), isinstance(error, SegmentMissingError)))


def all_unread(results: Sequence[PageResult]) -> list[Unread]:
    """Pages that all tasks left out, by segment."""
    return sorted({one for result in results for one in result.unread})
