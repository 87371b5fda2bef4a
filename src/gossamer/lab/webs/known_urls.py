"""The URL table of a crawl as columns: the data of each URL for a recording, and its row.

Rows are in the order in which URLs were found. Keys are hashes; that two of the same crawl are equal is as good as
impossible (3e-6 with ten million URLs), and would cost one URL.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gossamer.database.database import Database
from gossamer.frontier.views.site_urls import found_rows
from gossamer.lab.webs.web import NOWHERE, Floats, Ints
from gossamer.model.records import Kind, Via
from gossamer.model.site import key64

KINDS = {Kind.PAGE.value: 0, Kind.SITEMAP.value: 1, Kind.FEED.value: 2}
_VIAS = {via.value: number for number, via in enumerate(Via)}


class KnownUrls(msgspec.Struct, frozen=True):
    """All columns have one entry per URL."""

    urls: list[str]
    kind: npt.NDArray[np.int8]
    via: npt.NDArray[np.int8]
    found_at: Floats
    found_on: Ints
    """Row of the page, feed or sitemap that named it first; `NOWHERE` if none is known."""
    announced_at: Floats
    """When a feed or news sitemap says it was published, if that was news to the crawl; else NaN."""
    _keys: Ints
    _order: Ints

    def __len__(self) -> int:
        return len(self.urls)

    def is_via(self, via: Via) -> npt.NDArray[np.bool_]:
        """Which URLs were first found that way."""
        found: npt.NDArray[np.bool_] = self.via == _VIAS[via.value]
        return found

    def rows(self, keys: Ints) -> Ints:
        """The rows of URLs by their keys; `NOWHERE` for those that are not in the table."""
        return _places(self._keys, self._order, keys)

    def rows_of(self, column: pa.ChunkedArray) -> Ints:
        """The same for a column of URLs, each of which is looked up once; nulls are nowhere."""
        encoded = column.combine_chunks().dictionary_encode()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        rows = self.rows(keys_of(encoded.dictionary.to_pylist()))
        places = encoded.indices.fill_null(len(rows)).to_numpy(zero_copy_only=False)
        found: Ints = np.append(rows, NOWHERE)[places]
        return found


def read_known(db: Database) -> KnownUrls:
    """The whole table, except for removed URLs."""
    urls: list[str] = []
    keys, finders, kinds, vias = array("q"), array("q"), array("b"), array("b")
    found, announced = array("d"), array("d")
    for key, url, kind, via, found_at, found_key, announced_at in found_rows(db):
        urls.append(url)
        keys.append(key)
        finders.append(found_key or 0)
        kinds.append(KINDS[kind])
        vias.append(_VIAS[via])
        found.append(found_at)
        announced.append(np.nan if announced_at is None else announced_at)
    columns = [np.array(column) for column in (keys, finders, kinds, vias, found, announced)]
    order = np.argsort(columns[4], kind="stable")  # tables are read in the order in which they were written
    own, finder, kind_of, via_of, found_at, announced_at = (column[order] for column in columns)
    by_key = np.argsort(own)
    return KnownUrls(
        [urls[place] for place in order.tolist()], kind_of, via_of, found_at,
        _places(own[by_key], by_key, finder), announced_at, own[by_key], by_key,
    )  # fmt: skip


def keys_of(urls: Iterable[str]) -> Ints:
    """The keys of some URLs."""
    return np.fromiter(map(key64, urls), np.int64)


def _places(sorted_keys: Ints, order: Ints, keys: Ints) -> Ints:
    if not len(sorted_keys):
        return np.full(len(keys), NOWHERE, np.int64)
    found = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return np.where(sorted_keys[found] == keys, order[found], NOWHERE)
