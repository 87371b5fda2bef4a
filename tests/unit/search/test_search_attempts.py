"""Where a query finds nothing or little, another is searched, and the results say so; if none helps, they say why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from searcher_kit import SmallIndex, page
from shards_kit import DividedIndex

from gossamer.search.query.transliteration import readings
from gossamer.search.results import Request, Results

RUSSIAN = "В библиотеке хранятся старые книги о путешествиях. Читатель взял книгу и сказал: привет."
PAGES = (
    page("/", "The home page of a library about rockets and spiders.", "Home", lang="en"),
    page(
        "/rockets", "A rocket burns fuel. Rockets fly to the moon; the first rocket flew in 1926.", "Rockets", lang="en"
    ),
    page("/spiders", "Spiders build webs. The moon shines on a spider web.", "Spiders of the world", lang="en"),
    page("/files", "The filesystem keeps names. A call of std::vector::push_back moves them.", "Files", lang="en"),
    page("/ru", RUSSIAN, "Чтение", lang="ru"),
    page("/de", "Die Bibliothek verleiht alte Bücher über weite Reisen.", "Bücherei", lang="de"),
)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallIndex]:
    index = SmallIndex(tmp_path_factory.mktemp("attempts") / "index", *PAGES)
    yield index
    index.writer.close()


ATTEMPTS = [
    ("rokcet", "rocket", "/rockets", "No page has “rokcet”. These are results for “rocket”."),
    ("moon spyders", "moon spiders", "/spiders", "No page has “spyders”. These are results for “moon spiders”."),
    ("rjulf ghbdtn", "", "/ru", ""),
    ("ghbdtn", "привет", "/ru", "No page has “ghbdtn”. These are results for “привет”."),
    ("privet", "привет", "/ru", "No page has “privet”. These are results for “привет”."),
    ("filesys", "filesystem", "/files", "No page has “filesys”. These are results for “filesystem”."),
    (
        "spiderweb",
        "spiderweb",
        "/spiders",
        "No page has “spiderweb” as you wrote it. These pages write it together or apart.",
    ),
    ("std::vectr", "std::vector", "/files", "No page has “std::vectr”. These are results for “std::vector”."),
    ("bibliotek reisen", "bibliothek reisen", "/de", ""),
    (
        '"burn fuel"',
        '"burn fuel"',
        "/rockets",
        "No page has “burn fuel” exactly so. These pages have other forms of the words.",
    ),
    (
        '"fuel burns"',
        "fuel burns",
        "/rockets",
        "No page has the words “fuel burns” in this order. These pages have them in any order.",
    ),
    ('"burns fule"', '"burns fuel"', "/rockets", 'No page has “burns fule”. These are results for "burns fuel".'),
    ('"fule burns" moon', "fuel burns moon", "/rockets", ""),
    ('"fuel burns" zxzxzx', "fuel burns", "/rockets", "No page has “zxzxzx”. These are results for “fuel burns”."),
]


@pytest.mark.parametrize(("typed", "searched", "path", "sentence"), ATTEMPTS)
def test_what_finds_nothing_is_searched_another_way_and_the_results_say_so(
    small: SmallIndex, typed: str, searched: str, path: str, sentence: str
) -> None:
    answer = small.search(typed)
    assert answer.hits and answer.hits[0].url == f"http://site.test{path}"
    assert answer.request.query == typed and answer.in_vain
    if searched:
        assert answer.attempt is not None and answer.attempt.query == searched
    if sentence:
        assert answer.attempt is not None and answer.attempt.sentence == sentence


@pytest.mark.parametrize("typed", [typed for typed, *_ in ATTEMPTS])
def test_the_literal_query_is_left_alone_and_says_why_it_finds_nothing(small: SmallIndex, typed: str) -> None:
    answer = small.search(typed, literal=True)
    assert answer.attempt is None
    assert bool(answer.reason) == (not answer.total)


def test_a_query_that_finds_something_is_searched_as_it_is(small: SmallIndex) -> None:
    for typed in ("rocket", "moon", '"burns fuel"', "книга", "-rocket", "lang:ru"):
        answer = small.search(typed)
        assert answer.total and answer.attempt is None and not answer.in_vain, typed


def test_an_attempt_that_finds_nothing_is_none(small: SmallIndex) -> None:
    answer = small.search("rokcet lang:ru")
    assert answer.attempt is None and answer.did_you_mean == "rocket lang:ru" and answer.reason


@pytest.mark.parametrize(
    ("typed", "reason", "instead"),
    [
        ("zxzxzx", "No page has “zxzxzx”.", ()),
        ("zxzxzx qwqwqw", "No page has “zxzxzx” or “qwqwqw”.", ()),
        (
            "rocket lang:fr",
            "2 pages match “rocket”, but none of them fits the filters and excluded words.",
            ("rocket",),
        ),
        ("rocket -rockets -page", "2 pages match “rocket”, but none", ("rocket",)),
        ("site:nowhere.test", "No page fits the filters and excluded words together.", ()),
        ("!!!", "“!!!” has no word, number or filter to search for.", ()),
        ("", "The query is empty.", ()),
        ("intitle:fuel", "No page matches “intitle:fuel”.", ()),
        ("x" * 120, "No page has “xxx", ()),
    ],
)
def test_what_finds_nothing_at_all_says_why(
    small: SmallIndex, typed: str, reason: str, instead: tuple[str, ...]
) -> None:
    answer = small.search(typed)
    assert not answer.total and answer.reason.startswith(reason) and answer.try_instead == instead
    assert all(small.search(query, literal=True).total for query in answer.try_instead)


def test_a_filter_chosen_beside_the_words_is_a_reason_too(small: SmallIndex) -> None:
    answer = small.search("rocket", lang="fr")
    assert answer.reason.startswith("2 pages match “rocket”") and answer.try_instead == ("rocket",)


def test_an_empty_index_says_so(tmp_path: Path) -> None:
    index = SmallIndex(tmp_path / "index")
    assert index.search("rocket").reason == "The index has no pages yet."
    index.writer.close()


def test_pages_with_the_exact_phrase_come_before_those_with_other_forms(tmp_path: Path) -> None:
    others = [
        page(f"/other{n}", f"The engine burned fuels. Fuel burning engines, number {n}.", "burning") for n in range(4)
    ]
    index = SmallIndex(tmp_path / "index", *others, page("/exact", "x " * 300 + "They burn fuel at last."))
    answer = index.search('"burn fuel"')
    assert answer.hits[0].url == "http://site.test/exact" and answer.total == 5
    assert answer.attempt is not None and answer.attempt.adds and not answer.in_vain
    assert answer.attempt.sentence == "Few pages have “burn fuel”. Pages with other forms of the words follow them."
    assert index.found('"burn fuel"', literal=True) == {"/exact"}
    marked = {piece for hit in answer.hits[1:] for piece, found in hit.excerpt.pieces() if found}
    assert "burned fuels" in marked
    index.writer.close()


def test_forms_of_a_phrase_stand_next_to_each_other(tmp_path: Path) -> None:
    index = SmallIndex(
        tmp_path / "index",
        page("/near", "Старые книги о путешествиях лежат здесь.", lang="ru"),
        page("/far", "Старые дома и новые книги лежат здесь.", lang="ru"),
    )
    answer = index.search('"старая книга"')
    assert [hit.url for hit in answer.hits] == ["http://site.test/near"]
    index.writer.close()


def test_a_copy_of_an_attempted_result_and_its_explanation_are_those_of_the_attempt(small: SmallIndex) -> None:
    told = small.searcher.explain(Request(query="rokcet"), "http://site.test/rockets")
    (hit, *_) = small.search("rokcet").hits
    assert told.matches and told.score == pytest.approx(hit.score, rel=1e-5)
    told = small.searcher.explain(Request(query='"burn fuel"'), "http://site.test/rockets")
    (hit, *_) = small.search('"burn fuel"').hits
    assert told.matches and told.score == pytest.approx(hit.score, rel=1e-5)
    assert not small.searcher.explain(Request(query="rokcet", literal=True), "http://site.test/rockets").matches


def test_a_misspelling_of_the_pages_is_doubted_though_it_finds_some(tmp_path: Path) -> None:
    pages = [page(f"/{n}", f"The receive buffer number {n} of many.") for n in range(120)]
    index = SmallIndex(tmp_path / "index", *pages, page("/wrong", "We recieve nothing, said the buffer of many."))
    answer = index.search("recieve")
    assert answer.attempt is None and [hit.url for hit in answer.hits] == ["http://site.test/wrong"]
    assert answer.did_you_mean == "receive"
    assert index.search("recieve buffer").did_you_mean == "receive buffer"
    assert index.search("said").did_you_mean == ""
    index.writer.close()


def test_names_that_stand_in_titles_only_are_known_to_corrections(tmp_path: Path) -> None:
    index = SmallIndex(tmp_path / "index", page("/a", "A class for things.", "QAbstractItemModel"), page("/b", "Text."))
    answer = index.search("QAbstractItmeModel")
    assert [hit.url for hit in answer.hits] == ["http://site.test/a"] and answer.attempt is not None
    index.writer.close()


QUERIES = [typed for typed, *_ in ATTEMPTS] + [
    "rocket",
    "zxzxzx",
    "rocket lang:fr",
    "!!!",
    "intitle:fuel",
    "rokcet lang:ru",
]


@pytest.mark.parametrize("shards", [1, 3])
def test_a_divided_index_makes_the_same_attempts(tmp_path: Path, shards: int) -> None:
    index = DividedIndex(tmp_path, shards, *PAGES, page("/more", "A rocket burned fuels."), page("/less", "fuel burns"))
    for typed in QUERIES:
        for literal in (False, True):
            request = Request(query=typed, literal=literal)
            one, many = index.single.search(request), index.divided.search(request)
            for name in ("total", "attempt", "reason", "try_instead", "did_you_mean", "notices", "request"):
                assert getattr(one, name) == getattr(many, name), (typed, name)
            assert _scores(one) == pytest.approx(_scores(many), rel=1e-4), typed
    url = "http://site.test/rockets"
    explained = [one.explain(Request(query="rokcet"), url) for one in (index.single, index.divided)]
    assert explained[0].matches and explained[0].score == pytest.approx(explained[1].score, rel=1e-4)


def _scores(results: Results) -> dict[str, float]:
    return {hit.url: hit.score for hit in results.hits}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("privet", "привет"),
        ("Zhizn", "жизнь"),
        ("shchuka", "щука"),
        ("khorosho", "хорошо"),
        ("horosho", "хорошо"),
        ("pis'mo", "письмо"),
        ("pismo", "письмо"),
        ("bolshoy", "большой"),
        ("obyekt", "объект"),
        ("yozh", "еж"),
        ("dostoprimechatelnosti", "достопримечательности"),
        ("pryvit", "привіт"),
        ("kyiv", "київ"),
        ("ukrayina", "україна"),
    ],
)
def test_a_word_typed_by_ear_is_read_in_cyrillic_letters(typed: str, meant: str) -> None:
    assert meant in readings(typed)


@pytest.mark.parametrize("word", ["", "a", "x1", "привет", "naïve", "a b", "q" * 60, "don't-know"])
def test_what_is_no_latin_word_has_no_reading(word: str) -> None:
    assert readings(word) == []


def test_the_readings_of_any_word_are_few() -> None:
    assert len(readings("shchyjeiayushchyjeiayushch")) <= 120
    assert len(readings("yeyeyeyeyeyeyeyeyeyeyeye")) <= 120
