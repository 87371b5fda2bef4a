"""The verdict of a soak: what grew, was lost, or was never seen is said."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "soak"))
from measuring import Sample
from soak_report import ROLES, Ending, problems_of

WELL = Ending(kills=9, expected=100, missing=0, empty=0, twice=0, rude=0, pages=100, examples=[])


def samples(growing: str = "", unseen: str = "", search_ms: float = 5.0, disk: float = 0.0) -> list[Sample]:
    """An hour in forty looks; `unseen`: a role that is gone in the last quarter; `disk`: what each look adds to it."""
    found = []
    for look in range(40):
        old = 20.0 * max(0, look - 20)  # in the second half nobody is killed, and what leaks shows
        size: Mapping[str, float] = {
            role: 200.0 + old * (role == growing) for role in ROLES if role != unseen or look < 30
        }
        files = dict.fromkeys(size, 20)
        found.append(
            Sample(look * 90.0, dict(size), files, {"segments": 100.0 + disk * look}, look * 100, 10, search_ms, look)
        )
    return found


def test_an_hour_in_which_nothing_happened_is_well() -> None:
    assert problems_of(samples(), WELL) == []


@pytest.mark.parametrize("role", ROLES)
def test_what_grew_and_what_was_never_seen_is_named(role: str) -> None:
    [grown] = problems_of(samples(growing=role), WELL)
    assert f"memory of the {role}" in grown
    assert problems_of(samples(unseen=role), WELL) == [f"nothing was measured of {role}"]


def test_a_disk_that_fills_and_texts_that_are_lost_are_told() -> None:
    assert problems_of(samples(disk=1.0), WELL) == []
    [grown] = problems_of(samples(disk=20.0), WELL)
    assert grown.startswith("disk (MiB)")
    lost = Ending(kills=9, expected=100, missing=0, empty=3, twice=0, rude=0, pages=100, examples=[])
    assert problems_of(samples(), lost) == ["3 pages have lost their text"]


def test_a_server_that_never_answers_is_no_success() -> None:
    assert problems_of(samples(search_ms=0.0), WELL) == ["the server answered 0 of 40 searches"]
