"""What is found, and in which order: words of three scripts, operators, filters, facets, paging, copies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from searcher_kit import SmallIndex, page

from gossamer.index import commits
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher

RUSSIAN = "В библиотеке хранятся старые книги о путешествиях. Читатель взял книгу про ёлку и кошку."
CHINESE = "中华人民共和国的首都是北京。研究人员在大学里研究机器学习的算法。"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallIndex]:
    index = SmallIndex(
        tmp_path_factory.mktemp("small") / "index",
        page("/", "The home page of a library about rockets and spiders.", "Home", lang="en"),
        page("/rockets.html", "A rocket burns fuel. Rockets fly to the moon; the first rocket flew in 1926.",
             "Rockets", headings=["Engines"], lang="en", date="2024-05-17"),
        page("/spiders.html", "Spiders build webs. The moon shines on a spider web.", "Spiders of the world",
             lang="en", date="2021-02-03", anchors=["eight-legged friends"]),
        page("/docs/guide/engine.html", "How an engine is built and how it burns.", "Engine guide", lang="en"),
        page("http://ru.site.test/knigi", RUSSIAN, "Книги", lang="ru", date="2025-06-14T10:00:00"),
        page("http://zh.site.test/beijing", CHINESE, "北京大学", lang="zh", date="2023"),
        page("http://other.test:8080/a/b/manual.pdf", "The engine manual.", "Manual", lang="en",
             media_type="application/pdf"),
        page("http://liar.test/", "Кошки любят молоко и спят весь день на тёплой печке.", "Cats", lang="en"),
        page("/caf%C3%A9", "Le café crème des élèves", "Café", lang="fr"),
    )  # fmt: skip
    yield index
    index.writer.close()


def test_a_word_finds_its_other_forms(small: SmallIndex) -> None:
    assert "/rockets.html" in small.found("rocket") & small.found("rockets") & small.found("ROCKET'S")


@pytest.mark.parametrize("form", ["книга", "книги", "книгами", "библиотека", "путешествие", "читателя", "елка", "ёлки"])
def test_an_inflected_russian_word_finds_other_forms(small: SmallIndex, form: str) -> None:
    assert small.paths(form)[:1] == ["http://ru.site.test/knigi"]


@pytest.mark.parametrize("word", ["人民", "共和", "民共", "北京", "机器学习", "学习", "首都", "研究人员"])
def test_chinese_words_are_found_inside_longer_ones(small: SmallIndex, word: str) -> None:
    assert small.paths(word) == ["http://zh.site.test/beijing"]


def test_a_chinese_phrase_is_exact(small: SmallIndex) -> None:
    assert small.paths('"大学里研究"') == ["http://zh.site.test/beijing"]
    assert small.paths('"研究大学里"', literal=True) == []


def test_a_query_in_two_scripts_asks_for_both(small: SmallIndex) -> None:
    index_words = small.search("机器学习 rocket")
    assert {hit.url for hit in index_words.hits} == {"http://zh.site.test/beijing", "http://site.test/rockets.html",
                                                     "http://site.test/"}  # fmt: skip
    assert index_words.notices  # no page has both, and the reader is told


def test_a_page_that_lies_about_its_language_is_found(small: SmallIndex) -> None:
    assert "http://liar.test/" in small.found("кошка") & small.found("печка") & small.found("тёплая")


def test_accents_do_not_matter(small: SmallIndex) -> None:
    assert small.found("cafe") == small.found("café") == small.found("eleve") == {"/caf%C3%A9"}


def test_all_words_are_wanted_and_few_results_are_filled_up_with_a_notice(small: SmallIndex) -> None:
    answer = small.search("moon spider")
    assert answer.hits[0].url == "http://site.test/spiders.html"
    assert answer.total > 1 and "words" in answer.notices[0]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('"burns fuel"', {"/rockets.html"}),
        ('"fuel burns"', set()),
        ("engine -manual", {"/docs/guide/engine.html", "/rockets.html"}),
        ('moon -"the moon"', set()),
        ("fuel OR webs", {"/rockets.html", "/spiders.html"}),
        ("engine site:site.test", {"/docs/guide/engine.html", "/rockets.html"}),
        ("engine site:site.test/docs", {"/docs/guide/engine.html"}),
        ("engine site:site.test/docs/guide/", {"/docs/guide/engine.html"}),
        ("site:test engine", {"/docs/guide/engine.html", "/rockets.html", "http://other.test:8080/a/b/manual.pdf"}),
        ("engine -site:site.test", {"http://other.test:8080/a/b/manual.pdf"}),
        ("site:ru.site.test", {"http://ru.site.test/knigi"}),
        ("site:other.test:8080", {"http://other.test:8080/a/b/manual.pdf"}),
        ("intitle:spiders", {"/spiders.html"}),
        ('intitle:"spiders of the world"', {"/spiders.html"}),
        ("intitle:moon", set()),
        ("intitle:北京", {"http://zh.site.test/beijing"}),
        ("inurl:guide", {"/docs/guide/engine.html"}),
        ("inurl:docs/guide", {"/docs/guide/engine.html"}),
        ("lang:ru", {"http://ru.site.test/knigi"}),
        ("filetype:pdf", {"http://other.test:8080/a/b/manual.pdf"}),
        ("after:2024", {"/rockets.html", "http://ru.site.test/knigi"}),
        ("after:2021-02-03 before:2024", {"/spiders.html", "http://zh.site.test/beijing"}),
        ("before:1970", set()),
        ("-rocket lang:en -site:liar.test", {"/", "/spiders.html", "/docs/guide/engine.html",
                                             "http://other.test:8080/a/b/manual.pdf"}),  # exactly that word
        ("legged", {"/spiders.html"}),  # by the text of a link
        ("world", {"/spiders.html"}),
        ("a" * 120, set()),  # no index holds a word of that length, and it is not everything that is asked for
        ("intitle:!!", set()),
    ],
)  # fmt: skip
def test_operators(small: SmallIndex, query: str, expected: set[str]) -> None:
    assert small.found(query, literal=True) == expected


@pytest.mark.parametrize(
    "query",
    ['"', '"""', "site:", "OR", "-", "AND NOT", "after:never", "foo:bar:baz", "(((", "a" * 100_000, "w " * 10_000,
     "\0\x1b",
     "'; DROP TABLE pages; --", "title:[a TO z]", "*:*", "/.*/", "body:rocket^9", "\ud800", "key:1", "‮", "{!func}"],
)  # fmt: skip
def test_nothing_that_can_be_typed_is_an_error(small: SmallIndex, query: str) -> None:
    answer = small.search(query)
    assert answer.total >= 0
    small.searcher.suggest(query)
    small.searcher.explain(Request(query=query), "http://site.test/")


