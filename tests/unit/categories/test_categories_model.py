"""A stored model says what the trained one said, and damage is noticed."""

from __future__ import annotations

import pytest
from category_texts import UNSEEN, examples
from hypothesis import given
from hypothesis import strategies as st

from gossamer.categories.model import Model, model_of
from gossamer.categories.tokens import MAX_CHARS, stem, words
from gossamer.categories.training import train
from gossamer.errors import CorruptError

MODEL = train(examples())
COPY = Model.from_bytes(MODEL.to_bytes())
WORDS = sorted({word for _, title, text in UNSEEN for word in words(f"{title} {text}")})


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=12), max_size=60).map(" ".join), st.text(max_size=40))
def test_a_stored_model_says_the_same(text: str, title: str) -> None:
    assert COPY.predict(title, text) == MODEL.predict(title, text)
    assert COPY.explain(title, text) == MODEL.explain(title, text)


@given(st.text())
def test_any_text_has_an_answer(text: str) -> None:
    category, confidence = MODEL.predict(text, text)
    assert category in ("", *MODEL.categories)
    assert 0.0 <= confidence <= 1.0


def test_a_stored_model_keeps_its_report() -> None:
    assert COPY.report == MODEL.report
    assert COPY.to_bytes() == MODEL.to_bytes()


def test_no_bytes_are_no_model() -> None:
    assert model_of(b"") is None


@pytest.mark.parametrize("cut", [0, 5, 30, -1])
def test_a_shortened_model_is_refused(cut: int) -> None:
    with pytest.raises(CorruptError, match="gossamer categories train"):
        Model.from_bytes(MODEL.to_bytes()[:cut])


@given(st.integers(0, len(MODEL.to_bytes()) - 1), st.integers(1, 255))
def test_a_changed_byte_is_noticed(place: int, change: int) -> None:
    data = bytearray(MODEL.to_bytes())
    data[place] ^= change
    with pytest.raises(CorruptError):
        Model.from_bytes(bytes(data))


def test_only_the_beginning_of_a_long_page_counts() -> None:
    _, title, text = UNSEEN[0]
    start = (text + " ") * (MAX_CHARS // len(text) + 1)
    assert MODEL.predict(title, start + "telescope orbit planet " * 50_000) == MODEL.predict(title, start)


def test_forms_of_a_word_count_as_one() -> None:
    assert stem("планеты") == stem("планета")
    assert stem("матчей") == stem("матч")
    assert stem("rockets") == stem("rocket")
    assert stem("ёлка") == stem("елка")


def test_writing_without_spaces_gives_pairs_and_others_words() -> None:
    assert words("望远镜 Ракета-носитель 2024 x NASA") == ["望远", "远镜", "ракета", "носитель", "nasa"]


def test_an_unknown_word_weakens_the_rest_and_decides_nothing() -> None:
    title, text = UNSEEN[0][1:]
    strange = " ".join(f"zz{a}{b}q" for a in "abcdefghij" for b in "klmnopqrst")
    plain, diluted = MODEL.explain(title, text), MODEL.explain(title, f"{text} {strange}")
    assert diluted.best == plain.best
    assert diluted.confidences[plain.best] < plain.confidences[plain.best]
