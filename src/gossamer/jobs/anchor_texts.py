"""The texts of links to each page, and on how many pages each text occurs.

Made after the graph, whose files say which links count (`link_graph`): only those on the newest version of a document,
followed to the document where they end. `anchors-00000.parquet` is beside the graph's first block and has its pages:
key, text, pages; the most frequent texts of each page, at most so many, the most frequent first.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from gossamer.engine.contract import Engine
from gossamer.engine.exchange import PartWriter
from gossamer.jobs.context import Run, Tell, run_stage, silent
from gossamer.jobs.graph_files import GraphFiles, read_array
from gossamer.jobs.link_records import followed, keys_of
from gossamer.jobs.link_work import Ints, Plan, column, places_in, received
from gossamer.store.place import Place, open_place
from gossamer.store.remote_segments import open_segments
from gossamer.store.segments import open_links

_NAMED = pa.schema([pa.field("node", pa.int32()), pa.field("source", pa.int32()), pa.field("text", pa.string())])
_COLUMNS = ["source", "target", "rel", "tag", "anchor", "fetched_at"]


class _Task(msgspec.Struct, frozen=True):
    place: str
    graph: str
    work: str
    segments: str
    number: int
    most: int = 0

    def names(self, count: int) -> list[str]:
        return [f"{self.work}texts-{number:05d}" for number in range(count)]


class AnchorText(msgspec.Struct, frozen=True):
    """A text and on how many pages it links to a page."""

    text: str
    pages: int


def collect_anchor_texts(engine: Engine, graph: GraphFiles, segments: str, most: int, tell: Tell = silent) -> int:
    """Write the texts of links to each page, at most so many; returns how many there are."""
    on, place, work = Run(engine, tell), graph.place, f"work/anchors-{graph.prefix.strip('/').rpartition('/')[2]}/"
    plan = _plan(place, graph.prefix)

    def tasks(count: int) -> list[_Task]:
        return [_Task(place.url, graph.prefix, work, segments, number, most) for number in range(count)]

    try:
        run_stage(on, "texts of links", _read_texts, tasks(len(plan.pieces)))
        return sum(run_stage(on, "texts by page", _count_texts, tasks(len(graph.info.blocks))))
    finally:
        place.delete(list(place.names(work)))


def anchor_texts(graph: GraphFiles, node: int) -> list[AnchorText]:
    """The texts of a page, the most frequent first; none if they were not collected."""
    block = int(np.searchsorted(graph.info.blocks, node, side="right")) - 1
    name = anchors_name(graph.prefix, block)
    if graph.place.size(name) is None:
        return []
    key = int(graph.keys()[node])
    table = pq.read_table(graph.place.path(name), filters=[("key", "==", key)], partitioning=None)
    return [AnchorText(row["text"], row["pages"]) for row in table.to_pylist()]


def anchors_name(prefix: str, block: int) -> str:
    """The file with the texts of a block's pages."""
    return f"{prefix}anchors-{block:05d}.parquet"


def _plan(place: Place, prefix: str) -> Plan:
    return msgspec.json.decode(place.get(f"{prefix}plan.json"), type=Plan)


def _read_texts(task: _Task) -> None:
    """Task: the texts of some segments' links, spread by the block of the page they lead to."""
    place, segments = open_place(task.place), open_segments(task.segments)
    graph, plan = GraphFiles(place, task.graph), _plan(place, task.graph)
    ends = _Ends(graph)
    with PartWriter(place, f"{task.work}texts-{task.number:05d}", len(graph.info.blocks)) as writer:
        for number in plan.pieces[task.number]:
            for links in open_links(segments, plan.segments[number]).groups(_COLUMNS):
                for table in ends.named(links.filter(_telling(links)), number):
                    nodes = column(table, "node")
                    writer.add(table, np.searchsorted(graph.info.blocks, nodes, side="right") - 1)


def _telling(links: pa.Table) -> pa.Array:
    """Links with a text that a page vouches for."""
    said = pc.and_(pc.is_in(links.column("tag"), pa.array(["a", "area"])), pc.not_equal(links.column("anchor"), ""))
    return pc.and_(said, followed(links)).combine_chunks()


class _Ends:
    """The nodes at both ends of a link; the arrays are mapped, and shared by the tasks of a machine."""

    def __init__(self, graph: GraphFiles) -> None:
        def array(name: str) -> Ints:
            found: Ints = read_array(graph.place, f"{graph.prefix}{name}.npy")
            return found

        self._keys, self._times, self._versions = graph.keys(), array("times"), array("versions")
        self._leads, self._leads_to = array("leads"), array("leads_to")

    def named(self, links: pa.Table, segment: int) -> Iterator[pa.Table]:
        """The links between two nodes that are on the newest version."""
        if not links.num_rows or not len(self._keys):
            return
        sources = places_in(self._keys, keys_of(links, "source"))
        targets = self._ends_of(keys_of(links, "target"))
        times = links.column("fetched_at").cast(pa.int64()).to_numpy()
        kept = (sources >= 0) & (targets >= 0) & (sources != targets)
        kept &= (self._times[sources] == times) & (self._versions[sources] == segment)
        rows = np.flatnonzero(kept)
        columns = [
            pa.array(targets[rows].astype(np.int32)),
            pa.array(sources[rows].astype(np.int32)),
            links.column("anchor").take(pa.array(rows)).combine_chunks(),
        ]
        yield pa.Table.from_arrays(columns, schema=_NAMED)

    def _ends_of(self, keys: Ints) -> Ints:
        nodes = places_in(self._keys, keys)
        led = places_in(self._leads, keys)
        return np.where(nodes >= 0, nodes, np.where(led >= 0, self._leads_to[led], -1) if len(self._leads) else -1)


def _count_texts(task: _Task) -> int:
    """Task: the most frequent texts of a block's pages."""
    place = open_place(task.place)
    graph, plan = GraphFiles(place, task.graph), _plan(place, task.graph)
    rows = received(place, task.names(len(plan.pieces)), task.number, _NAMED)
    counted = rows.group_by(["node", "text"]).aggregate([("source", "count_distinct")])
    order = [("node", "ascending"), ("source_count_distinct", "descending"), ("text", "ascending")]
    counted = counted.sort_by(order).combine_chunks()
    nodes = column(counted, "node")
    # The place of each row among those of its page.
    within = np.arange(len(nodes)) - np.searchsorted(nodes, nodes)
    kept = np.flatnonzero(within < task.most)
    best = counted.take(pa.array(kept))
    table = pa.table(
        {
            "key": np.asarray(graph.keys())[nodes[kept]],
            "text": best.column("text"),
            "pages": best.column("source_count_distinct").cast(pa.int32()),
        }
    )
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", store_schema=False)
    place.put(anchors_name(graph.prefix, task.number), memoryview(sink.getvalue()))
    return len(kept)
