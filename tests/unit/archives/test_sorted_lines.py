"""An index of any size is sorted without being in memory."""

from __future__ import annotations

import random

import pytest

from gossamer.data.archives import cdxj


@pytest.mark.parametrize("count", [0, 1, 99, 100, 101, 1_234])
def test_lines_come_sorted_whatever_their_number(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cdxj, "RUN", 100)
    lines = [f"{random.Random(number).random()} {number}\n".encode() for number in range(count)]
    assert list(cdxj.sorted_lines(iter(lines))) == sorted(lines)


@pytest.mark.parametrize(
    ("date", "digits"),
    [("2026-11-15T03:31:05.123456Z", "20261115033105"), ("2026-11-15T03:31:05Z", "20261115033105")],
)
def test_a_time_has_fourteen_digits(date: str, digits: str) -> None:
    assert cdxj.timestamp(date) == digits
