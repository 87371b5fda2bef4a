"""The files of a link graph and of the ranks computed from it.

    graph/<generation>/
      graph.json                  GraphInfo; written last: a graph without it does not count
      keys.npy                    int64, ascending: the key of each node's URL; a node's number is its place here
      sites.npy  sites.json       int32: number of each node's site; the names of the sites
      out.npy                     int32: pages each node links to, itself not counted
      block-00000.indptr.npy      int64: where the links to each node of the block begin, and the end of the last
      block-00000.sources.npy     int32: the nodes that link to it, ascending
      nodes-00000.parquet         key, url of the block's nodes, in their order
    ranks/<generation>/
      info.json keys.npy ranks.npy hosts.json
    ranks/current                 the current generation; written last

Links are sorted by target, since a rank is a sum over the links to a page: a block of nodes is computed without another
block's links. Arrays are mapped, not read, so a graph may be larger than the memory.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import ArrayLike, NDArray

from gossamer.errors import CorruptError
from gossamer.store.place import Place, PlaceMissing

Ints = NDArray[np.int64]
Numbers = NDArray[np.int32]
Floats = NDArray[np.float64]
T = TypeVar("T")

CURRENT = "ranks/current"
_ROWS_OF_A_GROUP = 65_536
"""URLs that are read to find one of them."""


class GraphInfo(msgspec.Struct, frozen=True):
    """The parts of a graph."""

    nodes: int
    edges: int
    blocks: list[int]
    """First node of each block, ascending, the first 0."""
    made_at: float
    """Seconds since 1970."""
    segments: int
    sites: int


class Block(msgspec.Struct, frozen=True):
    """The links to a run of nodes."""

    first: int
    """Its first node."""
    indptr: Ints
    sources: Numbers

    @property
    def rows(self) -> int:
        """Nodes."""
        return len(self.indptr) - 1


class RankInfo(msgspec.Struct, frozen=True):
    """How ranks were computed, and how well."""

    form: str
    """`normalised`, or `paper`: see `graph.pagerank`."""
    damping: float
    tolerance: float
    iterations: int
    residual: float
    """Mean change of a page's rank in the last iteration."""
    converged: bool
    pages: int
    made_at: float
    """Seconds since 1970."""
    warm: bool
    """Started from earlier ranks."""
    graph: str
    """Prefix of the graph's files."""


class GraphFiles:
    """A graph in a place."""

    def __init__(self, place: Place, prefix: str) -> None:
        self.place, self.prefix = place, folder(prefix)
        self.info = _decoded(place, self.prefix + "graph.json", GraphInfo)

    def keys(self) -> Ints:
        """The key of each node's URL, ascending."""
        return read_array(self.place, self.prefix + "keys.npy")

    def out(self) -> Numbers:
        """How many pages each node links to."""
        return read_array(self.place, self.prefix + "out.npy")

    def site_numbers(self) -> Numbers:
        """The place of each node's site in `sites()`."""
        return read_array(self.place, self.prefix + "sites.npy")

    def sites(self) -> list[str]:
        """Names of the sites."""
        return _decoded(self.place, self.prefix + "sites.json", list[str])

    def block(self, number: int) -> Block:
        """The links to the nodes of a block."""
        indptr = read_array(self.place, block_name(self.prefix, number, "indptr"))
        sources = read_array(self.place, block_name(self.prefix, number, "sources"))
        if not len(indptr) or int(indptr[-1]) != len(sources):
            raise _damaged(block_name(self.prefix, number, "sources"), "its length differs from what the index says")
        return Block(self.info.blocks[number], indptr, sources)

    def into(self, nodes: ArrayLike) -> tuple[Ints, Ints]:
        """Sources and targets of all links to some nodes."""
        wanted = np.unique(np.asarray(nodes, np.int64))
        found = [self._into(number, inside) for number, inside in self._by_block(wanted)]
        return _joined(found)

    def out_of(self, nodes: ArrayLike) -> tuple[Ints, Ints]:
        """Sources and targets of all links from some nodes; reads the whole graph."""
        chosen = np.zeros(self.info.nodes, np.bool_)
        chosen[np.asarray(nodes, np.int64)] = True
        found = []
        for number in range(len(self.info.blocks)):
            block = self.block(number)
            hits = np.flatnonzero(chosen[block.sources])
            targets = block.first + np.searchsorted(block.indptr, hits, side="right") - 1
            found.append((block.sources[hits].astype(np.int64), targets))
        return _joined(found)

    def urls(self, nodes: ArrayLike) -> list[str]:
        """The URLs of some nodes, in the order given."""
        asked = np.asarray(nodes, np.int64)
        wanted, back = np.unique(asked, return_inverse=True)
        found: list[str] = []
        for number, inside in self._by_block(wanted):
            found += self._urls(number, inside - self.info.blocks[number])
        return [found[place] for place in back.tolist()]

    def _by_block(self, nodes: Ints) -> list[tuple[int, Ints]]:
        """Ascending nodes, by block."""
        cuts = np.searchsorted(nodes, self.info.blocks[1:])
        return [(number, part) for number, part in enumerate(np.split(nodes, cuts)) if len(part)]

    def _into(self, number: int, nodes: Ints) -> tuple[Ints, Ints]:
        block = self.block(number)
        rows = nodes - block.first
        starts = block.indptr[rows]
        counts = block.indptr[rows + 1] - starts
        places = np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        return block.sources[places].astype(np.int64), np.repeat(nodes, counts)

    def _urls(self, number: int, rows: Ints) -> list[str]:
        """The URLs in ascending rows of a block: only the row groups that hold one are read."""
        found: list[str] = []
        with pq.ParquetFile(self.place.path(nodes_name(self.prefix, number))) as file:
            first = 0
            for group in range(file.num_row_groups):
                count = file.metadata.row_group(group).num_rows
                inside = rows[(rows >= first) & (rows < first + count)] - first
                if len(inside):
                    found += file.read_row_group(group, columns=["url"]).column("url").take(inside).to_pylist()
                first += count
        return found


