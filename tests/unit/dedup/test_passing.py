"""Clocks and counters make no new text; everything else does."""

from __future__ import annotations

import pytest

from gossamer.dedup.exact import content_hash
from gossamer.dedup.passing import is_date, is_passing, steady, undated

TEXT = "The mill by the river was built in 1870 and has ground the corn of five villages ever since."


@pytest.mark.parametrize(
    "line",
    [
        "Page generated in 0.031 seconds",
        "Page created in 0.05 seconds with 20 queries.",
        "25 queries. 0.234 seconds.",
        "Visitors: 12,345",
        "You are visitor number 12345",
        "This page has been viewed 1,234 times",
        "Users online: 3",
        "Comments (3)",
        "It is currently Tue Nov 18, 2025 2:30 pm",
        "All times are GMT. The time now is 05:30 PM.",
        "Tuesday, November 18, 2025 14:30:21",
        "Heute ist Dienstag, 18. November 2025",
        "Seite erzeugt in 0,12 Sekunden",
        "Сегодня 18 ноября 2025",
        "Просмотров: 123",
        "Страница сгенерирована за 0.03 сек.",
        "今天是2025年11月18日 星期二",
        "访问量:12345",
    ],
)
def test_a_line_that_changes_by_itself_makes_no_new_text(line: str) -> None:
    assert is_passing(line)
    assert content_hash(f"{TEXT}\n{line}") == content_hash(TEXT)


@pytest.mark.parametrize(
    "line",
    [
        "Today is the 50th anniversary of the mill",
        "18 November 2025",
        "We sold 31 tons in May",
        "Version 2.0 was created in 2004",
        "The time now is ripe for 3 changes",
        "Comments on version 3",
        "Views of 1920s Paris",
        "Part 2 of 8",
        "42",
    ],
)
def test_a_number_in_any_other_line_is_content(line: str) -> None:
    assert not is_passing(line)
    assert content_hash(f"{TEXT}\n{line}") != content_hash(TEXT)


def test_a_page_that_is_nothing_but_a_counter_keeps_it() -> None:
    assert steady("Visitors: 12") == "Visitors: 12"


def test_few_dates_do_not_count_for_near_duplicates_but_a_list_of_dates_does() -> None:
    assert is_date("18 November 2025") and not is_date("42")
    assert undated(f"{TEXT}\n18 November 2025").strip() == TEXT
    months = "\n".join(f"March {year}" for year in range(2000, 2010))
    assert undated(f"{TEXT}\n{months}") == f"{TEXT}\n{months}"
