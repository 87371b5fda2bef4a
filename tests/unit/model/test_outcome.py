"""The table of outcomes has no holes and does not contradict itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gossamer.model.outcome import COLUMNS, ERRORS, JOINED, MEANING, Count, Meaning, Outcome, names

RULES: dict[str, Callable[[Meaning], bool]] = {
    "a refusal is final": lambda row: row.final or not row.refusal,
    "nothing is kept of a refusal": lambda row: (row.forgets and not row.leads_on) or not row.refusal,
    "what is tried again is an error": lambda row: row.error or not row.retry,
    "who waits patiently tries again": lambda row: row.retry or not row.patient,
    "a site waits only for what is tried again": lambda row: row.retry or not row.slow,
    "a site waits where no answer came": lambda row: row.slow or not row.unreached,
    "a page that was read is no error": lambda row: not row.page or not row.error,
    "a copy is a page": lambda row: row.page or not row.copy,
    "another URL stands for a copy": lambda row: row.joined or not row.copy,
    "what another URL stands for has no text": lambda row: row.textless or not row.joined,
    "of a copy no text is stored": lambda row: row.forgets or not row.copy,
    "a copy must bring its text again": lambda row: not row.copy or not row.validated,
    "a page that stands for itself is asked for changes": lambda row: row.validated or not row.original,
    "what is read anew gives": lambda row: row.gives or not row.validated,
    "what gives is done": lambda row: row.final or not row.gives,
    "what is cut off is not archived": lambda row: row.unarchived or not row.truncated,
    "a page that stands for itself is archived": lambda row: not row.original or not row.unarchived,
    "of a copy no response is stored": lambda row: row.unarchived or not row.copy,
    "readers are told which URL stands for a page": lambda row: ("{}" in row.absent) == row.joined,
    "readers are told why what did not fail is not found": lambda row: (
        bool(row.absent) == (row.count not in {Count.KEPT, Count.ERRORS, Count.REFUSED})
    ),
}


def test_every_outcome_has_a_row() -> None:
    assert list(MEANING) == list(Outcome)


def test_every_column_has_a_sentence() -> None:
    row = Outcome.DOCUMENT.meaning
    columns = [name for name in dir(row) if isinstance(getattr(row, name), bool)]
    assert sorted(COLUMNS) == sorted(columns)
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in COLUMNS.values())


@pytest.mark.parametrize("column", COLUMNS)
def test_every_column_tells_outcomes_apart(column: str) -> None:
    assert {getattr(row, column) for row in MEANING.values()} == {True, False}


@pytest.mark.parametrize("rule", RULES)
def test_the_columns_agree(rule: str) -> None:
    assert [outcome.value for outcome, row in MEANING.items() if not RULES[rule](row)] == []


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_says_what_comes_next_and_what_can_be_done(outcome: Outcome) -> None:
    row = outcome.meaning
    assert row.sentence and not row.sentence.endswith(".")
    for text in (row.next, row.advice):
        assert (text[0].isupper() or text[0] == "`") and text.endswith("."), text


def test_names_are_those_of_a_column_in_the_order_of_the_table() -> None:
    assert JOINED.listed == ("duplicate", "alias", "redirect")
    assert set(JOINED.listed) == JOINED
    assert JOINED.sql == "'duplicate', 'alias', 'redirect'"
    assert set(ERRORS.listed) == ERRORS == names(lambda row: row.count is Count.ERRORS)
