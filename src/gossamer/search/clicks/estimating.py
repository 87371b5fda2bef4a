"""How readers look at results, learned from what was shown and opened.

The position-based model by expectation maximisation: from guesses of how likely readers look at a place and how
attractive each page is follows how many of those who did not click had looked, and from that better guesses. A page
that was shown at several places tells the two apart. What is believed before (`evidence.PRIOR`) counts like `_BELIEF`
readers at each place, so little data changes little. The first place is 1: only ratios can be learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gossamer.search.clicks.evidence import PLACES, PRIOR, Model

_BELIEF = 200.0
"""Readers at each place that what is believed before counts as much as."""
_SHY = 4.0
"""The same for the attractiveness of a page, which the usual one is believed of."""
_ROUNDS = 50
_FLOOR = 0.05
"""No place is looked at less, so no click counts more than twenty."""
_ENOUGH = 1e-4


class Sum(NamedTuple):
    """Readers who were shown a page for a query at a place, and who opened it."""

    page: int
    query: int
    place: int
    shown: int
    opened: int


def estimated(sums: Sequence[Sum]) -> Model:
    """The model that fits counts of many queries; the prior where there are none."""
    if not sums:
        return PRIOR
    table = np.array([(one.page, one.query, one.place, one.shown, one.opened) for one in sums], np.int64)
    _, pair = np.unique(table[:, :2], axis=0, return_inverse=True)
    pair = pair.reshape(-1)
    place = np.clip(table[:, 2], 1, PLACES) - 1
    shown = np.maximum(table[:, 3], table[:, 4]).astype(float)
    opened = table[:, 4].astype(float)
    passed = shown - opened
    pairs = int(pair.max()) + 1
    believed = np.array(PRIOR.places)
    looks, usual = believed.copy(), PRIOR.usual
    attractive = np.full(pairs, usual)
    for _ in range(_ROUNDS):
        look, like = looks[place], attractive[pair]
        unseen = np.maximum(1 - look * like, 1e-9)
        looked = opened + passed * look * (1 - like) / unseen
        liked = opened + passed * like * (1 - look) / unseen
        before = looks
        looks = (_per(place, looked, PLACES) + _BELIEF * believed) / (_per(place, shown, PLACES) + _BELIEF)
        looks = np.clip(looks / looks[0], _FLOOR, 1.0)
        attractive = (_per(pair, liked, pairs) + _SHY * usual) / (_per(pair, shown, pairs) + _SHY)
        usual = _usual(opened, shown, looks[place])
        if np.abs(looks - before).max() < _ENOUGH:
            break
    return Model(tuple(round(float(one), 4) for one in looks), round(usual, 4))


def _usual(opened: np.ndarray, shown: np.ndarray, look: np.ndarray) -> float:
    """The share of those who look that open what they see."""
    return float(min((opened.sum() + _BELIEF * PRIOR.usual) / ((shown * look).sum() + _BELIEF), 0.95))


def _per(group: np.ndarray, value: np.ndarray, groups: int) -> np.ndarray:
    return np.bincount(group, weights=value, minlength=groups)
