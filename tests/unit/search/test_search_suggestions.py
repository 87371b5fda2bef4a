"""Suggestions over an index follow the words before the last one, and forgive a mistake in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from searcher_kit import SmallIndex, page
from shards_kit import DividedIndex

PAGES = [
    *(page(f"/less{n}", f"There is less and less of it, says report {n}.", f"Report {n}") for n in range(30)),
    *(page(f"/learn{n}", f"The machine is learning from examples, part {n}.", "Lessons") for n in range(3)),
    page("/lever", "A lever is a simple machine.", "Simple machines"),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> DividedIndex:
    return DividedIndex(tmp_path_factory.mktemp("suggestions"), 3, *PAGES)


def test_a_word_is_completed_by_what_stands_with_the_words_before_it(index: DividedIndex) -> None:
    for searcher in (index.single, index.divided):
        found = searcher.suggest("machine le")
        assert found[:2] == ["machine learning", "machine lever"]
        assert "less" in searcher.suggest("le")


def test_a_mistake_in_the_last_word_is_forgiven(index: DividedIndex) -> None:
    for searcher in (index.single, index.divided):
        assert "learning" in searcher.suggest("laern")
        assert "machine learning" in searcher.suggest("machine laern")
        assert searcher.suggest("qqqqq") == []


def test_words_that_no_page_has_any_more_are_not_suggested(tmp_path: Path) -> None:
    small = SmallIndex(tmp_path / "index", page("/a", "A rocket engine"), page("/b", "A rocket enigma"))
    small.put(page("/b", "Nothing"))
    assert small.searcher.suggest("rocket en") == ["rocket engine"]
    small.writer.close()
