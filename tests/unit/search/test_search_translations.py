"""A page in several languages is one result, which links to the others as far as they can be found."""

from __future__ import annotations

from pathlib import Path

import pytest
from searcher_kit import SmallIndex, page
from shards_kit import DividedIndex

from gossamer.index.document import IndexPage
from gossamer.search.results import Alternate, Request
from gossamer.web.views import also_in

SITE = "http://site.test"
TEXT = {
    "en": "Gossamer is a thread of silk.",
    "de": "Gossamer ist ein Faden aus Seide.",
    "fr": "Gossamer: fil de soie.",
}


def in_language(lang: str, *listed: str, text: str = "") -> IndexPage:
    alternates = [f"{one} {SITE}/{one}" for one in (*listed, lang)]
    return page(f"/{lang}", text or TEXT[lang], f"Gossamer {lang}", lang=lang, alternates=alternates)


@pytest.fixture
def languages() -> list[IndexPage]:
    every = tuple(TEXT)
    return [in_language(lang, *every, "x-default", "pl") for lang in every]


def test_a_result_links_to_the_languages_that_are_in_the_index(tmp_path: Path, languages: list[IndexPage]) -> None:
    [hit] = SmallIndex(tmp_path, *languages).search("Seide").hits
    assert hit.alternates == (Alternate("en", f"{SITE}/en"), Alternate("fr", f"{SITE}/fr"))


@pytest.mark.parametrize(("query", "first"), [("gossamer thread", "/en"), ("gossamer faden", "/de")])
def test_the_language_that_fits_the_query_stays(
    tmp_path: Path, languages: list[IndexPage], query: str, first: str
) -> None:
    index = SmallIndex(tmp_path, *languages)
    assert index.paths(query) == [first]
    assert len(index.search(query).hits[0].alternates) == 2


def test_all_languages_are_shown_if_the_reader_asks_for_similar_pages(
    tmp_path: Path, languages: list[IndexPage]
) -> None:
    assert len(SmallIndex(tmp_path, *languages).paths("gossamer", similar=True)) == 3


def test_a_page_takes_no_place_of_one_that_does_not_list_it(tmp_path: Path) -> None:
    index = SmallIndex(tmp_path, in_language("en", "de"), in_language("de"))
    assert index.found("gossamer") == {"/en", "/de"}


def test_a_page_that_lists_nobody_links_to_nobody(tmp_path: Path) -> None:
    index = SmallIndex(tmp_path, page("/one", "silk"), page("/two", "silk and more"))
    assert [hit.alternates for hit in index.search("silk").hits] == [(), ()]


def test_shards_answer_as_one_index_does(tmp_path: Path, languages: list[IndexPage]) -> None:
    index = DividedIndex(tmp_path, 3, *languages)
    for query in ("gossamer thread", "seide", "soie"):
        whole, divided = (one.search(Request(query=query)).hits for one in (index.single, index.divided))
        assert [(hit.url, hit.alternates) for hit in divided] == [(hit.url, hit.alternates) for hit in whole]
        assert len(whole) == 1


def test_languages_are_named_in_their_own_words_and_by_region_if_there_are_several() -> None:
    listed = [("de", "/de"), ("en-us", "/us"), ("en-gb", "/gb"), ("pt-br", "/br"), ("tlh", "/k"), ("ru", "no address")]
    links = also_in([Alternate(lang, f"{SITE}{path}" if path[0] == "/" else path) for lang, path in listed], "pl")
    assert [(link.name, link.tag) for link in links] == [
        ("Deutsch", "de"), ("English (US)", "en-us"), ("English (GB)", "en-gb"), ("Português", "pt-br"), ("tlh", "tlh"),
    ]  # fmt: skip


def test_the_language_of_the_page_itself_is_named_by_region() -> None:
    assert [link.name for link in also_in([Alternate("en-gb", f"{SITE}/gb")], "en")] == ["English (GB)"]
