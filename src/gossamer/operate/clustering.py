"""Near duplicates among the stored pages by any of the methods, to compare with what the crawl decided.

The clusters of a crawl are kept by the frontier, page by page, with the method of the settings.
Here the whole collection is read once more (twice for methods that need its word statistics) and
clustered by the same rule: a page joins the founder it is most like, or founds a cluster.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

import msgspec

from gossamer.data import exporting
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.dedup.near.contract import NearMethod
from gossamer.dedup.near.registry import NEED_STATISTICS, near_method
from gossamer.dedup.near.statistics import gather

_CANDIDATES = 64
"""Clusters looked at for each lookup key, the newest first, as while crawling."""


class Comparison(msgspec.Struct):
    """The clusters of a method, and where the crawl's own differ."""

    method: str
    pages: int
    compared: int
    """Pages long enough to be compared."""
    clusters: list[list[str]]
    """URLs of the clusters with more than one page, the largest first."""
    only_here: int
    """Pages that have a like by this method, and none by the crawl."""
    only_there: int
    """Pages that have a like by the crawl, and none by this method."""


def compare(folder: DataFolder, db: Database, name: str) -> Comparison:
    """Cluster all documents of a crawl by a method."""

    def pages() -> Iterator[tuple[str, str, int | None]]:
        for table in exporting.pages(folder, db)[1]:
            columns = (table.column(field).to_pylist() for field in ("url", "text", "cluster"))
            yield from ((url, text or "", cluster) for url, text, cluster in zip(*columns, strict=True))

    method = _method(name, lambda: (text for _, text, _ in pages()))
    found = Leaders(method)
    kept: dict[int, list[str]] = defaultdict(list)
    total = 0
    for url, text, cluster in pages():
        total += 1
        found.add(url, text)
        if cluster is not None:
            kept[cluster].append(url)
    here = {url for urls in found.several() for url in urls}
    there = {url for urls in kept.values() if len(urls) > 1 for url in urls}
    return Comparison(name, total, found.compared, found.several(), len(here - there), len(there - here))


def _method(name: str, texts: Callable[[], Iterable[str]]) -> NearMethod:
    return near_method(name, gather(texts()) if name in NEED_STATISTICS else None)


class Leaders:
    """Clusters that grow page by page, each around its founder."""

    def __init__(self, method: NearMethod) -> None:
        self._method = method
        self._founders: list[bytes] = []
        self._members: list[list[str]] = []
        self._by_key: dict[int, list[int]] = defaultdict(list)
        self.compared = 0

    def add(self, url: str, text: str) -> int | None:
        """The number of the page's cluster; None where it is too short to compare."""
        fingerprint = self._method.fingerprint(text)
        if not fingerprint:
            return None
        self.compared += 1
        keys = self._method.keys(fingerprint)
        near = {number for key in keys for number in self._by_key[key][-_CANDIDATES:]}
        alike = [(-self._method.similarity(fingerprint, self._founders[number]), number) for number in near]
        alike = [one for one in alike if -one[0] >= self._method.threshold]
        if alike:
            number = min(alike)[1]
        else:
            number = len(self._founders)
            self._founders.append(fingerprint)
            self._members.append([])
            for key in set(keys):
                self._by_key[key].append(number)
        self._members[number].append(url)
        return number

    def several(self) -> list[list[str]]:
        """The clusters with more than one page, the largest first."""
        return sorted((urls for urls in self._members if len(urls) > 1), key=lambda urls: (-len(urls), urls))
