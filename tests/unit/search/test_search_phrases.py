"""A phrase finds its words in their order, and no phrase makes the index read its pages over and over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from searcher_kit import SmallIndex, page

from gossamer.search.query import building
from gossamer.search.query.phrases import OF_PHRASE, OF_QUERY, Readings

LONG = "the spider lets the first thread drift on the wind until it holds then walks back and ties a second below"
REPEATED = " ".join("a" * 128)


class Recorder:
    """The library's queries, with the phrases that the index is asked for."""

    def __init__(self, real: Any) -> None:
        self._real = real
        self.phrases: list[tuple[str, Sequence[str]]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def phrase_query(self, form: Any, field: str, words: list[str]) -> Any:
        self.phrases.append((field, words))
        return self._real.phrase_query(form, field, words)

    def readings(self, field: str) -> int:
        return sum(max(Counter(words).values()) for where, words in self.phrases if where == field)


@pytest.mark.parametrize(
    "words", [LONG, "to be or not to be", "new york new york", " ".join(map(str, range(128))), "a"]
)
def test_a_phrase_that_people_write_is_asked_for_as_a_whole(words: str) -> None:
    assert Readings().head(words.split()) == len(words.split())


def test_a_phrase_ends_where_a_word_is_repeated_too_often() -> None:
    assert Readings().head(REPEATED.split()) == OF_PHRASE
    assert Readings().head("a b a b a b a b c a".split()) == 9


def test_phrases_of_a_query_share_its_readings() -> None:
    readings = Readings()
    heads = [readings.head((f"a{number}", "b")) for number in range(20)]
    assert heads == [2] * OF_QUERY + [1] * (20 - OF_QUERY)
    assert readings.head(["word"]) == 1 and readings.head([]) == 0


@pytest.mark.parametrize(
    ("query", "field"),
    [
        (f'"{REPEATED}"', "body"),
        (f'a -"{REPEATED}"', "body"),
        (" OR ".join(f'"{" ".join("a" * size)}"' for size in range(2, 16)), "body"),
        (" ".join(f'"a b{number}"' for number in range(60)), "body"),
        (f"inurl:{REPEATED.replace(' ', '.')}", "address"),
        (f"-inurl:{REPEATED.replace(' ', '.')}", "address"),
        ("-" + REPEATED.replace(" ", "."), "body"),
    ],
)
def test_the_index_reads_its_pages_a_few_times_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str, field: str
) -> None:
    index = SmallIndex(tmp_path, page("/a/a/a/a/a", "a " * 300))
    asked = Recorder(building.Q)
    monkeypatch.setattr(building, "Q", asked)
    found = index.search(query, literal=True)
    assert 0 < asked.readings(field) <= OF_QUERY
    assert any("in any word order" in notice for notice in found.notices)


def test_a_long_phrase_finds_only_pages_that_have_it_word_for_word(tmp_path: Path) -> None:
    words = LONG.split()
    swapped = " ".join([*words[:-2], words[-1], words[-2]])
    index = SmallIndex(tmp_path, page("/right", f"We saw how {LONG} it."), page("/wrong", f"We saw how {swapped} it."))
    found = index.search(f'"{LONG}"')
    assert [hit.url for hit in found.hits] == ["http://site.test/right"]
    assert found.notices == ()


def test_words_behind_the_limit_must_be_on_the_page_wherever_they_stand(tmp_path: Path) -> None:
    index = SmallIndex(
        tmp_path, page("/all", "end of go go go go it"), page("/short", "go go go end"), page("/no-end", "go " * 9)
    )
    assert index.found('"go go go go go end"') == {"/all"}
    assert index.found('go -"go go go go go end"') == {"/short", "/no-end"}
