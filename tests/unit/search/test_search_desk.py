"""What a search manager's rules do to results: synonyms, best bets, hidden pages, boosts, stop words, collections."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from searcher_kit import NOW, SmallIndex, page
from shards_kit import DividedIndex

from gossamer.errors import UsageError
from gossamer.index.analysis import Languages
from gossamer.search.desk.acting import MOST_ALTERNATIVES, Rules
from gossamer.search.desk.reading import read_desk, write_desk
from gossamer.search.desk.rules import Desk, Synonym, differences
from gossamer.search.query.language import parse
from gossamer.search.remembered import RememberingSearcher
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher
from gossamer.search.shards.sharded import ShardedSearcher
from gossamer.serving.desk import FileDesk
from gossamer.testing import FakeClock


class Published:
    """Rules that count, until others do."""

    def __init__(self, text: str = "") -> None:
        self.rules = Rules(read_desk(text, "test"))

    def current(self) -> Rules:
        return self.rules

    def publish(self, text: str) -> None:
        self.rules = Rules(read_desk(text, "test"), self.rules.version + 1)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallIndex]:
    index = SmallIndex(
        tmp_path_factory.mktemp("desk") / "index",
        page("/bicycles", "Where to leave a bicycle on the campus, and how to register it.", "Bicycle parking",
             lang="en"),
        page("/cars", "Where to leave a car.", "Car parking", lang="en"),
        page("/staff/hours", "The office opens at nine and closes at five.", "When the office is open", lang="en"),
        page("/visit", "Come and see us.", "Visit", lang="en"),
        page("/forms/1040", "The annual statement of income, form 1040.", "Form 1040", lang="en"),
        page("/tax", "Tax offices answer questions about a return.", "Tax and return", lang="en"),
        page("http://de.site.test/rad", "Das Fahrrad steht im Hof.", "Fahrrad", lang="de"),
        page("http://blog.test/parking", "A parking diary: parking, parking, parking.", "Parking", lang="en"),
        *(page(f"/news/{n}", f"News number {n} from the campus about sport.", f"News {n}", lang="en")
          for n in range(12)),
    )  # fmt: skip
    yield index
    index.writer.close()


def under(index: SmallIndex, text: str) -> Searcher:
    return index.searcher.under(Published(text))


def paths(searcher: Searcher, query: str, **more: object) -> list[str]:
    hits = searcher.search(Request(query=query, **more)).hits  # type: ignore[arg-type]  # values of several types
    return [hit.url.removeprefix("http://site.test") for hit in hits]


BIKE = '[[synonym]]\nwords = ["bike", "bicycle", "fahrrad"]\n'


# -- synonyms -------------------------------------------------------------------------------------


def test_a_query_in_vain_finds_pages_with_a_synonym(small: SmallIndex) -> None:
    assert paths(small.searcher, "bike") == []
    found = under(small, BIKE).search(Request(query="bikes"))
    assert {hit.url for hit in found.hits} == {"http://site.test/bicycles", "http://de.site.test/rad"}
    assert found.total == 2
    marked = {piece.lower() for hit in found.hits for piece, is_hit in hit.title.pieces() if is_hit}
    assert marked == {"bicycle", "fahrrad"}


def test_a_page_with_the_typed_word_comes_before_one_with_its_synonym(tmp_path: Path) -> None:
    index = SmallIndex(
        tmp_path / "index", page("/a", "All about the bicycle here.", "Bicycle"),
        page("/b", "All about the velocipede here.", "Velocipede"),
    )  # fmt: skip
    searcher = under(index, '[[synonym]]\nwords = ["bicycle", "velocipede"]\n')
    assert paths(searcher, "bicycle") == ["/a", "/b"] and paths(searcher, "velocipede") == ["/b", "/a"]
    index.writer.close()


def test_a_one_way_synonym_does_not_lead_back(small: SmallIndex) -> None:
    searcher = under(small, '[[synonym]]\nwords = "vehicle"\nfinds = ["bicycle", "car"]\n')
    assert set(paths(searcher, "vehicle")) == {"/bicycles", "/cars"}
    assert paths(searcher, "car") == paths(small.searcher, "car")


def test_a_synonym_of_one_language_finds_only_pages_in_it(small: SmallIndex) -> None:
    searcher = under(small, '[[synonym]]\nwords = ["bike", "bicycle", "fahrrad"]\nlang = "de"\n')
    assert paths(searcher, "bike") == ["http://de.site.test/rad"]


def test_phrases_are_synonyms_of_words_and_words_of_phrases(small: SmallIndex) -> None:
    searcher = under(small, '[[synonym]]\nwords = ["income statement", "form 1040"]\n')
    assert paths(searcher, "income statements")[0] == "/forms/1040"
    assert paths(searcher, "annual income statement") == ["/forms/1040"]
    assert "/forms/1040" not in paths(searcher, "income car")[:1]
    one_way = under(small, '[[synonym]]\nwords = ["tax return"]\nfinds = ["form 1040"]\n')
    assert set(paths(one_way, "tax return")) == {"/tax", "/forms/1040"}
    assert paths(one_way, "return of tax")[0] == "/tax"  # other words in between: the rule is about the phrase


def test_quoted_words_operators_and_excluded_words_are_left_alone(small: SmallIndex) -> None:
    searcher = under(small, BIKE)
    assert paths(searcher, '"bike"') == paths(searcher, "intitle:bike") == []
    assert paths(searcher, "campus -bike") == paths(small.searcher, "campus -bike")


def test_an_explanation_names_the_synonym_and_adds_up(small: SmallIndex) -> None:
    searcher = under(small, BIKE)
    hit = next(one for one in searcher.search(Request(query="bike parking")).hits if one.url.endswith("/bicycles"))
    why = searcher.explain(Request(query="bike parking"), hit.url)
    named = [factor for factor in why.factors if factor.name.startswith("synonym bike = bicycle = fahrrad")]
    assert named and all(factor.value > 0 for factor in named)
    assert why.score == pytest.approx(hit.score, rel=1e-4)


def test_explanations_of_synonyms_of_phrases_add_up(small: SmallIndex) -> None:
    searcher = under(small, '[[synonym]]\nwords = ["tax return"]\nfinds = ["form 1040"]\n')
    for hit in searcher.search(Request(query="tax return")).hits:
        assert searcher.explain(Request(query="tax return"), hit.url).score == pytest.approx(hit.score, rel=1e-4)


def test_rules_cannot_make_a_query_huge() -> None:
    many = Desk(synonym=tuple(Synonym(("bike", *(f"word{n}x{m}" for m in range(49)))) for n in range(1000)))
    effects = Rules(many).effects(parse("bike " * 100 + "bikes"), Request(query=""), Languages(("en",)), NOW)
    assert len(effects.alternatives) <= MOST_ALTERNATIVES


def test_there_are_only_so_many_words_in_all_rules() -> None:
    many = Desk(synonym=tuple(Synonym(tuple(f"word{n}x{m}" for m in range(50))) for n in range(401)))
    with pytest.raises(UsageError, match="20,050 words and queries in all rules: the limit is 20,000"):
        read_desk(write_desk(many), "desk.toml")


def test_a_query_that_a_rule_answers_is_not_searched_another_way(tmp_path: Path) -> None:
    index = SmallIndex(
        tmp_path / "index", page("/bicycle", "Where to leave a bicycle.", "Bicycle"),
        *(page(f"/bake/{n}", f"How to bake bread number {n}.", f"Bake {n}") for n in range(30)),
    )  # fmt: skip
    found = under(index, BIKE).search(Request(query="bike"))
    assert [hit.url for hit in found.hits] == ["http://site.test/bicycle"]
    assert found.attempt is None and not found.did_you_mean
    index.writer.close()


# -- best bets ------------------------------------------------------------------------------------

HOURS = '[[best_bet]]\nqueries = ["opening hours", "parking"]\nurl = "http://site.test/visit"\n'


def test_a_best_bet_comes_first_marked_and_counted(small: SmallIndex) -> None:
    before, searcher = small.search("parking"), under(small, HOURS)
    found = searcher.search(Request(query="Parking"))
    assert found.hits[0].url == "http://site.test/visit" and found.hits[0].recommended
    assert not any(hit.recommended for hit in found.hits[1:])
    assert found.total == before.total + 1
    assert [hit.url for hit in found.hits[1:]] == [hit.url for hit in before.hits]
    assert paths(searcher, "opening hour")[0] == "/visit"


def test_a_best_bet_that_matches_anyway_is_shown_once(small: SmallIndex) -> None:
    searcher = under(small, '[[best_bet]]\nqueries = "parking"\nurl = "http://site.test/cars"\n')
    found = paths(searcher, "parking")
    assert found[0] == "/cars" and found.count("/cars") == 1 and set(found) == set(paths(small.searcher, "parking"))


def test_pages_of_results_follow_each_other_behind_a_best_bet(small: SmallIndex) -> None:
    searcher = under(small, '[[best_bet]]\nqueries = "news"\nurl = "http://site.test/visit"\n')
    listed = [one for number in (1, 2, 3) for one in paths(searcher, "news", size=5, page=number)]
    assert listed[0] == "/visit" and len(listed) == len(set(listed)) == 13


def test_a_best_bet_is_for_the_whole_query_alone(small: SmallIndex) -> None:
    searcher = under(small, HOURS)
    for query, more in {
        "car parking": {}, '"parking"': {}, "parking lang:en": {}, "parking -car": {}, "parking ": {"lang": "de"},
    }.items():  # fmt: skip
        assert "/visit" not in paths(searcher, query, **more), query


@pytest.mark.parametrize(
    ("days", "counts"),
    [
        ("from = 2025-06-15", True), ("from = 2025-06-16", False), ("until = 2025-06-15", True),
        ("until = 2025-06-14", False), ("from = 2025-06-01\nuntil = 2025-06-30", True),
    ],
)  # fmt: skip
def test_a_best_bet_counts_on_its_days(small: SmallIndex, days: str, counts: bool) -> None:
    assert ("/visit" in paths(under(small, HOURS + days), "parking")) is counts  # it is 15 June 2025


def test_best_bets_keep_their_order(small: SmallIndex) -> None:
    text = "\n".join(f'[[best_bet]]\nqueries = "news"\nurl = "http://site.test/{name}"' for name in ("tax", "visit"))
    assert paths(under(small, text), "news")[:2] == ["/tax", "/visit"]


def test_a_best_bet_is_named_by_the_explanation(small: SmallIndex) -> None:
    why = under(small, HOURS).explain(Request(query="parking"), "http://site.test/visit")
    assert why.matches and why.factors[0].name == "best bet opening hours, parking → http://site.test/visit"


# -- hidden pages, boosts, stop words ---------------------------------------------------------------


def test_hidden_pages_are_in_no_result_and_in_no_count(small: SmallIndex) -> None:
    searcher = under(small, '[[hidden]]\nurl = "http://site.test/news/3"\n[[hidden]]\nurl = "http://blog.test/*"\n')
    found = searcher.search(Request(query="news", size=50))
    assert found.total == 11 and "http://site.test/news/3" not in [hit.url for hit in found.hits]
    assert "http://blog.test/parking" not in paths(searcher, "parking")
    assert "blog.test" not in [one.value for one in searcher.search(Request(query="parking")).facets.sites]
    for url, query in (("http://site.test/news/3", "news"), ("http://blog.test/parking", "parking")):
        why = searcher.explain(Request(query=query), url)
        assert not why.matches and why.reason.startswith("a rule of the search desk keeps it out: hidden ")


def test_a_page_can_be_hidden_from_some_queries(small: SmallIndex) -> None:
    searcher = under(small, '[[hidden]]\nurl = "http://site.test/cars"\nqueries = "parking"\n')
    assert "/cars" not in paths(searcher, "parking") and "/cars" in paths(searcher, "car parking")


def test_a_boost_moves_a_site_and_explains_itself(small: SmallIndex) -> None:
    assert paths(small.searcher, "parking")[0] == "http://blog.test/parking"
    searcher = under(small, '[[boost]]\nsite = "blog.test"\ntimes = 0.2\n')
    found = searcher.search(Request(query="parking"))
    assert found.hits[-1].url == "http://blog.test/parking" and found.total == small.search("parking").total
    for hit in found.hits:
        why = searcher.explain(Request(query="parking"), hit.url)
        assert why.score == pytest.approx(hit.score, rel=1e-3)
    assert "boost site:blog.test × 0.2" in [
        one.name for one in searcher.explain(Request(query="parking"), "http://blog.test/parking").factors
    ]
    up = under(small, '[[boost]]\nsite = "site.test/cars"\ntimes = 5\n')
    assert paths(up, "parking")[0] == "/cars"


def test_stop_words_are_dropped_unless_nothing_is_left(small: SmallIndex) -> None:
    searcher = under(small, 'stop_words = ["please", "how do i"]\n')
    assert paths(searcher, "how do I car parking please") == paths(small.searcher, "car parking")
    assert paths(searcher, "please") == paths(small.searcher, "please")
    assert "/cars" in paths(searcher, "please leave a car")


# -- collections ------------------------------------------------------------------------------------

NEWS = '[[collection]]\nname = "news"\nsites = "site.test/news"\n[[collection]]\nname = "german"\nfilter = "lang:de"\n'


def test_a_collection_is_a_part_of_the_crawl(small: SmallIndex) -> None:
    searcher = under(small, NEWS)
    assert set(paths(searcher, "campus", collection="news", size=50)) == {f"/news/{n}" for n in range(12)}
    assert paths(searcher, "fahrrad", collection="german") == ["http://de.site.test/rad"]
    assert paths(searcher, "parking", collection="german") == []
    assert searcher.search(Request(query="site:site.test", collection="news")).total == 12
    assert searcher.search(Request(query="parking", collection="nowhere")).total == 0


def test_a_collection_can_be_boosted(small: SmallIndex) -> None:
    searcher = under(small, NEWS + '[[boost]]\ncollection = "news"\ntimes = 9\n')
    assert paths(searcher, "campus")[0].startswith("/news/")


# -- memory -----------------------------------------------------------------------------------------


def test_the_next_search_after_a_publication_sees_the_rules(small: SmallIndex) -> None:
    desk = Published()
    searcher = RememberingSearcher(small.folder, clock=FakeClock(NOW), desk=desk)
    assert searcher.search(Request(query="bike")).total == 0
    desk.publish(BIKE)
    assert searcher.search(Request(query="bike")).total == 2
    desk.publish("")
    assert searcher.search(Request(query="bike")).total == 0


def test_rules_that_do_not_concern_a_query_change_nothing(small: SmallIndex) -> None:
    searcher = under(small, 'stop_words = "please"\n' + BIKE + HOURS)
    for query in ("campus", "office closes", '"form 1040"', "news OR tax", "site:blog.test"):
        assert searcher.search(Request(query=query)).hits == small.search(query).hits


# -- reading ------------------------------------------------------------------------------------------

EVERYTHING = """stop_words = ["please", "how do i"]

