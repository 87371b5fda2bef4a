"""Texts are cut as the model was taught: the numbers were made by the library that its makers use."""

from __future__ import annotations

import pytest

from gossamer.errors import CorruptError
from gossamer.search.semantic.wordpiece import WordPiece
from kit.semantic import WORDS


def pieces(text: str, longest: int = 32) -> list[str]:
    return [WORDS[number] for number in WordPiece(WORDS, longest).numbers(text)][1:-1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A cat", ["a", "cat"]),
        ("CATS sat.", ["cat", "##s", "sat", "."]),
        ("unbreakable", ["un", "##break", "##able"]),
        ("rocket-engine!", ["rocket", "-", "engine", "!"]),
        ("Café", ["cafe"]),
        ("cafe\u0301", ["cafe"]),
        ("the\u00a0mat\r\n\ton", ["the", "mat", "on"]),
        ("c\u00adat", ["cat"]),
        ("a中a", ["a", "中", "a"]),
        ("35", ["3", "##5"]),
        ("zebra cat", ["[UNK]", "cat"]),
        ("catz", ["[UNK]"]),
        ("\ufffd\x00 cat", ["cat"]),
        ("a" * 101, ["[UNK]"]),
        ("", []),
    ],
)
def test_a_text_is_cut_into_known_pieces(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


def test_a_long_text_is_cut_off_and_keeps_its_end() -> None:
    numbers = WordPiece(WORDS, 8).numbers("cat " * 5_000)
    assert [WORDS[number] for number in numbers] == ["[CLS]", *["cat"] * 6, "[SEP]"]


def test_the_same_word_is_cut_the_same_again() -> None:
    cutter = WordPiece(WORDS, 32)
    assert cutter.numbers("cats unbreakable") == cutter.numbers("cats unbreakable")


def test_a_vocabulary_without_the_ends_of_a_text_is_refused() -> None:
    with pytest.raises(CorruptError, match=r"\[SEP\]"):
        WordPiece(["[UNK]", "[CLS]", "a"], 32)