@given(st.text(max_size=40))
@settings(max_examples=150)
def test_any_text_is_a_query(small: SmallIndex, query: str) -> None:
    answer = small.search(query)
    assert answer.total >= len(answer.hits)
    for hit in answer.hits:
        for marked in (hit.title, hit.excerpt):
            assert "".join(piece for piece, _ in marked.pieces()) == marked.text


def test_a_phrase_or_a_word_in_the_title_is_never_dropped(small: SmallIndex) -> None:
    assert small.found('"burns fuel" spider') == {"/rockets.html"}
    assert small.found('"burns fuel" one two three four five six seven moon') == {"/rockets.html"}
    assert small.found("intitle:spiders fuel") == {"/spiders.html"}
    assert small.found("intitle:spiders site:other.test fuel", literal=True) == set()


def test_a_title_counts_more_than_the_text(small: SmallIndex) -> None:
    assert small.paths("engine")[0] == "/docs/guide/engine.html"


def test_sorting_by_date_puts_the_newest_first_and_the_undated_last(small: SmallIndex) -> None:
    assert small.paths("moon OR книга OR engine", sort="date")[:3] == [
        "http://ru.site.test/knigi", "/rockets.html", "/spiders.html",
    ]  # fmt: skip
    assert small.paths("moon OR книга sort:date")[0] == "http://ru.site.test/knigi"


