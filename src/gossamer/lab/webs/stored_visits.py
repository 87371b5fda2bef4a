"""The visits and links in the segments of a crawl, as columns: rows of URLs (`known_urls`) in place of URLs.

Segments are read group by group, and of each link only its ends are kept, if it was on the last version of its page and
may be followed.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.dedup.near.own import own_title
from gossamer.dedup.near.registry import DEFAULT, near_method
from gossamer.lab.webs.known_urls import KnownUrls
from gossamer.lab.webs.ragged import Ragged
from gossamer.lab.webs.web import NOWHERE, Floats, Ints
from gossamer.model.outcome import RETRIED, Outcome
from gossamer.store.segment_folder import Segments
from gossamer.store.segments import open_links, open_pages_once

_FAILURES = pa.array(RETRIED.listed, pa.string())
_KEPT = ["outcome", "status", "media_type", "content_hash", "size", "duration", "page_type"]
_READ = ["url", "fetched_at", "canonical", "target", "etag", "last_modified", *_KEPT]
_GROUPS, _PROCESSES, _FEW = 32, 2, 5_000
"""Texts are fingerprinted by two processes, so many row groups at a time, unless they are few."""
NEVER = int(np.iinfo(np.int64).max)
"""Later than any visit."""


class Visits(msgspec.Struct, frozen=True):
    """Every visit, sorted by URL and time. A visit is *telling* if it shows what the page is: it did not fail for the
    moment only, and the server did not just say "not modified"."""

    columns: pa.Table
    """`_KEPT`, and what follows."""
    row: Ints
    time: Ints
    """Microseconds since 1970."""
    canonical: Ints
    target: Ints
    validates: npt.NDArray[np.bool_]
    failed: npt.NDArray[np.bool_]
    telling: npt.NDArray[np.bool_]
    place: Ints
    """Number of the visit in the order of the files."""

    def last(self, urls: int) -> Ints:
        """The last telling visit of each URL, or the last one if none is; `NOWHERE` if there was none."""
        found = np.full(urls, NOWHERE, np.int64)
        found[self.row] = np.arange(len(self.row))
        telling = np.flatnonzero(self.telling)
        found[self.row[telling]] = telling
        return found

    def first_at(self, urls: int) -> Ints:
        """When each URL was first visited without failure; `NEVER` if it was not."""
        found = np.full(urls, NEVER)
        answered = np.flatnonzero(~self.failed)[::-1]
        found[self.row[answered]] = self.time[answered]
        return found

    def found_at(self, rows: Ints, until: Floats) -> Ints:
        """The time of the last telling visit to each of some URLs until a moment, in seconds; `NEVER` if none."""
        telling = np.flatnonzero(self.telling)
        row = np.concatenate((self.row[telling], rows))
        time = np.concatenate((self.time[telling], (until * 1e6).astype(np.int64)))
        asks = np.arange(len(row)) >= len(telling)
        order = np.lexsort((asks, time, row))
        latest = np.maximum.accumulate(np.where(asks[order], NOWHERE, np.arange(len(row))))
        before = np.where(latest == NOWHERE, order, order[latest])
        found = np.where((latest != NOWHERE) & (row[before] == row[order]), time[before], NEVER)
        answers = np.empty(len(row), np.int64)
        answers[order] = found
        return answers[len(telling) :]

    def changes(self, urls: int) -> Ragged:
        """Half-way between each visit that found another text and the visit before it: nobody knows when in between the
        page changed."""
        with_text = np.flatnonzero(pc.is_valid(self.columns["content_hash"]).to_numpy())
        texts = self.columns["content_hash"].combine_chunks().dictionary_encode()
        text = _one(texts).indices.fill_null(NOWHERE).to_numpy()[with_text]
        row = self.row[with_text]
        other = with_text[1:][(row[1:] == row[:-1]) & (text[1:] != text[:-1])]
        starts = np.searchsorted(self.row[other], np.arange(urls + 1))
        return Ragged(starts.astype(np.int64), (self.time[other] + self.time[other - 1]) / 2e6)


def read_visits(segments: Segments, names: Iterable[str], known: KnownUrls) -> Visits:
    """All visits to known URLs."""
    tables = []
    for name in names:
        for table in open_pages_once(segments, name).groups(_READ):
            validated = pc.or_(pc.is_valid(table["etag"]), pc.is_valid(table["last_modified"]))
            kept = table.select(_KEPT)
            for column in ("url", "canonical", "target"):
                kept = kept.append_column(column, pa.array(known.rows_of(table[column])))
            kept = kept.append_column("time", table["fetched_at"].cast(pa.int64()))
            tables.append(kept.append_column("validates", validated))
    if not tables:
        tables = [_EMPTY]
    columns = pa.concat_tables(tables).combine_chunks()
    row, time = _numbers(columns, "url"), _numbers(columns, "time")
    order = np.lexsort((time, row))
    order = order[row[order] != NOWHERE]
    columns = columns.take(pa.array(order))
    outcome = columns["outcome"]
    failed = pc.is_in(outcome, _FAILURES).to_numpy()
    unchanged = pc.equal(outcome, Outcome.NOT_MODIFIED.value).to_numpy()
    return Visits(
        columns.select(_KEPT), row[order], time[order], _numbers(columns, "canonical"), _numbers(columns, "target"),
        _numbers(columns, "validates") | unchanged, failed, ~failed & ~unchanged, order,
    )  # fmt: skip


class Sighted(msgspec.Struct, frozen=True):
    """When and where links to each URL were first seen."""

    at: Ints
    """`NEVER` where none was."""
    on: Ints
    """Row of the page."""


def read_links(segments: Segments, names: Iterable[str], known: KnownUrls, last_at: Ints) -> tuple[Ragged, Sighted]:
    """The followed links of each page's last version, which was fetched `last_at`, each target once; and when links
    to each URL were first seen on any version."""
    sighted = Sighted(np.full(len(known), NEVER), np.full(len(known), NOWHERE, np.int64))
    sources, targets = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for name in names:
        for table in open_links(segments, name).groups(["source", "target", "rel", "fetched_at"]):
            source, target = known.rows_of(table["source"]), known.rows_of(table["target"])
            time = _numbers(table.append_column("time", table["fetched_at"].cast(pa.int64())), "time")
            inside = (source != NOWHERE) & (target != NOWHERE) & (source != target)
            _sight(sighted, source[inside], target[inside], time[inside])
            followed = pc.invert(pc.match_substring(table["rel"], "nofollow")).to_numpy()
            here = inside & followed & (time == last_at[source])
            sources.append(source[here].astype(np.int32))
            targets.append(target[here].astype(np.int32))
    return _each_once(len(known), np.concatenate(sources), np.concatenate(targets)), sighted


def _sight(sighted: Sighted, source: Ints, target: Ints, time: Ints) -> None:
    order = np.lexsort((time, target))
    first = order[np.diff(target[order], prepend=NOWHERE) != 0]
    earlier = first[time[first] < sighted.at[target[first]]]
    sighted.at[target[earlier]], sighted.on[target[earlier]] = time[earlier], source[earlier]


def _each_once(rows: int, sources: npt.NDArray[np.int32], targets: npt.NDArray[np.int32]) -> Ragged:
    """Links as lists, in the order of the page; of several to the same target the first."""
    pairs = sources.astype(np.int64) << 32 | targets
    _, first = np.unique(pairs, return_index=True)
    first.sort()
    order = first[np.argsort(sources[first], kind="stable")]
    starts = np.searchsorted(sources[order], np.arange(rows + 1))
    return Ragged(starts.astype(np.int64), targets[order].astype(np.int64))


def read_fingerprints(segments: Segments, names: Iterable[str], wanted: Ints) -> list[bytes]:
    """Fingerprints of the stored texts of visits, by the numbers of these, which rise; empty where there is none."""
    tasks, before = [], 0
    for name in names:
        file = open_pages_once(segments, name)
        ends = wanted.searchsorted(before + np.array(file.starts))
        for first in range(0, len(file.starts) - 1, _GROUPS):
            groups = range(first, min(first + _GROUPS, len(file.starts) - 1))
            rows = [wanted[ends[group] : ends[group + 1]] - before - file.starts[group] for group in groups]
            tasks.append((segments, name, first, rows))
        before += file.rows
    if len(wanted) <= _FEW:
        return [one for task in tasks for one in _fingerprints(task)]
    with ProcessPoolExecutor(_PROCESSES, get_context("spawn")) as pool:
        return [one for found in pool.map(_fingerprints, tasks) for one in found]


def _fingerprints(task: tuple[Segments, str, int, list[Ints]]) -> list[bytes]:
    """Of the wanted rows of some groups of a segment."""
    segments, name, first, wanted = task
    near, file = near_method(DEFAULT), open_pages_once(segments, name)
    found: list[bytes] = []
    for group, rows in enumerate(wanted, start=first):
        if len(rows):
            pages = file.read_group(group, ["text", "title", "page_type"]).take(pa.array(rows)).to_pylist()
            found += [
                near.fingerprint(page["text"], own_title(page["title"] or "", page["page_type"] or ""))
                if page["text"] else b"" for page in pages
            ]  # fmt: skip
    return found


_EMPTY = pa.table(
    {
        **{name: pa.array([], pa.string()) for name in ("outcome", "media_type", "content_hash", "page_type")},
        **{name: pa.array([], pa.int64()) for name in ("status", "size", "url", "canonical", "target", "time")},
        "duration": pa.array([], pa.float64()),
        "validates": pa.array([], pa.bool_()),
    }
)


def _numbers(table: pa.Table, column: str) -> Ints:
    numbers: Ints = table[column].to_numpy()
    return numbers


def _one(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
