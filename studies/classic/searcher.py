"""The live searcher, with the best hundred pages in the order of their classic score."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import tantivy

from gossamer.evaluate.rankers import SearchRanker, index_documents
from gossamer.evaluate.runs import Run, run
from gossamer.evaluate.values import Collection
from gossamer.index.folder import IndexFolder
from gossamer.search.limits import DEPTH
from gossamer.search.ordering import Candidate
from gossamer.search.query.building import Built
from gossamer.search.query.language import Query
from gossamer.search.ranking import NAMES
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher
from gossamer.search.view import View
from studies.classic.score import classic

BEST = 100
"""Results of a search, as in the papers."""


class ClassicSearcher(Searcher):
    """Finds what the live searcher finds, and orders it by the classic score."""

    def _best(
        self, view: View, built: Built, query: Query, request: Request, asked: tantivy.Query, needed: int,
        more_than: int = 0,
    ) -> tuple[tantivy.Query, int, list[Candidate]]:  # fmt: skip
        asked, total, hits = super()._best(view, built, query, request, asked, DEPTH, more_than)
        return asked, total, classic(view, hits[:BEST], built.words, self._ranks)


def compare(collection: Collection, k: int) -> Sequence[Run]:
    """Our rankings and the classic score on a collection with documents and judgements; there are no links in it, so
    that every rank is 0."""
    with TemporaryDirectory(prefix="gossamer-classic-") as place:
        folder = IndexFolder(Path(place) / "index")
        ids = index_documents(folder, collection.documents)
        rankers = [(name, SearchRanker(Searcher(folder), name, ids)) for name in NAMES]
        rankers.append(("classic", SearchRanker(ClassicSearcher(folder), "web", ids)))
        return [run(name, ranker, collection, k) for name, ranker in rankers]
