"""The ranked pages of a data folder: the best ones, a random sample, or all of them as a file."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from gossamer.errors import UsageError
from gossamer.jobs.anchor_texts import anchor_texts
from gossamer.jobs.graph_files import GraphFiles, RankFiles, nodes_name, read_current
from gossamer.store.durable import storing
from gossamer.store.place import Place, PlaceMissing

MOST_PAGES = 500_000
"""Pages whose URLs are sampled."""
PAGES_OF_A_SITE = 4000
"""The same for each site."""
_ROWS = 65_536
_FORM = pa.schema([pa.field("url", pa.string()), pa.field("key", pa.int64()), pa.field("rank", pa.float64())])


class RankedPage(msgspec.Struct, frozen=True):
    """A page with its rank, or its value as a hub or authority."""

    url: str
    rank: float
    text: str = ""
    """The most frequent text of links to it."""


class RankedSite(msgspec.Struct, frozen=True):
    """A site with its rank."""

    site: str
    rank: float


class RankedPages:
    """The current graph and ranks."""

    def __init__(self, place: Place) -> None:
        """Raises a `UsageError` if there are no ranks yet."""
        found = read_current(place)
        if found is None:
            raise UsageError("there are no link ranks yet: run `gossamer rank`")
        self.ranks: RankFiles = found
        try:
            self.graph = GraphFiles(place, found.info.graph)
        except PlaceMissing as error:
            raise UsageError("the link graph of these ranks is gone: run `gossamer rank`") from error

    def best(self, count: int) -> list[RankedPage]:
        """The pages with the highest ranks."""
        return self._pages(highest(np.asarray(self.ranks.ranks()), count), self.ranks.ranks())

    def best_sites(self, count: int) -> list[RankedSite]:
        """The sites with the highest ranks."""
        ordered = sorted(self.ranks.hosts().items(), key=lambda one: (-one[1], one[0]))
        return [RankedSite(*one) for one in ordered[:count]]

    def by_lot(self, seed: int, most: int = MOST_PAGES) -> list[tuple[str, float]]:
        """A random sample of URLs and ranks, with a limit for each site."""
        nodes = _drawn(self.graph.site_numbers(), most, seed)
        ranks = self.ranks.ranks()[nodes].tolist()
        return sorted(zip(self.graph.urls(nodes), ranks, strict=True))

    def write(self, target: Path) -> int:
        """Write all pages to a file and return their number: Parquet by the file's name, else lines of URL, tab and
        rank, compressed if the name ends in .gz."""
        with storing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.suffix == ".parquet":
                with pq.ParquetWriter(target, _FORM, compression="zstd") as writer:
                    for table in self._tables():
                        writer.write_table(table)
            else:
                with _text_file(target) as file:
                    for table in self._tables():
                        columns = (table.column(name).to_pylist() for name in ("url", "rank"))
                        file.writelines(f"{url}\t{rank!r}\n" for url, rank in zip(*columns, strict=True))
        return self.graph.info.nodes

    def _pages(self, nodes: NDArray[np.int64], values: NDArray[np.float64]) -> list[RankedPage]:
        shown = zip(self.graph.urls(nodes), values[nodes].tolist(), nodes.tolist(), strict=True)
        return [RankedPage(url, value, self.text_of(node)) for url, value, node in shown]

    def text_of(self, node: int) -> str:
        """The most frequent text of links to a page."""
        texts = anchor_texts(self.graph, node)
        return texts[0].text if texts else ""

    def _tables(self) -> Iterator[pa.Table]:
        first = 0
        for block in range(len(self.graph.info.blocks)):
            with pq.ParquetFile(self.graph.place.path(nodes_name(self.graph.prefix, block))) as file:
                for batch in file.iter_batches(_ROWS):
                    ranks = self.ranks.ranks()[first : first + batch.num_rows]
                    columns = [batch.column("url"), batch.column("key"), pa.array(ranks)]
                    yield pa.Table.from_arrays(columns, schema=_FORM)
                    first += batch.num_rows


def _text_file(target: Path) -> IO[str]:
    if target.suffix == ".gz":
        return gzip.open(target, "wt", encoding="utf-8")
    return target.open("w", encoding="utf-8")


def highest(values: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Indices of the highest values, the highest first."""
    count = min(count, len(values))
    if not count:
        return np.empty(0, np.int64)
    chosen = np.argpartition(-values, count - 1)[:count]
    order: NDArray[np.int64] = chosen[np.lexsort((chosen, -values[chosen]))]
    return order


def _drawn(sites: NDArray[np.int32], most: int, seed: int) -> NDArray[np.int64]:
    mixed = np.random.default_rng(seed).permutation(len(sites))
    order = mixed[np.argsort(np.asarray(sites)[mixed], kind="stable")]
    _, first, numbers = np.unique(np.asarray(sites)[order], return_index=True, return_inverse=True)
    within = np.arange(len(order)) - first[numbers]
    kept = order[within < PAGES_OF_A_SITE]
    return kept if len(kept) <= most else np.random.default_rng(seed).choice(kept, most, replace=False)
