"""An index made in a moment, for tests of the searcher."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from gossamer.index.document import IndexPage, build
from gossamer.index.folder import IndexFolder
from gossamer.index.writer import IndexWriter
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import Request, Results
from gossamer.search.searcher import Searcher
from gossamer.testing import FakeClock

NOW = 1_750_000_000.0  # 15 June 2025


def page(path: str, text: str = "", title: str = "", **more: Any) -> IndexPage:
    """A page of http://site.test unless `path` is a whole URL."""
    url = path if "://" in path else f"http://site.test{path}"
    return IndexPage(url=url, title=title, text=text, **more)


def near(cluster: int, *pages: IndexPage) -> list[IndexPage]:
    """The pages as members of one cluster, the first as its founder."""
    return [msgspec.structs.replace(one, cluster=cluster, joined=n > 0) for n, one in enumerate(pages)]


class Leaders:
    """Who represents which cluster."""

    def __init__(self) -> None:
        self.known: dict[int, int] = {}

    def of(self, clusters: Any) -> dict[int, int]:
        return {cluster: self.known[cluster] for cluster in clusters if cluster in self.known}


class SmallIndex:
    """Pages in an index of their own."""

    def __init__(self, root: Path, *pages: IndexPage, **config: Any) -> None:
        self.folder = IndexFolder(root)
        generation = self.folder.create()
        self.folder.switch(generation)
        self.writer = IndexWriter(self.folder.tantivy(generation), self.folder.scratch(generation))
        self.ranks: dict[int, float] = {}
        self.leaders = Leaders()
        self.searcher = Searcher(self.folder, RankingConfig(**config), self, FakeClock(NOW), self.leaders)
        self.put(*pages)

    def of(self, keys: Any) -> list[float]:
        """Link ranks, as the searcher asks for them."""
        return [self.ranks.get(key, 0.0) for key in keys]

    def put(self, *pages: IndexPage) -> None:
        """Add or replace pages in one commit."""
        self.writer.apply({one.key: build(one) for one in pages}, (), self.writer.position + 1, NOW)

    def search(self, query: str, **more: Any) -> Results:
        return self.searcher.search(Request(query=query, **more))

    def paths(self, query: str, **more: Any) -> list[str]:
        """The results' URLs, without http://site.test."""
        return [hit.url.removeprefix("http://site.test") for hit in self.search(query, **more).hits]

    def found(self, query: str, **more: Any) -> set[str]:
        return set(self.paths(query, size=100, **more))
