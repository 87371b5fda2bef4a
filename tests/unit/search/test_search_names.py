"""What a reader asks for by name comes first; all words come before some; function words weigh little."""

from __future__ import annotations

from pathlib import Path

import pytest
from searcher_kit import SmallIndex, page

from gossamer.index.names import names, number_of, numbers_asked
from gossamer.search.query.function_words import is_function_word

FILLER = [page(f"/filler/{n}", f"Something else, number {n}, of no interest here.", f"Filler {n}") for n in range(60)]


def test_the_page_whose_title_is_the_query_comes_before_pages_that_repeat_it(tmp_path: Path) -> None:
    members = [
        page(f"/list/{name}", f"TStringList.{name}: a TStringList of TStringList.", f"TStringList.{name}")
        for name in ("Create", "Destroy", "Add", "Sort", "Count")
    ]
    own = page("/list/TStringList.html", "A text on lists that hold strings. " * 30 + "TStringList.", "TStringList")
    index = SmallIndex(tmp_path, *members, own, *FILLER)
    assert index.paths("TStringList")[0] == "/list/TStringList.html"
    assert index.paths("tstringlist.sort")[0] == "/list/Sort"


@pytest.mark.parametrize(
    ("title", "query"),
    [
        ("QString Class", "qstring"),
        ("QString", "QString class"),
        ("3.2. Sorting Lists", "sorting lists"),
        ("Chapter 5. Data Definition", "data definition"),
        ("bisect — Array bisection algorithm", "bisect"),
        ("Vec in std::vec", "vec"),
        ("std::vector< _Tp, _Alloc > Class Template Reference", "std::vector"),
        ("Война и мир", "война и мир"),
        ("机器学习入门", "机器学习入门"),
    ],
)
def test_a_part_of_a_title_is_a_name(title: str, query: str) -> None:
    sure, perhaps = names(title, (), "http://site.test/x")
    assert set(numbers_asked(query)) & {*sure, *perhaps}


def test_a_heading_and_the_end_of_the_address_are_names() -> None:
    sure, perhaps = names("Site", ["HashMap"], "http://site.test/std/collections/struct.BTreeMap.html")
    assert number_of("hashmap") in sure
    assert number_of("btreemap") in perhaps and number_of("struct.BTreeMap") in perhaps
    assert number_of("guide") in names("", (), "http://site.test/guide/index.html")[1]


def test_what_has_no_words_or_too_many_is_no_name() -> None:
    assert number_of("") == number_of("—!") == number_of("word " * 41) == 0
    assert names("", (), "http://site.test/") == ([], [])
    assert numbers_asked("\ud800") == numbers_asked("\ufffd")


def test_pages_with_all_words_come_before_pages_with_some(tmp_path: Path) -> None:
    some = [page(f"/some/{n}", "comet comet comet comet", "Comet") for n in range(15)]
    everything = page("/all", "Far away, a comet was seen beside a lighthouse. " + "Words of no weight follow. " * 80)
    index = SmallIndex(tmp_path, *some, everything, *FILLER)
    found = index.search("comet lighthouse")
    assert found.hits[0].url.endswith("/all") and len(found.hits) > 1
    assert any("part of them" in notice for notice in found.notices)


def test_words_that_only_build_the_sentence_do_not_decide(tmp_path: Path) -> None:
    index = SmallIndex(
        tmp_path,
        page("/what", "what does it do and what is it", "What does it do?"),
        page("/comet", "The tail of a comet is made of dust.", "Comets"),
        *(page(f"/english/{n}", f"One more page about gardening, number {n}.", lang="en") for n in range(60)),
    )
    assert index.paths("what does the tail of a comet consist of")[0] == "/comet"
    assert index.paths("what does it do")[0] == "/what", "a query of such words alone asks for them"


def test_function_words_depend_on_the_language() -> None:
    assert is_function_word("die", ("de",)) and not is_function_word("die", ("en",))
    assert is_function_word("what", ("en",)) and is_function_word("который", ("ru",))
    assert is_function_word("को", ("hi",)) and not is_function_word("comet", ("en", "de", "ru", "hi"))
