"""What a poll costs, so that all sources together need as many polls as the budget has."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from gossamer.revisit.polls import CEILING, FLOOR, Habit, factors


def price_for(habits: Iterable[Habit], budget: float, floor: float = FLOOR, ceiling: float = CEILING) -> float:
    """The price at which all sources together need `budget` polls a second, or the nearest possible."""
    rows = [_pace(habit) for habit in habits]
    if not rows:
        return 1.0
    pace, least = np.array(rows).T
    low, high = -30.0, 80.0
    for _ in range(60):
        middle = (low + high) / 2
        polls = np.clip(np.maximum(pace / math.sqrt(2 * math.exp(middle)), least), 1 / ceiling, 1 / floor).sum()
        low, high = (middle, high) if polls > budget else (low, middle)
    return math.exp((low + high) / 2)


def _pace(habit: Habit) -> tuple[float, float]:
    """Polls a second at a price of ½, and those needed to miss nothing."""
    by_hour, by_day = factors(habit)
    shape = sum(map(math.sqrt, by_hour)) / 24 * sum(map(math.sqrt, by_day)) / 7
    return math.sqrt(habit.rate / habit.cost) * shape, habit.rate / (habit.listed / 2) if habit.listed else 0.0
