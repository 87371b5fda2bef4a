"""No string leaves the parser with a character that breaks a record."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.clean import clean_code, clean_line, clean_text

ANY = st.text(alphabet=st.characters())  # lone surrogates too


def test_lines_are_trimmed_collapsed_and_never_empty():
    assert clean_text("  a \t b\xa0\n\n \n c  \r\n") == "a b\nc"


def test_invisible_characters_disappear():
    assert clean_text("a\u200bb\xadc\ufeffd\u202ee\u2066f\x00g\x9fh\x1bi") == "abcdefghi"


def test_unicode_line_ends_become_newlines():
    assert clean_text("a\u2028b\u2029c\x85d\x0ce") == "a\nb\nc\nd\ne"


def test_lone_surrogates_become_replacement_characters():
    assert clean_text("a\ud800b") == "a\ufffdb"


def test_joiners_stay_where_a_script_needs_them_and_go_elsewhere():
    assert clean_text("می\u200cخواهم") == "می\u200cخواهم"
    assert clean_text("👩\u200d💻") == "👩\u200d💻"
    assert clean_text("pass\u200dword\u200c") == "password"


def test_a_line_is_cut_at_its_limit():
    assert clean_line(" one\n two   three ", 7) == "one two"
    assert clean_line("x" * 10_000_000, 5) == "xxxxx"


@given(ANY)
def test_cleaning_is_idempotent_and_leaves_nothing_dangerous(text):
    cleaned = clean_text(text)
    assert clean_text(cleaned) == cleaned
    cleaned.encode()
    assert all(unicodedata.category(c) != "Cc" for c in cleaned if c != "\n")
    assert "\ufeff" not in cleaned
    assert "\u202e" not in cleaned
    assert all(line and line == line.strip() and "  " not in line for line in cleaned.split("\n")) or not cleaned


@given(ANY, st.integers(1, 50))
def test_a_line_is_one_line(text, limit):
    line = clean_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1
    line.encode()


def test_code_keeps_its_spaces_but_at_the_ends_of_lines():
    assert clean_code("if x:\n    y  = 1\u200b  \n\n  \n\u3000z\x00") == "if x:\n    y  = 1\n z"
