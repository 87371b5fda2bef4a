"""The link graph of a site, read from the segments: each page with the links of its latest version.

Only segments that hold pages of the site are read. Two numbers are kept of a link: the places of its ends in the
table's
columns (`scope.proposals`). Links that the segments do not hold come from the table: targets of redirects and canonical
links, and for pages without stored links the URLs that were first found on them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.frontier.views.inspect import place_of
from gossamer.model.site import key64, site_of
from gossamer.scope.reachability import Graph
from gossamer.store.durable import SegmentMissingError
from gossamer.store.segments import open_links

Keys = npt.NDArray[np.int64]

_COLUMNS = ["source", "target", "rel", "fetched_at"]
_TRIES = 5
"""How often to read the segments again after one was merged meanwhile."""


class Ends(msgspec.Struct):
    """Links between URLs of one site, by their keys, as far as the table knows them."""

    sources: array[int] = msgspec.field(default_factory=lambda: array("q"))
    targets: array[int] = msgspec.field(default_factory=lambda: array("q"))

    def add(self, source: int, target: int) -> None:
        """One more link."""
        self.sources.append(source)
        self.targets.append(target)


class SiteLinks:
    """Collects the links of one site, and makes a graph of them."""

    def __init__(self, keys: Keys, limit: int) -> None:
        """`keys`: of the site's URLs, in the order of the columns."""
        self._order = np.argsort(keys)
        self._sorted = keys[self._order]
        self._room = limit
        self._pieces: list[tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int64]]] = []

    def places(self, keys: Keys) -> npt.NDArray[np.int32]:
        """Places of URLs in the columns, -1 for unknown ones."""
        if not len(self._sorted):
            return np.full(len(keys), -1, np.int32)
        found = np.minimum(np.searchsorted(self._sorted, keys), len(self._sorted) - 1)
        return np.where(self._sorted[found] == keys, self._order[found], -1).astype(np.int32)

    def add(self, sources: Keys, targets: Keys, times: npt.NDArray[np.int64]) -> None:
        """Links with the times at which their pages were visited; those that lead out of the table are dropped."""
        ends = self.places(sources), self.places(targets)
        inside = np.flatnonzero((ends[0] >= 0) & (ends[1] >= 0))[: self._room]
        self._room -= len(inside)
        self._pieces.append((ends[0][inside], ends[1][inside], times[inside]))

    def graph(self, known: Ends, found: Ends) -> Graph:
        """The graph: `known` links always count, `found` ones only if their page has no stored links."""
        pages = len(self._sorted)
        stored = [np.concatenate(column) if self._pieces else np.empty(0) for column in self._columns()]
        sources, targets, times = (column.astype(np.int64) for column in stored)
        latest = np.full(pages, np.iinfo(np.int64).min)
        np.maximum.at(latest, sources, times)
        now = times == latest[sources]
        unstored = np.ones(pages, bool)
        unstored[sources] = False
        links = [(sources[now], targets[now]), self._inside(known)]
        first = self._inside(found)
        links.append((first[0][unstored[first[0]]], first[1][unstored[first[0]]]))
        return Graph(pages, *(np.concatenate(ends) for ends in zip(*links, strict=True)))

    def _columns(self) -> list[tuple[npt.NDArray[np.int64], ...]]:
        return list(zip(*self._pieces, strict=True)) if self._pieces else [(), (), ()]

    def _inside(self, ends: Ends) -> tuple[Keys, Keys]:
        sources, targets = (self.places(np.array(keys, np.int64)) for keys in (ends.sources, ends.targets))
        inside = (sources >= 0) & (targets >= 0)
        return sources[inside].astype(np.int64), targets[inside].astype(np.int64)


LinksOf = Callable[[Database, str, Keys, Iterable[str], int], SiteLinks]
"""Reads the links of a site, as `read_links` does, wherever they are."""


def stored_in(folder: DataFolder) -> LinksOf:
    """The links in the segments of a data folder."""
    return partial(read_links, folder)


def read_links(
    folder: DataFolder, db: Database, site: str, keys: Keys, segments: Iterable[str], limit: int
) -> SiteLinks:
    """The stored links of a site, given the keys of its URLs and the segments that hold its pages."""
    segments = sorted(segments)
    for _ in range(_TRIES - 1):
        try:
            return _read(folder, db, site, keys, segments, limit)
        except SegmentMissingError:
            continue
    return _read(folder, db, site, keys, segments, limit)


def _read(folder: DataFolder, db: Database, site: str, keys: Keys, segments: Sequence[str], limit: int) -> SiteLinks:
    links = SiteLinks(keys, limit)
    places = {place[0] for segment in segments if (place := place_of(db, segment, 0)) is not None}
    for segment in sorted(places):
        for table in open_links(folder.segments, segment).groups(_COLUMNS):
            _add_group(table, site, links)
    return links


def _add_group(table: pa.Table, site: str, links: SiteLinks) -> None:
    """The links of one row group that are on pages of the site and may be followed."""
    names, place = _distinct(table, "source")
    own = np.array([site_of(name) == site for name in names], bool)
    followed = pc.invert(pc.match_substring(table.column("rel"), "nofollow")).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(own[place] & followed) if len(names) else np.empty(0, np.int64)
    if len(rows):
        here = table if len(rows) == table.num_rows else table.take(pa.array(rows))
        sources = np.array([key64(name) for name in names], np.int64)[place[rows]]
        times = here.column("fetched_at").cast(pa.int64()).to_numpy()
        links.add(sources, _keys(here, "target"), times)


def _distinct(table: pa.Table, column: str) -> tuple[list[str], npt.NDArray[np.int32]]:
    """The different values of a column, and which of them each row has."""
    encoded = table.column(column).combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False)


def _keys(table: pa.Table, column: str) -> Keys:
    values, place = _distinct(table, column)
    keys: Keys = np.array([key64(value) for value in values], np.int64)[place]
    return keys