[[synonym]]
words = ["bike", "bicycle"]

[[synonym]]
words = ["tax return"]
finds = "form 1040"
lang = "english"

[[best_bet]]
queries = ["opening hours"]
url = "http://SITE.test:80/visit#top"
from = 2025-01-01
until = "2025-12-31"

[[hidden]]
url = "https://www.example.org/old/*"

[[boost]]
site = "https://site.test/docs/"
times = 2

[[collection]]
name = "docs"
title = "The “documentation” \\\\ <b>"
sites = ["docs.test", "site.test/docs"]
filter = "lang:en -pagetype:listing"
colour = "#0f6b62"
"""


def test_rules_are_written_as_they_are_read() -> None:
    desk = read_desk(EVERYTHING, "desk.toml")
    assert desk.best_bet[0].url == "http://site.test/visit" and desk.best_bet[0].start == "2025-01-01"
    assert desk.synonym[1].lang == "en" and desk.hidden[0].url == "www.example.org/old/*"
    assert desk.boost[0].site == "site.test/docs"
    assert read_desk(write_desk(desk), "again") == desk
    assert msgspec.json.decode(msgspec.json.encode(desk), type=Desk) == desk


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), max_size=4))
def test_any_words_that_are_read_are_written_back(pairs: list[tuple[str, str]]) -> None:
    text = write_desk(Desk(synonym=tuple(Synonym(pair) for pair in pairs)))
    try:
        desk = read_desk(text, "test")
    except UsageError:
        return
    assert read_desk(write_desk(desk), "again") == desk


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[synonym]]\nwords = [", "desk.toml is not TOML: "),
        ("[[synonim]]\n", "desk.toml: unknown key 'synonim': did you mean synonym?"),
        ("\n[[synonym]]\nwords=['a b','c']\n\n[[synonym]]\nword = 'x'\n",
         "desk.toml: line 5, synonym 2: unknown key 'word': did you mean words?"),
        ("[[synonym]]\nwords = 'alone'\n", "desk.toml: line 1, synonym 1: one word is no synonym"),
        ("[[synonym]]\nwords = ['a', '...']\n", "synonym 1: words: '...' has no word"),
        ("[[synonym]]\nwords = ['a', 'b']\nlang = 'klingon'\n", "lang 'klingon' is not a language"),
        ("[[best_bet]]\nqueries = 'a'\nurl = 'visit'\n", "url 'visit' is not a URL"),
        ("[[best_bet]]\nqueries = 'a'\nurl = 'javascript:alert(1)'\n", "is not a URL"),
        ("[[best_bet]]\nqueries = 'a'\nurl = 'http://a.test/'\nfrom = 'soon'\n", "from 'soon' is not a day"),
        ("[[best_bet]]\nqueries = 'a'\nurl = 'http://a.test/'\nfrom = 2026-02-01\nuntil = 2026-01-01\n",
         "from 2026-02-01 is after until 2026-01-01"),
        ("[[boost]]\nsite = 'a.test'\ntimes = 50\n", "times 50 is not from 0.1 to 10"),
        ("[[boost]]\ntimes = 2\n", "name either a site or a collection"),
        ("[[boost]]\ncollection = 'dcos'\n[[collection]]\nname='docs'\nsites='a.test'\n", "did you mean docs?"),
        ("[[collection]]\nname = 'Docs!'\nsites = 'a.test'\n", "small letters a to z"),
        ("[[collection]]\nname = 'docs'\nfilter = 'some words'\n", "has only filters"),
        ("[[collection]]\nname = 'docs'\n", "name sites or a filter"),
        ("[[collection]]\nname = 'a'\nsites = 'a.test'\ncolour = 'red;}'\n", "write #0f6b62"),
        ("[[collection]]\nname = 'a'\nsites = 'a.test'\n[[collection]]\nname = 'a'\nsites = 'b.test'\n",
         "two collections a"),
        ("stop_words = 3\n", "stop_words is a list of words"),
        ("synonym = 'a'\n", "write [[synonym]] before each entry"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_line_and_entry(text: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        read_desk(text, "desk.toml")
    assert message in str(raised.value)


def test_an_edit_is_told_line_by_line() -> None:
    before, after = (read_desk(text, "test") for text in (BIKE + HOURS, 'stop_words = "please"\n' + HOURS))
    assert differences(before, after) == ["- synonym bike = bicycle = fahrrad", "+ stop word please"]


# -- a divided index ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def divided(tmp_path_factory: pytest.TempPathFactory) -> DividedIndex:
    return DividedIndex(
        tmp_path_factory.mktemp("divided") / "index", 3,
        *(page(f"/p/{n}", f"Page {n} about the campus. " + "More about sport. " * (n % 7), f"Page {n}", lang="en")
          for n in range(40)),
        page("/bicycles", "Where to leave a bicycle on the campus.", "Bicycle parking", lang="en"),
        page("/rad", "Das Fahrrad steht im Hof.", "Fahrrad", lang="de"),
        page("/visit", "Come and see us.", "Visit", lang="en"),
    )  # fmt: skip


ALL = (
    'stop_words = "please"\n' + BIKE + '[[best_bet]]\nqueries = "campus"\nurl = "http://site.test/visit"\n'
    '[[hidden]]\nurl = "http://site.test/p/3"\n[[boost]]\nsite = "site.test/p"\ntimes = 0.5\n'
    '[[collection]]\nname = "pages"\nsites = "site.test/p"\n'
)


@pytest.mark.parametrize(
    "query", ["bike", "bikes campus please", "campus", "sport", "campus -sport", "fahrrad OR visit"]
)
def test_a_divided_index_obeys_the_rules_as_one_index_does(divided: DividedIndex, query: str) -> None:
    desk = Published(ALL)
    single, several = divided.single.under(desk), ShardedSearcher(divided.nodes, clock=FakeClock(NOW), desk=desk)
    for more in ({}, {"collection": "pages"}, {"collection": "nowhere"}, {"page": 2, "size": 5}):
        request = Request(query=query, **more)  # type: ignore[arg-type]  # names and values of several types
        one, other = single.search(request), several.search(request)
        assert other.total == one.total and other.facets == one.facets and other.pages == one.pages
        assert {hit.url for hit in other.hits} == {hit.url for hit in one.hits} or one.total > len(one.hits)
        assert [hit.score for hit in other.hits] == pytest.approx([hit.score for hit in one.hits], rel=1e-3)
        assert [hit.recommended for hit in other.hits] == [hit.recommended for hit in one.hits]
        assert "http://site.test/p/3" not in {hit.url for hit in other.hits}


def test_a_divided_index_explains_its_rules(divided: DividedIndex) -> None:
    several = ShardedSearcher(divided.nodes, clock=FakeClock(NOW), desk=Published(ALL))
    for hit in several.search(Request(query="bike")).hits:
        why = several.explain(Request(query="bike"), hit.url)
        assert why.score == pytest.approx(hit.score, rel=1e-3) and any("synonym" in one.name for one in why.factors)
    assert "rule of the search desk" in several.explain(Request(query="campus"), "http://site.test/p/3").reason


def test_a_front_end_reads_its_file_again(tmp_path: Path) -> None:
    file = tmp_path / "desk.toml"
    file.write_text(BIKE)
    desk = FileDesk(file, look=0.0)
    first = desk.current()
    assert len(first.desk.synonym) == 1 and desk.current() is first
    file.write_text(BIKE + HOURS)
    assert len(desk.current().desk.best_bet) == 1
    file.write_text("[[synonym]]\nwords = 'alone'\n")
    assert len(desk.current().desk.best_bet) == 1  # a mistake is reported, and what was before goes on
    with pytest.raises(UsageError, match="line 1, synonym 1"):
        FileDesk(file)
    with pytest.raises(UsageError, match="cannot read"):
        FileDesk(tmp_path / "missing.toml")
