"""Reads documents from the segments for the index: only pages that are documents by the table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.frontier import changes
from gossamer.frontier.views.inspect import place_of
from gossamer.index.document import ROW_COLUMNS, IndexPage, page_of
from gossamer.model.site import key64, site_of
from gossamer.store.durable import SegmentMissingError
from gossamer.store.segments import open_links, open_pages
from gossamer.store.telling_links import telling_links

T = TypeVar("T")

_TRIES = 5
"""How often to look again for a segment that was merged while it was read."""


class StoredRows:
    """The stored pages of a data folder."""

    def __init__(self, folder: DataFolder, db: Database) -> None:
        self._segments, self._db = folder.segments, db
        # Small segments that were merged are in one row group, which is decoded once.
        self._group = lru_cache(maxsize=4)(self._read_group)

    def documents(self, segment: changes.NewSegment) -> list[IndexPage]:
        """Pages of a segment that are documents now, in this very version."""
        return self._again_if_merged(lambda: list(self._documents(segment)))

    def newest(self, urls: Iterable[str]) -> list[IndexPage]:
        """The present version of those URLs that are documents."""
        return self._again_if_merged(lambda: list(self._newest(urls)))

    def links(self, segment: str) -> Iterator[tuple[str, str]]:
        """Target and text of the links of a segment, each pair once per row group."""
        for table in open_links(self._segments, segment).groups():
            yield from telling_links(table)

    def _documents(self, segment: changes.NewSegment) -> Iterator[IndexPage]:
        place = place_of(self._db, segment.id, 0)
        if place is None:  # withdrawn
            return
        name, first = place
        for start, table in self._groups(name, first, first + segment.pages):
            table = table.append_column("row", pa.array(range(start - first, start - first + table.num_rows)))
            table = table.filter(pc.equal(table.column("outcome"), "document"))
            rows = table.to_pylist()
            current = self._current(row["url"] for row in rows)
            yield from (page_of(row) for row in rows if current.get(key64(row["url"])) == (segment.id, row["row"]))

    def _newest(self, urls: Iterable[str]) -> Iterator[IndexPage]:
        wanted: dict[str, list[int]] = defaultdict(list)
        for segment, row in self._current(urls).values():
            place = place_of(self._db, segment, row)
            if place is not None:
                wanted[place[0]].append(place[1])
        for name, rows in sorted(wanted.items()):
            for start, table in self._groups(name, min(rows), max(rows) + 1):
                here = [row - start for row in sorted(rows) if start <= row < start + table.num_rows]
                yield from map(page_of, table.take(pa.array(here, pa.int64())).to_pylist())

    def _groups(self, name: str, first: int, end: int) -> Iterator[tuple[int, pa.Table]]:
        """Rows `first` to `end`, row group by row group, each with the number of its first row."""
        starts = open_pages(self._segments, name).starts
        for group, start in enumerate(starts[:-1]):
            low, high = max(start, first), min(starts[group + 1], end)
            if low < high:
                yield low, self._group(name, group).slice(low - start, high - low)

    def _read_group(self, name: str, group: int) -> pa.Table:
        return open_pages(self._segments, name).read_group(group, ["outcome", *ROW_COLUMNS])

    def _current(self, urls: Iterable[str]) -> dict[int, tuple[str, int]]:
        """Key → place of the present version, for those URLs that are documents."""
        sites: dict[int, list[int]] = defaultdict(list)
        for url in urls:
            sites[key64(site_of(url))].append(key64(url))
        found: dict[int, tuple[str, int]] = {}
        for site_id, keys in sorted(sites.items()):
            found |= changes.documents(self._db, site_id, keys)
        return found

    def _again_if_merged(self, read: Callable[[], T]) -> T:
        for _ in range(_TRIES - 1):
            try:
                return read()
            except SegmentMissingError:
                self._group.cache_clear()
        return read()
