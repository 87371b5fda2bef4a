"""Scores become levels: the queue has one first-in-first-out list per level, not a heap (S3.8).

A level is a step of a logarithmic scale, so that a factor moves a URL by the same number of levels
wherever it stood: the default `unfit` of 2^-12 is 16 levels, under everything that fits and is as good.
32 levels reach from 1 down to 2^-23.25, one part in ten million.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gossamer.model.records import LEVELS
from gossamer.priority.strategy import Floats

OCTAVES_PER_LEVEL = 0.75
"""How many times a score is halved from one level to the next."""


def levels_of(scores: Floats) -> NDArray[np.int64]:
    """The level of each score; what is no score (0, negative, not a number) goes to the last."""
    usable = np.where(scores > 0.0, scores, 0.0)
    with np.errstate(divide="ignore"):
        steps = -np.log2(usable) / OCTAVES_PER_LEVEL
    return np.rint(np.clip(steps, 0, LEVELS - 1)).astype(np.int64)


def score_of_level(level: float) -> float:
    """The score in the middle of a level."""
    return float(2.0 ** (-OCTAVES_PER_LEVEL * level))
