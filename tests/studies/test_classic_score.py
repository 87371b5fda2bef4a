"""The score of the papers' search engine, on indexes of a few pages and on a small collection."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1] / "unit" / "search"))
from searcher_kit import SmallIndex, page

from gossamer.evaluate.values import Collection, Doc
from gossamer.model.site import key64
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher
from studies.classic.score import classic_score
from studies.classic.searcher import ClassicSearcher, compare


def classic_index(root: Path, *pages: Any) -> SmallIndex:
    index = SmallIndex(root, *pages)
    index.searcher = ClassicSearcher(index.folder, RankingConfig(), index)
    return index


def test_the_classic_score_of_the_seed(tmp_path: Path) -> None:
    """S2.5: SC = PR + 0.5 · occurrences in the title + 0.1 · occurrences in the text."""
    assert classic_score(0.438, 2, 7) == pytest.approx(0.438 + 1.0 + 0.7)
    index = classic_index(
        tmp_path / "index",
        page("/1", "comet comet comet", "comet"),
        page("/2", "comet", "comet comet"),
        page("/3", "comet " * 12, "tail"),
    )
    # The ranks after two iterations of the seed's worked example (S2.4).
    for path, rank in (("/1", 0.638750), ("/2", 0.575000), ("/3", 0.575000)):
        index.ranks[key64(f"http://site.test{path}")] = rank
    scores = {hit.url[-2:]: hit.score for hit in index.search("comet").hits}
    assert scores == pytest.approx({"/1": 0.63875 + 0.5 + 0.3, "/2": 0.575 + 1.0 + 0.1, "/3": 0.575 + 1.2})
    assert index.paths("comet") == ["/3", "/2", "/1"]


def test_the_classic_score_counts_chinese_words(tmp_path: Path) -> None:
    index = classic_index(tmp_path / "index", page("/a", "北京北京北京北京", "图书馆"))
    assert index.search("北京图书馆").hits[0].score == pytest.approx(0.5 + 4 * 0.1)


def test_the_classic_ranking_looks_at_the_best_hundred(tmp_path: Path) -> None:
    others = [page(f"/{n}", f"comet w{n}") for n in range(80)]
    often = page("/often", "comet " * 9 + " ".join(f"z{n}" for n in range(3_000)))  # long, so BM25 has it last
    index = classic_index(tmp_path / "index", *others, often)
    assert Searcher(index.folder).urls(Request(query="comet", ranking="bm25"), 100)[-1].endswith("/often")
    assert index.paths("comet")[0] == "/often"


def test_our_rankings_and_the_classic_score_are_compared_on_a_collection() -> None:
    documents = [Doc("rare", "", "a comet"), Doc("often", "", "comet comet comet tail"), Doc("other", "", "a lantern")]
    collection = Collection(name="small", documents=documents, queries={"1": "comet"}, judgements={"1": {"often": 1}})
    runs = {one.name: one for one in compare(collection, 10)}
    assert list(runs) == ["web", "bm25", "classic"]
    assert runs["classic"].ranked["1"] == ["often", "rare"]
    assert runs["classic"].mean.scores.ndcg == 1
