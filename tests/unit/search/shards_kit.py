"""A divided index inside one process: every question goes through the bytes of the protocol, but over no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from searcher_kit import NOW, Leaders

from gossamer.index.document import IndexPage, build
from gossamer.index.folder import IndexFolder
from gossamer.index.shards import Cut
from gossamer.index.writer import IndexWriter
from gossamer.search.ranking import RankingConfig
from gossamer.search.searcher import Searcher
from gossamer.search.shards.shard import OPERATIONS, ShardSearcher
from gossamer.search.shards.sharded import ShardedSearcher
from gossamer.search.shards.values import Envelope, Identity
from gossamer.testing import FakeClock


class LocalNodes:
    """`search.rounds.Nodes` of shards in this process."""

    def __init__(self, nodes: Sequence[ShardSearcher]) -> None:
        self.nodes = dict(enumerate(nodes, 1))
        self.shards = len(nodes)
        self.down: set[int] = set()
        self.changed: dict[int, dict[str, Any]] = {}
        """Shard → what its identity says instead."""
        self.asked: list[tuple[str, int]] = []

    def ask(self, operation: str, asks: Mapping[int, bytes], seconds: float) -> tuple[dict[int, bytes], dict[int, str]]:
        answers = {
            shard: self._answer(operation, shard, data) for shard, data in asks.items() if shard not in self.down
        }
        self.asked += [(operation, shard) for shard in asks]
        return answers, {shard: f"shard {shard} is down" for shard in asks.keys() & self.down}

    def _answer(self, operation: str, shard: int, data: bytes) -> bytes:
        node = self.nodes[shard]
        body = getattr(node, operation)(msgspec.msgpack.decode(data, type=OPERATIONS[operation]))
        sender: Identity = msgspec.structs.replace(node.identity(), **self.changed.get(shard, {}))
        return msgspec.msgpack.encode(Envelope(sender, msgspec.Raw(msgspec.msgpack.encode(body))))


class DividedIndex:
    """The same pages in one index and, divided, in several."""

    def __init__(self, root: Path, shards: int, *pages: IndexPage, **config: Any) -> None:
        self.writers: dict[Cut, IndexWriter] = {}
        self.leaders = Leaders()
        self.ranks: dict[int, float] = {}
        folders = {cut: IndexFolder(root / str(cut).replace("/", "of")) for cut in _cuts(shards)}
        for cut, folder in folders.items():
            generation = folder.create("a crawl", cut)
            folder.switch(generation)
            self.writers[cut] = IndexWriter(folder.tantivy(generation), folder.scratch(generation))
        clock, ranking = FakeClock(NOW), RankingConfig(**config)
        whole = IndexFolder(root / "whole")
        generation = whole.create("a crawl")
        whole.switch(generation)
        self.writers[Cut(0, 0)] = IndexWriter(whole.tantivy(generation), whole.scratch(generation))
        self.nodes = LocalNodes([ShardSearcher(folders[cut], cut, self, self.leaders) for cut in _cuts(shards)])
        self.single = Searcher(whole, ranking, self, clock, self.leaders)
        self.divided = ShardedSearcher(self.nodes, ranking, clock)
        self.put(*pages)
        # A shard waits half a second at most for the words that corrections come from, so they are read before.
        for views in (self.single._views, *(node._views for node in self.nodes.nodes.values())):
            views.vocabulary(views.current())

    def of(self, keys: Any) -> list[float]:
        """Link ranks, as a searcher asks for them."""
        return [self.ranks.get(key, 0.0) for key in keys]

    def put(self, *pages: IndexPage) -> None:
        """Add or replace pages in all indexes."""
        documents = {one.key: build(one) for one in pages}
        for one in pages:
            if one.cluster is not None:  # who speaks for copies with equal scores must not depend on their place
                self.leaders.known.setdefault(one.cluster, one.key)
        for cut, writer in self.writers.items():
            mine = {key: document for key, document in documents.items() if not cut.shards or cut.holds(key)}
            writer.apply(mine, (), writer.position + 1, NOW)


def _cuts(shards: int) -> list[Cut]:
    return [Cut(shard, shards) for shard in range(1, shards + 1)]
