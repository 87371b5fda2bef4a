"""An index made in a moment, for tests of the searcher."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gossamer.dedup.exact import content_hash
from gossamer.dedup.simhash import simhash
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
    return IndexPage(url=url, title=title, text=text, content_hash=content_hash(text), simhash=simhash(text), **more)


class SmallIndex:
    """Pages in an index of their own."""

    def __init__(self, root: Path, *pages: IndexPage, **config: Any) -> None:
        self.folder = IndexFolder(root)
        generation = self.folder.create()
        self.folder.switch(generation)
        self.writer = IndexWriter(self.folder.tantivy(generation), self.folder.scratch(generation))
        self.ranks: dict[int, float] = {}
        self.searcher = Searcher(self.folder, RankingConfig(**config), self, FakeClock(NOW))
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
