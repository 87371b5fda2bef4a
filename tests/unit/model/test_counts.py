"""Counts in sentences."""

from __future__ import annotations

import pytest

from gossamer.model.counts import counted, noun


@pytest.mark.parametrize(
    ("count", "words", "text"),
    [
        (0, ("error",), "0 errors"), (1, ("error",), "1 error"), (2, ("error",), "2 errors"),
        (1204, ("page",), "1,204 pages"), (1, ("near copy",), "1 near copy"), (3, ("near copy",), "3 near copies"),
        (2, ("day",), "2 days"), (5, ("index",), "5 indexes"), (4, ("process",), "4 processes"),
        (2, ("URL to fetch", "URLs to fetch"), "2 URLs to fetch"), ([7], ("seed",), "1 seed"),
    ],
)  # fmt: skip
def test_one_is_singular_and_all_else_plural(count: int, words: tuple[str, ...], text: str) -> None:
    assert counted(count, *words) == text


def test_a_verb_goes_with_its_count() -> None:
    assert [noun(number, "was") for number in (0, 1, 2)] == ["were", "was", "were"]
