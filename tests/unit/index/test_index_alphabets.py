"""Words cut by a table of bytes are those that regular expressions cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.index import alphabets, spelling
from gossamer.index.analysis import _clean, both, stems_in, surface

LANGUAGES = st.sampled_from(["", "en", "de", "ru", "uk", "pl", "tr", "el", "zh"])
LETTERS = st.text(
    st.sampled_from(
        "abcXYZ019 _-'“”–—…→№«»•·ßäöüÄéñçøÅæœšžłąğİıЁёЙйҐґЎўЖ²½ªºµ\u00ad\u200b\u200d\u0301\u0307ΣςΟ漢かなⒶ①€™\ufffd😀"
        "\xa0\t\u212a"
    )
)
WESTERN = st.text(st.sampled_from("abcXYZ019 _-'“”–—…→№«»•·ßäöüÄéñçøÅæ²½ªºµ\u00ad€™\ufffd😀\xa0\tЖжЁёщłąŠ"))


@settings(max_examples=300)
@given(st.one_of(LETTERS, WESTERN, st.text()), LANGUAGES)
def test_a_table_cuts_as_the_expressions_do_or_leaves_it_to_them(text: str, lang: str) -> None:
    cut = alphabets.words(text, lang)
    if cut is None:
        return
    clean = _clean(text)
    assert cut.split() == spelling.words(clean) == spelling.apart(clean).split()
    assert both(text, lang)[1].split()[: len(cut.split())] == [stems_in(lang)[word] for word in cut.split()]
    assert surface(text).split() == spelling.words(clean)


@pytest.mark.parametrize(
    ("lang", "text", "words"),
    [
        ("en", "“Don’t” — the café’s №1 • naïve…", "don t the café s 1 naïve"),
        ("de", "Größe: 5½ m² „groß“", "größe 5½ m² groß"),
        ("ru", "Ёлки — «это» №5… Їжак, ґанок, C++", "елки это 5 їжак ґанок c"),
        ("pl", "Zażółć gęślą „jaźń” – Łódź", "zażółć gęślą jaźń łódź"),
    ],
)
def test_common_texts_need_no_expressions(lang: str, text: str, words: str) -> None:
    assert (alphabets.words(text, lang) or "").split() == words.split()


@pytest.mark.parametrize("text", ["e\u0301", "İstanbul", "ΟΔΟΣ", "漢字", "हिन्दी", "a\u200db", "Ⓐ", "\ud800", "中。"])
def test_what_a_table_cannot_cut_is_left_to_the_expressions(text: str) -> None:
    assert alphabets.words(text) is None
