"""Words and meaning together: pages that only meaning finds come in, and everything else holds as before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from searcher_kit import NOW, SmallIndex, page

from gossamer.index.document import IndexPage
from gossamer.indexer.vector_making import VectorMaker
from gossamer.search.desk.acting import Rules
from gossamer.search.desk.reading import read_desk
from gossamer.search.query.language import parse
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher
from gossamer.search.semantic.mixing import Meaning, asked_for
from gossamer.testing import FakeClock
from kit.semantic import WordsEncoder

CAR, AUTOMOBILE = "the car needs new tyres", "the automobile needs new tyres"


def english(path: str, text: str, title: str = "", **more: Any) -> IndexPage:
    return page(path, text, title, lang="en", **more)


class MeaningIndex(SmallIndex):
    """Pages, with vectors unless told otherwise, searched by words and meaning."""

    def __init__(self, root: Path, *pages: IndexPage, make: bool = True) -> None:
        super().__init__(root, *pages)
        self.encoder = WordsEncoder()
        if make:
            self.make()
        self.searcher = self.mixing(0.5)

    def make(self) -> int:
        maker = VectorMaker(self.folder, self.encoder)
        return maker.finish()

    def mixing(self, weight: float) -> Searcher:
        meaning = Meaning(self.folder, weight, self.encoder)
        config = RankingConfig(semantic=weight)
        return Searcher(self.folder, config, self, FakeClock(NOW), self.leaders, meaning=meaning)


def filler(count: int = 40) -> list[IndexPage]:
    return [english(f"/f{n}", f"number{n} other{n} words{n} about{n} things{n}") for n in range(count)]


def test_a_page_without_the_words_is_found_by_its_meaning(tmp_path: Path) -> None:
    index = MeaningIndex(tmp_path, english("/car", CAR), english("/auto", AUTOMOBILE), *filler())
    assert index.paths("automobile tyres") == ["/auto", "/car"]
    assert index.paths("automobile")[:2] == ["/auto", "/car"]
    assert index.search("automobile").total == 2
    words = Searcher(index.folder, RankingConfig(), index, FakeClock(NOW))
    assert words.search(Request(query="automobile")).total == 1


def test_meaning_orders_pages_that_have_the_words(tmp_path: Path) -> None:
    about = english("/about", "bank money account interest loan credit")
    beside = english("/beside", "bank bank money river water fish boats swimming trees grass")
    index = MeaningIndex(tmp_path, about, beside, *filler())
    query = "bank money credit account"
    assert index.paths(query)[:2] == ["/about", "/beside"]


@pytest.mark.parametrize(
    "query",
    ['"automobile"', "intitle:automobile", "inurl:automobile", "automobile OR doctor", "sort:date automobile",
     "autoMobile", "automobile2", "lang:de automobile"],
)  # fmt: skip
def test_queries_that_mean_the_words_find_nothing_else(tmp_path: Path, query: str) -> None:
    index = MeaningIndex(tmp_path, english("/car", CAR), english("/auto", AUTOMOBILE, "automobile"), *filler())
    assert "/car" not in index.found(query)


def test_the_plain_ranking_stays_plain(tmp_path: Path) -> None:
    index = MeaningIndex(tmp_path, english("/car", CAR), english("/auto", AUTOMOBILE), *filler())
    assert index.paths("automobile", ranking="bm25") == ["/auto"]
    assert index.paths("automobile", sort="date") == ["/auto"]


@pytest.mark.parametrize(
    ("query", "chosen"),
    [
        ("automobile -tyres", {}),
        ("automobile site:b.test", {}),
        ("automobile after:2024-01-01", {}),
        ("automobile", {"site": "b.test"}),
        ("automobile", {"page_type": "forum"}),
        ("automobile", {"since": "year"}),
    ],
)
def test_filters_hold_for_pages_found_by_meaning(tmp_path: Path, query: str, chosen: dict[str, Any]) -> None:
    index = MeaningIndex(
        tmp_path, english("/car", CAR, date="2011-05-05"), english("/auto", AUTOMOBILE),
        english("http://b.test/car", "a car of mine", date="2025-05-05", page_type="forum"), *filler(),
    )  # fmt: skip
    assert "/car" in index.found("automobile") and "http://b.test/car" in index.found("automobile")
    assert index.found(query, **chosen) - {"/auto"} == {"http://b.test/car"}


def test_a_narrow_filter_looks_among_all_pages_that_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.search.semantic.mixing._LOOKED_AT", 10)
    near = [english(f"/{n}", "car car car") for n in range(30)]
    index = MeaningIndex(
        tmp_path, *near, english("http://b.test/", "the car of my sister"), english("/a", "automobile")
    )
    assert index.paths("automobile site:b.test") == ["http://b.test/"]


def test_pages_that_left_or_changed_are_not_found_by_what_they_said(tmp_path: Path) -> None:
    index = MeaningIndex(tmp_path, english("/car", CAR), english("/auto", AUTOMOBILE), *filler())
    index.writer.apply({}, {english("/car", "").key}, index.writer.position, NOW)
    assert index.paths("automobile") == ["/auto"]
    index.put(english("/auto", "the physician has no time"))
    index.make()
    assert index.paths("automobile") == []
    assert index.paths("doctor") == ["/auto"]


def test_pages_without_vectors_are_found_by_their_words(tmp_path: Path) -> None:
    index = MeaningIndex(tmp_path, english("/car", CAR), english("/auto", AUTOMOBILE), *filler(), make=False)
    assert index.paths("automobile") == ["/auto"]
    index.make()
    index.put(english("/new", "automobile automobile exhibition"))
    assert index.found("automobile") == {"/auto", "/new", "/car"}


def test_other_languages_keep_their_words_alone(tmp_path: Path) -> None:
    german = [page(f"/de{n}", f"das automobil fährt nummer{n}", lang="de") for n in range(10)]
    index = MeaningIndex(tmp_path, *german, english("/en", "automobil car"), *filler())
    words = Searcher(index.folder, RankingConfig(), index, FakeClock(NOW))
    asked = Request(query="automobil")
    assert [hit.url for hit in index.searcher.search(asked).hits] == [hit.url for hit in words.search(asked).hits]
    assert not any("automobil fährt" in text for text in index.encoder.texts)


def test_the_parts_of_a_score_are_told(tmp_path: Path) -> None:
    index = MeaningIndex(tmp_path, english("/car", CAR), english("/auto", AUTOMOBILE), *filler())
    shown = {hit.url: hit.score for hit in index.search("automobile tyres").hits}
    for path in ("/auto", "/car"):
        url = f"http://site.test{path}"
        told = index.searcher.explain(Request(query="automobile tyres"), url)
        factors = {factor.name: factor for factor in told.factors}
        assert told.matches and told.score == pytest.approx(shown[url], abs=1e-3)
        assert "similarity" in factors["meaning"].detail
        assert any("tyre" in name for name in factors)
    told = index.searcher.explain(Request(query="automobile"), "http://site.test/car")
    assert told.matches and {one.name for one in told.factors} == {"meaning", "prior: short address"}
    assert not index.searcher.explain(Request(query="automobile"), "http://site.test/f1").matches


def test_pages_of_results_follow_each_other_and_counts_fit(tmp_path: Path) -> None:
    near = [english(f"/{n}", f"{'car' if n % 2 else 'automobile'} extra{n}", page_type="forum") for n in range(60)]
    index = MeaningIndex(tmp_path, *near, *filler())
    pages = [index.paths("automobile", page=number, size=20) for number in (1, 2, 3)]
    together = [path for paths in pages for path in paths]
    assert len(together) == len(set(together)) == 60
    results = index.search("automobile")
    assert results.total == 60 and {one.value: one.count for one in results.facets.page_types} == {"forum": 60}


def test_a_query_is_encoded_once(tmp_path: Path) -> None:
    index = MeaningIndex(tmp_path, english("/car", CAR), english("/auto", AUTOMOBILE), *filler())
    before = len(index.encoder.texts)
    for number in (1, 2):
        index.search("automobile tyres", page=number)
    assert len(index.encoder.texts) == before + 1


def test_a_page_that_somebody_put_first_stays_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = MeaningIndex(tmp_path, english("/car", CAR), english("/auto", AUTOMOBILE), *filler())
    before = index.searcher.search(Request(query="automobile tyres")).hits
    best = Searcher._best

    def with_first(self: Searcher, view: Any, *given: Any, **more: Any) -> Any:
        asked, total, hits = best(self, view, *given, **more)
        return asked, total, [(100_000.0, view.find(english("/f7", "").key)), *hits]

    monkeypatch.setattr(Searcher, "_best", with_first)
    after = index.searcher.search(Request(query="automobile tyres")).hits
    assert after[0].url.endswith("/f7") and after[0].score == 100_000
    assert [(hit.url, hit.score) for hit in after[1:]] == [(hit.url, hit.score) for hit in before]


class Desk:
    """Rules that are published."""

    def __init__(self, text: str) -> None:
        self._rules = Rules(read_desk(text, "test"))

    def current(self) -> Rules:
        return self._rules


def test_rules_of_the_desk_hold_for_pages_found_by_meaning(tmp_path: Path) -> None:
    more = english("http://b.test/car", "my car and its tyres")
    index = MeaningIndex(tmp_path, english("/car", CAR), english("/auto", AUTOMOBILE), more, *filler())
    asked = Request(query="automobile")
    assert len(index.searcher.search(asked).hits) == 3
    hidden = index.searcher.under(Desk('[[hidden]]\nurl = "http://site.test/car"\n')).search(asked)
    assert hidden.total == 2 and {hit.url for hit in hidden.hits} == {"http://site.test/auto", "http://b.test/car"}
    best = '[[best_bet]]\nqueries = "automobile"\nurl = "http://site.test/f3"\n'
    found = index.searcher.under(Desk(best)).search(asked).hits
    assert found[0].url == "http://site.test/f3" and [hit.recommended for hit in found] == [True, False, False, False]


def test_damaged_vectors_leave_the_words(tmp_path: Path) -> None:
    index = MeaningIndex(tmp_path, english("/car", CAR), english("/auto", AUTOMOBILE), *filler())
    for path in (tmp_path / "vectors").glob("*.vectors"):
        path.write_bytes(path.read_bytes()[:-1])
    assert index.mixing(0.5).search(Request(query="automobile")).total == 1
    (tmp_path / "vectors" / "vectors.json").write_bytes(b"{")
    assert index.mixing(0.5).search(Request(query="automobile")).total == 1


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("rocket engine", "rocket engine"),
        ("rocket -engine site:a.test", "rocket"),
        ("Rocket", "Rocket"),
        ("how do I read a file in Python 3.11", "how do I read a file in Python 3.11"),
        ("PATENTS OF CHEMICAL OR MEDICAL SYSTEMS", "PATENTS OF CHEMICAL MEDICAL SYSTEMS"),
        ("patents of chemical OR medical systems", ""),
        ("std::move", ""),
        ("camelCase", ""),
        ("3.11", ""),
        ('"rocket engine"', ""),
        ("rocket intitle:engine", ""),
        ("ракета двигатель", ""),
        ("wie funktioniert eigentlich der Motor einer Rakete und warum brennt er nicht durch", ""),
        ("lang:en rocket", "rocket"),
        ("lang:fr rocket", ""),
        ("site:a.test", ""),
        ("", ""),
    ],
)
def test_which_queries_are_asked_by_meaning(query: str, text: str) -> None:
    assert asked_for(parse(query), Request(query=query)) == text


class Ruled:
    """Rules of the search desk."""

    def __init__(self, text: str) -> None:
        self._rules = Rules(read_desk(text, "test"))

    def current(self) -> Rules:
        return self._rules


@pytest.mark.parametrize(
    ("rules", "chosen"),
    [
        ('[[hidden]]\nurl = "http://site.test/car"\n', {}),
        ('[[hidden]]\nurl = "http://site.test/*"\n', {}),
        ('[[collection]]\nname = "b"\nsites = "b.test"\n', {"collection": "b"}),
    ],
)
def test_rules_of_the_search_desk_hold_for_pages_found_by_meaning(
    tmp_path: Path, rules: str, chosen: dict[str, Any]
) -> None:
    index = MeaningIndex(
        tmp_path, english("/car", CAR), english("/auto", AUTOMOBILE), english("http://b.test/car", "a car"), *filler()
    )
    assert {"/car", "http://b.test/car"} <= index.found("automobile")
    ruled = index.searcher.under(Ruled(rules))
    found = {hit.url for hit in ruled.search(Request(query="automobile", size=100, **chosen)).hits}
    assert "http://b.test/car" in found and "http://site.test/car" not in found


def test_a_best_bet_stays_first_beside_meaning_and_a_boost_explains_itself(tmp_path: Path) -> None:
    index = MeaningIndex(tmp_path, english("/car", CAR), english("/auto", AUTOMOBILE), english("/x", "x"), *filler())
    ruled = index.searcher.under(
        Ruled(
            '[[best_bet]]\nqueries = "automobile"\nurl = "http://site.test/x"\n[[boost]]\nsite = "site.test"\ntimes = 3'
        )
    )
    found = ruled.search(Request(query="automobile")).hits
    assert found[0].url == "http://site.test/x" and found[0].recommended and len(found) == 3
    for hit in found[1:]:
        why = ruled.explain(Request(query="automobile"), hit.url)
        assert why.score == pytest.approx(hit.score, rel=1e-3)
