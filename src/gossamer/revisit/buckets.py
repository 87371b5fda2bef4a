"""Classes of change rates, and how fresh a copy of a page of a class is: plain numbers, for who loads no NumPy.

`rates` and `freshness` have the same for arrays, and the theory.
"""

from __future__ import annotations

import math

DAY = 86_400.0
YEAR = 365.25 * DAY
FASTEST = 1.0 / 600.0
"""Changes a second of the fastest bucket: one in ten minutes."""
SLOWEST = 1.0 / (10.0 * YEAR)
"""Changes a second of the slowest bucket: one in ten years."""
BUCKETS = 48
STEP = math.log(FASTEST / SLOWEST) / (BUCKETS - 1)
_SMALL = 1e-5
"""λt below which half of it stands for the closed form, which subtracts numbers that are nearly equal there."""


def rate_of(bucket: int) -> float:
    """The rate, in changes per second, that stands for a bucket."""
    return SLOWEST * math.exp(STEP * bucket)


def freshness_and_age(rate: float, t: float) -> tuple[float, float]:
    """Probability that a copy made `t` seconds ago is still like the page, and its expected age in seconds."""
    x = rate * t
    lag = 1.0 + math.expm1(-x) / x if x > _SMALL else x / 2
    return math.exp(-x), t * lag
