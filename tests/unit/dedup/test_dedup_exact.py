"""Two pages are the same text when a reader would say so, and short pages are never compared."""

from hypothesis import given
from hypothesis import strategies as st

from gossamer.dedup.exact import MIN_CHARS, content_hash

LONG = "The frontier hands out a URL to at most one live lease at any time, whatever dies."


def test_case_and_white_space_do_not_matter():
    spread = LONG.upper().replace(" ", " \n\t\u00a0 ")
    assert content_hash(spread) == content_hash(LONG) != ""


def test_one_character_written_two_ways_is_one_character():
    assert content_hash("caf\u00e9 " * 20) == content_hash("cafe\u0301 " * 20)


def test_another_word_is_another_text():
    assert content_hash(LONG) != content_hash(LONG.replace("most", "least"))


def test_texts_below_the_minimum_have_no_hash():
    assert content_hash("") == content_hash("Please log in.") == content_hash("x" * (MIN_CHARS - 1)) == ""
    assert content_hash("x" * MIN_CHARS)
    assert content_hash(" \n" * 500) == ""


def test_the_hash_is_128_bits_and_stable_between_versions():
    # printf gossamer…gossamer | b2sum -l 128
    assert content_hash("gossamer " * 10) == "6f5d252781138f9bc59a93f93af42f7c"


@given(st.text(min_size=60))
def test_any_text_can_be_hashed(text):
    assert len(content_hash(text)) in (0, 32)
    assert content_hash(text) == content_hash(text)