class RankFiles:
    """Ranks in a place."""

    def __init__(self, place: Place, generation: str) -> None:
        self.place, self.generation, self.prefix = place, generation, f"ranks/{generation}/"
        self.info = _decoded(place, self.prefix + "info.json", RankInfo)

    def keys(self) -> Ints:
        """The keys of the pages' URLs, ascending."""
        return read_array(self.place, self.prefix + "keys.npy")

    def ranks(self) -> Floats:
        """Their ranks; the mean is 1."""
        return read_array(self.place, self.prefix + "ranks.npy")

    def hosts(self) -> dict[str, float]:
        """The rank of each site; the mean is 1."""
        return _decoded(self.place, self.prefix + "hosts.json", dict[str, float])


def write_block(
    place: Place, prefix: str, number: int, indptr: ArrayLike, sources: ArrayLike, keys: ArrayLike, urls: Sequence[str]
) -> None:
    """Write the three files of a block: its links by target, and its nodes."""
    write_array(place, block_name(prefix, number, "indptr"), np.asarray(indptr, np.int64))
    write_array(place, block_name(prefix, number, "sources"), np.asarray(sources, np.int32))
    table = pa.table({"key": pa.array(keys, pa.int64()), "url": pa.array(urls, pa.string())})
    write_nodes(place, prefix, number, table)


def write_nodes(place: Place, prefix: str, number: int, table: pa.Table) -> None:
    """Write the nodes of a block, in their order: a table with the columns `key` (int64) and `url` (string)."""
    sink = io.BytesIO()
    pq.write_table(
        table.select(["key", "url"]), sink, row_group_size=_ROWS_OF_A_GROUP, compression="zstd", use_dictionary=False
    )
    place.put(nodes_name(prefix, number), sink.getbuffer())


def write_graph(
    place: Place,
    prefix: str,
    info: GraphInfo,
    keys: ArrayLike,
    site_numbers: ArrayLike,
    sites: Sequence[str],
    out: ArrayLike,
) -> None:
    """Write everything but the blocks; call it when all blocks are there."""
    prefix = folder(prefix)
    write_array(place, prefix + "keys.npy", np.asarray(keys, np.int64))
    write_array(place, prefix + "sites.npy", np.asarray(site_numbers, np.int32))
    write_array(place, prefix + "out.npy", np.asarray(out, np.int32))
    place.put(prefix + "sites.json", msgspec.json.encode(list(sites)))
    place.put(prefix + "graph.json", msgspec.json.encode(info))


def write_ranks(
    place: Place, generation: str, info: RankInfo, keys: ArrayLike, ranks: ArrayLike, hosts: Mapping[str, float]
) -> RankFiles:
    """Write ranks, and then make them current."""
    prefix = f"ranks/{generation}/"
    write_array(place, prefix + "keys.npy", np.asarray(keys, np.int64))
    write_array(place, prefix + "ranks.npy", np.asarray(ranks, np.float64))
    place.put(prefix + "hosts.json", msgspec.json.encode(dict(hosts)))
    place.put(prefix + "info.json", msgspec.json.encode(info))
    place.put(CURRENT, generation.encode())
    return RankFiles(place, generation)


def read_current(place: Place) -> RankFiles | None:
    """The current ranks; None if none were computed yet."""
    try:
        generation = place.get(CURRENT).decode().strip()
    except PlaceMissing:
        return None
    return RankFiles(place, generation)


def drop_generations(place: Place, kind: str, keep: str) -> list[str]:
    """Delete all generations under `graph` or `ranks` but one; returns the names of those that went."""
    names = [name for name in place.names(folder(kind)) if name.count("/") > 1]
    old = [name for name in names if name.split("/")[1] != keep]
    place.delete(old)
    return sorted({name.split("/")[1] for name in old})


def block_name(prefix: str, number: int, part: str) -> str:
    """The file of a block's links: part `indptr` or `sources`."""
    return f"{folder(prefix)}block-{number:05d}.{part}.npy"


def nodes_name(prefix: str, number: int) -> str:
    """The file of a block's URLs."""
    return f"{folder(prefix)}nodes-{number:05d}.parquet"


def folder(prefix: str) -> str:
    """A prefix with its slash."""
    return prefix.rstrip("/") + "/"


def write_array(place: Place, name: str, array: NDArray[Any]) -> None:
    """Write an array as an npy file."""
    sink = io.BytesIO()
    np.save(sink, array, allow_pickle=False)
    place.put(name, sink.getbuffer())


def read_array(place: Place, name: str) -> NDArray[Any]:
    """An npy file, mapped into memory."""
    path = place.path(name)
    try:
        found: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        return found
    except (ValueError, OSError, EOFError) as error:
        raise _damaged(name, error) from error


def _joined(pairs: Sequence[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    empty = np.empty(0, np.int64)
    return np.concatenate([empty, *(pair[0] for pair in pairs)]), np.concatenate([empty, *(pair[1] for pair in pairs)])


def _decoded(place: Place, name: str, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(place.get(name), type=kind)
    except msgspec.DecodeError as error:
        raise _damaged(name, error) from error


def _damaged(name: str, problem: object) -> CorruptError:
    return CorruptError(f"{name} is damaged ({problem}): compute it again with `gossamer rank`")
