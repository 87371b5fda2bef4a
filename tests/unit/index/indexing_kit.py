"""Small pages, batches of them, and what an index holds in the end."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from random import Random

import tantivy

from gossamer.index import commits, schema
from gossamer.index.document import IndexPage, build
from gossamer.index.writer import IndexWriter

Model = dict[str, str]
"""URL → text: what an index should hold."""


def page(number: int, version: int = 0) -> IndexPage:
    """A version of a small page."""
    return IndexPage(
        url=f"https://www.a.example/{number}",
        title=f"Page {number}",
        text=f"Version {version} of page {number}.",
        lang="en",
        fetched_at=1_700_000_000.0 + version,
    )


def documents(pages: Iterable[IndexPage]) -> dict[int, tantivy.Document]:
    """Pages as the writer takes them."""
    return {page.key: build(page) for page in pages}


def new_index(root: Path) -> Path:
    """An empty index; returns its folder."""
    folder = root / "g000001" / "tantivy"
    commits.create(folder, "a crawl")
    return folder


def open_writer(folder: Path) -> IndexWriter:
    return IndexWriter(folder, folder.parent / "scratch")


def filled_index(root: Path, batches: int = 3) -> Path:
    """An index of some segments of ten pages each."""
    folder = new_index(root)
    writer = open_writer(folder)
    for number in range(batches):
        pages = [page(10 * number + n) for n in range(10)]
        writer.apply(documents(pages), (), number + 1, 1.0)
    writer.close()
    return folder


def contents(folder: Path) -> list[tuple[str, str]]:
    """URL and text of every document that counts, as a reader of its own sees them."""
    index = schema.prepare(tantivy.Index.open(str(folder)))
    searcher = index.searcher()
    hits = searcher.search(tantivy.Query.all_query(), max(1, searcher.num_docs)).hits
    found = [schema.decode(searcher.doc(address)) for _, address in hits]
    return sorted((document.url, document.text) for document in found)


def expected(model: Model) -> list[tuple[str, str]]:
    return sorted(model.items())


class Batch:
    """The batch that brings an index to a position; the same for the same position."""

    def __init__(self, position: int) -> None:
        dice = Random(position)
        numbers = dice.sample(range(60), dice.randint(1, 8))
        kept = dice.randint(0, len(numbers))
        self.position = position
        self.pages = [page(number, position) for number in numbers[:kept]]
        self.gone = [page(number) for number in numbers[kept:]]

    def apply(self, writer: IndexWriter) -> None:
        writer.apply(documents(self.pages), {page.key for page in self.gone}, self.position, float(self.position))

    def change(self, model: Model) -> None:
        model.update((page.url, page.text) for page in self.pages)
        for page in self.gone:
            model.pop(page.url, None)


def model_at(position: int) -> Model:
    """What an index must hold after all batches up to a position."""
    model: Model = {}
    for number in range(1, position + 1):
        Batch(number).change(model)
    return model
