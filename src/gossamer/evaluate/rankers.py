"""Rankings as the evaluation asks them: ours, and the bare library to compare with.

`tantivy` is what the library does by itself: title and text under its default analysis
(words cut at what is no letter or digit, lower case), its own query parser, plain BM25.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import tantivy

from gossamer.evaluate.runs import Ranker
from gossamer.evaluate.values import Doc
from gossamer.index.document import IndexPage, build
from gossamer.index.folder import IndexFolder
from gossamer.index.writer import IndexWriter
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher

BARE = "tantivy"
_HOST = "http://collection.test/"
_BATCH = 5_000


class SearchRanker:
    """One of our rankings over an index."""

    def __init__(self, searcher: Searcher, ranking: str, ids: Mapping[str, str] | None = None) -> None:
        self._searcher, self._ranking, self._ids = searcher, ranking, ids

    def rank(self, query: str, limit: int) -> list[str]:
        """The ids of the best documents; their URLs where the index is that of a crawl."""
        urls = self._searcher.urls(Request(query=query, ranking=self._ranking, similar=True, facets=False), limit)
        return urls if self._ids is None else [self._ids[url] for url in urls]


class BareRanker:
    """The library alone."""

    def __init__(self, documents: Sequence[Doc]) -> None:
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("id", stored=True, tokenizer_name="raw")
        builder.add_text_field("title")
        builder.add_text_field("text")
        self._index = tantivy.Index(builder.build())
        writer = self._index.writer(200_000_000, 1)
        for one in documents:
            writer.add_document(tantivy.Document(id=[one.id], title=[one.title], text=[one.text]))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()

    def rank(self, query: str, limit: int) -> list[str]:
        """The ids of the best documents."""
        parsed, _ = self._index.parse_query_lenient(query, ["title", "text"])
        searcher = self._index.searcher()
        return [searcher.doc(address)["id"][0] for _, address in searcher.search(parsed, limit, count=False).hits]


@contextmanager
def over_documents(documents: Sequence[Doc], names: Sequence[str], config: RankingConfig) -> Iterator[list[Ranker]]:
    """Rankings by name over a temporary index of some documents."""
    with TemporaryDirectory(prefix="gossamer-evaluate-") as place:
        folder = IndexFolder(Path(place) / "index")
        ids = index_documents(folder, documents)
        if config.semantic:
            make_vectors(folder, config)
        searcher = Searcher(folder, config)
        yield [BareRanker(documents) if name == BARE else SearchRanker(searcher, name, ids) for name in names]


def make_vectors(folder: IndexFolder, config: RankingConfig) -> None:
    """Give the pages of an index the vectors that the settings ask for."""
    from gossamer.indexer.vector_making import open_maker  # the model, which most evaluations go without

    maker = open_maker(folder, config)
    if maker is not None:
        maker.finish()


def index_documents(folder: IndexFolder, documents: Sequence[Doc]) -> dict[str, str]:
    """Index a collection; the id of each document by its URL there."""
    generation = folder.create()
    folder.switch(generation)
    writer = IndexWriter(folder.tantivy(generation), folder.scratch(generation))
    ids = {}
    for start in range(0, len(documents), _BATCH):
        found = {}
        for number, one in enumerate(documents[start : start + _BATCH], start):
            page = IndexPage(url=f"{_HOST}{number}", title=one.title, text=one.text, lang=one.lang or None)
            ids[page.url] = one.id
            found[page.key] = build(page, writer.extras)
        writer.apply(found, (), start + 1, 0.0)
    writer.close()
    return ids
