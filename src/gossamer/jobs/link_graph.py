"""The link graph of a crawl, made of its segments: written once, run on any engine.

A node is a document: a URL whose newest visit kept one, and that no operator took out. Its links are those on that
newest version. Links marked `nofollow` and links to the page itself do not count, and of several links from one page
to another one does. A link to a URL that leads elsewhere (a redirect, an alias, a duplicate) counts for the document
at the end of the chain, if it is no more than `link_stages.CHAIN` steps away.

No task holds more than its share of the records: they are exchanged by key through files (`link_work`), and a
partition has about `BLOCK_LINKS` stored links. How many partitions there are follows from the data alone, and within
them everything is sorted, so every engine writes the same bytes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import DTypeLike, NDArray

from gossamer.engine.contract import Engine
from gossamer.jobs.context import Run, Tell, run_stage, silent
from gossamer.jobs.graph_files import GraphFiles, GraphInfo, folder, read_array, write_array
from gossamer.jobs.link_records import Sizes, measure_segments, read_piece
from gossamer.jobs.link_stages import (
    CHAIN,
    BlockSize,
    Versions,
    current_links,
    follow_leads,
    gather_leads,
    links_to_leads,
    make_block,
    make_nodes,
    newest_versions,
)
from gossamer.jobs.link_work import Plan, Task
from gossamer.store.place import Place

R = TypeVar("R")

BLOCK_LINKS = 16_000_000
"""Stored links of a partition: 128 MB as pairs of numbers, of which a few copies are made."""
_BLOCK_PAGES = 2_000_000
"""Stored visits of a partition, which are sorted together with their URLs."""
_PIECE_LINKS = 2_000_000
"""Stored links that a task reads out of segments, at 28 bytes each."""
_PIECE_PAGES = 200_000
_MEASURED_AT_ONCE = 64
_FILES = (("keys", np.int64), ("sites", np.int32), ("out", np.int32), ("times", np.int64), ("versions", np.int32))
"""Arrays with a value for each node, which the partitions have in pieces."""


class GraphSource(msgspec.Struct, frozen=True):
    """The input of a graph."""

    segments: str
    """The place of the segments, as `open_place` takes it."""
    names: Sequence[str]
    """The current segments."""
    removed: Sequence[str] = ()
    """Prefixes of URLs that the operator took out."""


def build_graph(
    engine: Engine, place: Place, generation: str, source: GraphSource, now: float,
    tell: Tell = silent, block_links: int = BLOCK_LINKS,
) -> GraphFiles:  # fmt: skip
    """The graph of some segments, under `graph/<generation>/`."""
    return _Build(Run(engine, tell), place, generation, source).run(now, block_links)


class _Build:
    def __init__(self, on: Run, place: Place, generation: str, source: GraphSource) -> None:
        self._on, self._place, self._source = on, place, source
        self._graph, self._work = f"graph/{generation}/", f"work/graph-{generation}/"

    def run(self, now: float, block_links: int) -> GraphFiles:
        """Run all stages; the job's own files are deleted at the end, whatever happens."""
        try:
            return self._run(now, block_links)
        finally:
            self._place.delete(list(self._place.names(self._work)))

    def _run(self, now: float, block_links: int) -> GraphFiles:
        plan = self._plan(block_links)
        self._place.put(f"{self._work}plan.json", msgspec.json.encode(plan))
        self._stage("reading segments", read_piece, [self._task(number) for number in range(len(plan.pieces))])
        parts = [self._task(number) for number in range(plan.partitions)]
        versions = self._stage("newest versions", newest_versions, parts)
        parts = self._numbered(parts, versions)
        hops = self._follow(parts) if any(one.leads for one in versions) else 0
        parts = [msgspec.structs.replace(part, hops=hops) for part in parts]
        self._stage("gathering leads", gather_leads, parts)
        self._stage("links of pages", current_links, parts)
        if hops:
            self._stage("links to leads", links_to_leads, parts)
        sizes = self._stage("links by target", make_block, parts)
        sites = self._sites(plan)
        self._stage("numbering pages", make_nodes, parts)
        return self._finish(plan, sizes, sites, now)

    def _plan(self, block_links: int) -> Plan:
        names = sorted(self._source.names)
        chunks = [names[start : start + _MEASURED_AT_ONCE] for start in range(0, len(names), _MEASURED_AT_ONCE)]
        found = self._stage("measuring segments", measure_segments, [(self._source.segments, one) for one in chunks])
        sizes = [size for chunk in found for size in chunk]
        links, pages = sum(one.links for one in sizes), sum(one.pages for one in sizes)
        partitions = max(1, -(-links // block_links), -(-pages // _BLOCK_PAGES))
        return Plan(names, _pieces(sizes), partitions, sorted(self._source.removed))

    def _numbered(self, parts: Sequence[Task], versions: Sequence[Versions]) -> list[Task]:
        counts = [one.documents for one in versions]
        firsts = np.cumsum([0, *counts[:-1]])
        blocks = np.cumsum([0, *(count > 0 for count in counts[:-1])])
        write_array(self._place, f"{self._work}starts", firsts)
        return [
            msgspec.structs.replace(part, first=int(first), block=int(block))
            for part, first, block in zip(parts, firsts, blocks, strict=True)
        ]

    def _follow(self, parts: Sequence[Task]) -> int:
        """Follow all chains step by step; returns how many steps that took."""
        for hop in range(CHAIN):
            steps = [msgspec.structs.replace(part, hops=hop) for part in parts]
            ended = self._stage("following leads", follow_leads, steps)
            if not any(one.going_on for one in ended):
                break
        return hop + 1

    def _sites(self, plan: Plan) -> int:
        names: set[str] = set()
        for file in self._task(0).files("site_names", plan.partitions):
            names.update(msgspec.msgpack.decode(self._place.get(file), type=list[str]))
        self._place.put(f"{self._graph}sites.json", msgspec.json.encode(sorted(names)))
        return len(names)

    def _finish(self, plan: Plan, sizes: Sequence[BlockSize], sites: int, now: float) -> GraphFiles:
        nodes = [size.nodes for size in sizes]
        starts = np.cumsum([0, *nodes[:-1]])
        for name, kind in _FILES:
            pieces = (read_array(self._place, file) for file in self._task(0).files(name, plan.partitions))
            _join(self._place, f"{self._graph}{name}.npy", pieces, kind, (sum(nodes),))
        leads = [read_array(self._place, file) for file in self._task(0).files("resolved", plan.partitions)]
        for row, name in enumerate(("leads", "leads_to")):
            count = sum(one.shape[1] for one in leads)
            _join(self._place, f"{self._graph}{name}.npy", (one[row] for one in leads), np.int64, (count,))
        self._place.put(f"{self._graph}plan.json", msgspec.json.encode(plan))
        info = GraphInfo(
            nodes=sum(nodes), edges=sum(size.edges for size in sizes),
            blocks=[int(start) for start, count in zip(starts, nodes, strict=True) if count] or [0],
            made_at=now, segments=len(plan.segments), sites=sites,
        )  # fmt: skip
        self._place.put(f"{self._graph}graph.json", msgspec.json.encode(info))
        return GraphFiles(self._place, folder(self._graph))

    def _task(self, number: int) -> Task:
        return Task(self._place.url, self._work, self._graph, self._source.segments, number)

    def _stage(self, name: str, function: Callable[[Any], R], arguments: Sequence[Any]) -> list[R]:
        return run_stage(self._on, name, function, arguments)


def _pieces(sizes: Sequence[Sizes]) -> list[list[int]]:
    """Segments in order, as many together as one task reads."""
    pieces: list[list[int]] = []
    pages = links = 0
    for number, size in enumerate(sizes):
        if not pieces or links + size.links > _PIECE_LINKS or pages + size.pages > _PIECE_PAGES:
            pieces.append([])
            pages = links = 0
        pieces[-1].append(number)
        pages, links = pages + size.pages, links + size.links
    return pieces


def _join(
    place: Place, name: str, pieces: Iterable[NDArray[Any]] | Iterator[NDArray[Any]], kind: DTypeLike,
    shape: tuple[int, ...],
) -> None:  # fmt: skip
    """Write arrays one after the other as one, with one of them in memory at a time."""
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "joined.npy"
        with path.open("wb") as file:
            header = {"descr": np.lib.format.dtype_to_descr(np.dtype(kind)), "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
            for piece in pieces:
                file.write(np.ascontiguousarray(piece, kind).data)
        place.upload(name, path)