def test_time_filters_count_back_from_now(small: SmallIndex) -> None:
    assert small.found("книги OR moon", since="day") == small.found("книги", since="week") == {
        "http://ru.site.test/knigi"
    }  # fmt: skip
    assert small.found("rocket", since="year") == set()


def test_facets_count_the_results(small: SmallIndex) -> None:
    facets = small.search("moon OR книги").facets
    assert {(count.value, count.count) for count in facets.sites} == {("site.test", 2), ("ru.site.test", 1)}
    assert {(count.value, count.count) for count in facets.languages} == {("en", 2), ("ru", 1)}
    assert [count.value for count in facets.years] == ["2021", "2024", "2025"]


def test_a_chosen_site_or_language_narrows(small: SmallIndex) -> None:
    assert small.found("moon OR книги", site="ru.site.test") == {"http://ru.site.test/knigi"}
    assert small.found("moon OR книги", lang="en") == {"/rockets.html", "/spiders.html"}


def test_excerpts_and_titles_are_marked_in_all_scripts(small: SmallIndex) -> None:
    for query, word in (("rocket", "Rockets"), ("ёлка", "ёлку"), ("机器学习", "机器学习")):
        hit = small.search(query).hits[0]
        shown = [piece for text in (hit.title, hit.excerpt) for piece, found in text.pieces() if found]
        assert word in shown, (query, shown)


def test_an_excerpt_does_not_repeat_the_title(tmp_path: Path) -> None:
    text = "Comets\n\nThe comet has a tail of dust, and another of gas, which the wind of the sun blows away from it."
    index = SmallIndex(tmp_path / "index", page("/comets", text, "Comets"), page("/short", "Comets pass", "Comets"))
    excerpts = {hit.url[-6:]: hit.excerpt.text for hit in index.search("comets").hits}
    assert excerpts == {"comets": text[8:], "/short": "Comets pass"}
    index.writer.close()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("rokcet", "rocket"), ("ghbdtn", ""), ("rybub", "книги"), ("spyders", "spiders"), ("книжги", "книги")],
)
def test_did_you_mean(small: SmallIndex, typed: str, meant: str) -> None:
    assert small.search(typed).did_you_mean == meant


def test_a_misspelt_word_beside_others_is_corrected(small: SmallIndex) -> None:
    assert small.search("moon spyders").did_you_mean == "moon spiders"


def test_nothing_is_corrected_that_finds_something(small: SmallIndex) -> None:
    assert small.search("книгами").did_you_mean == ""


def test_suggestions_come_from_words_and_titles(small: SmallIndex) -> None:
    assert "Spiders of the world" in small.searcher.suggest("spid")
    assert "книги" in [one.lower() for one in small.searcher.suggest("кни")]
    assert small.searcher.suggest("") == [] == small.searcher.suggest("qqqqq")


def test_a_stored_page_is_shown_with_its_fetch_time(small: SmallIndex) -> None:
    found = small.searcher.page("http://ru.site.test/knigi")
    assert found is not None and found.text == RUSSIAN and found.lang == "ru"
    assert small.searcher.page("http://ru.site.test/") is None


def test_the_next_commit_is_seen_by_itself(tmp_path: Path) -> None:
    index = SmallIndex(tmp_path / "index", page("/one", "first version"))
    assert index.found("version") == {"/one"}
    index.put(page("/two", "second version"))
    assert index.found("version") == {"/one", "/two"}
    index.put(page("/one", "another text"))
    assert index.found("version") == {"/two"}
    index.writer.close()


def test_an_index_that_cannot_be_written_is_searched_and_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = SmallIndex(tmp_path, page("/a", "rocket"))
    folder = index.folder.require()
    (folder / ".tantivy-meta.lock").unlink()
    before = sorted(path.name for path in folder.iterdir())
    monkeypatch.setattr(commits.os, "access", lambda path, mode: False)
    searcher = Searcher.open(tmp_path)
    assert searcher.search(Request(query="rocket")).total == 1
    assert sorted(path.name for path in folder.iterdir()) == before
    index.put(page("/b", "rocket"))  # a disk that only we may not write
    assert searcher.search(Request(query="rocket")).total == 2
