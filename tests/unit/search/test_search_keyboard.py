"""Wrong keyboard layout: the same keys, read on the other layout."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.search.query.keyboard import other_layouts


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("ghbdtn", "привет"),
        ("Ghbdtn", "Привет"),
        ("GHBDTN", "ПРИВЕТ"),
        ("руддщ", "hello"),
        ("Руддщ", "Hello"),
        ("[jhjij", "хорошо"),
        ("{jhjij", "Хорошо"),
        ("j,]tpl", "объезд"),
        (";bpym", "жизнь"),
        ("'nj", "это"),
        ('"nj', "Это"),
        (",tksq", "белый"),
        (".,rf", "юбка"),
        ("`krf", "ёлка"),
        ("~krf", "Ёлка"),
        ("пщщпдуюсщь", "google.com"),
        ("вщтэе", "don't"),
        ("jrnz,hm-2024", "октябрь-2024"),
    ],
)
def test_russian_and_english_keys_change_places(typed: str, meant: str) -> None:
    assert other_layouts(typed)[0] == meant


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("];f", "їжа"),
        ("];F", "їжА"),
        ("'lyscnm", "єдність"),
        ("g`znm", "п'ять"),
        ("rybub", "кнігі"),
        ("ljouf", "доўга"),
        ("O", "Ў"),
    ],
)
def test_ukrainian_and_belarusian_keys_are_tried_too(typed: str, meant: str) -> None:
    assert meant in other_layouts(typed)


@pytest.mark.parametrize(("typed", "meant"), [("іуфкср", "search"), ("цўкдв", "world"), ("ыеўз", "stop")])
def test_a_ukrainian_or_belarusian_layout_left_on_is_recognised(typed: str, meant: str) -> None:
    assert meant in other_layouts(typed)


@pytest.mark.parametrize("text", ["", " ", "2024", "...", "北京", "café", "приvet", "ghbdtn vbh", "ελληνικά"])
def test_nothing_maps_where_a_letter_is_on_no_layout(text: str) -> None:
    assert other_layouts(text) == []


@given(st.text(alphabet="абвгдеёжзийклмнопрстуфхцчшщъыьэюяАБВЁЖЩЪЭЮЯ", min_size=1))
def test_a_russian_word_comes_back_from_its_keys(word: str) -> None:
    keys = other_layouts(word)[0]
    if any(char.isalpha() for char in keys):  # a word of punctuation keys only is taken for punctuation
        assert other_layouts(keys)[0] == word


@given(st.text())
def test_any_text_is_answered_without_itself_or_repetition(text: str) -> None:
    others = other_layouts(text)
    assert text not in others
    assert len(set(others)) == len(others)
