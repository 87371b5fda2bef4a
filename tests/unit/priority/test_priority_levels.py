"""Scores are cut into levels: in order, all of them, whatever they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.model.records import LEVELS
from gossamer.priority.levels import OCTAVES_PER_LEVEL, levels_of, score_of_level


@pytest.mark.parametrize(
    ("score", "level"),
    [
        (1.0, 0),
        (0.9, 0),
        (2.0**-0.75, 1),
        (0.5, 1),
        (0.25, 3),
        (2.0**-12, 16),
        (2.0**-23.25, 31),
        (1e-300, 31),
        (0.0, 31),
        (-1.0, 31),
        (float("nan"), 31),
        (float("-inf"), 31),
        (2.0, 0),
        (float("inf"), 0),
    ],
)
def test_a_level_is_three_quarters_of_an_octave(score: float, level: int) -> None:
    assert levels_of(np.array([score])).tolist() == [level]


@pytest.mark.parametrize("level", range(LEVELS))
def test_a_level_s_score_has_this_level(level: int) -> None:
    assert levels_of(np.array([score_of_level(level)])).tolist() == [level]


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True)))
def test_anything_has_a_level(scores: list[float]) -> None:
    levels = levels_of(np.array(scores, dtype=np.float64))
    assert len(levels) == len(scores)
    assert all(0 <= level < LEVELS for level in levels.tolist())


@given(st.lists(st.floats(min_value=0, max_value=1), min_size=1))
def test_levels_keep_the_order_of_scores(scores: list[float]) -> None:
    best_first = sorted(scores, reverse=True)
    levels = levels_of(np.array(best_first)).tolist()
    assert levels == sorted(levels)


@given(st.integers(0, LEVELS - 1), st.integers(0, LEVELS - 1))
def test_a_factor_moves_every_score_by_the_same_number_of_levels(start: int, steps: int) -> None:
    moved = score_of_level(start) * 2.0 ** (-OCTAVES_PER_LEVEL * steps)
    assert levels_of(np.array([moved])).tolist() == [min(start + steps, LEVELS - 1)]
