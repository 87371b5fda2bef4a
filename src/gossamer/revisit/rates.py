"""Classes of change rates, so that millions of pages are planned for by counting them.

A plan needs to know how many pages change how fast, not which. Buckets are spaced evenly on a logarithmic scale, each a
third faster than the one before: finer than any page's rate is ever known. What changes faster or slower than the
scale reaches falls into its last bucket.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

DAY = 86_400.0
YEAR = 365.25 * DAY
FASTEST = 1.0 / 600.0
"""Changes a second of the fastest bucket: one in ten minutes."""
SLOWEST = 1.0 / (10.0 * YEAR)
"""Changes a second of the slowest bucket: one in ten years."""
BUCKETS = 48

_STEP = math.log(FASTEST / SLOWEST) / (BUCKETS - 1)
_CENTRES: Floats = SLOWEST * np.exp(_STEP * np.arange(BUCKETS))
_CENTRES.flags.writeable = False


def buckets_of(rates: Floats) -> Ints:
    """The bucket of each rate (changes per second), 0 for the slowest."""
    places: Floats = np.log(np.clip(rates, SLOWEST, FASTEST) / SLOWEST) / _STEP
    return np.rint(places).astype(np.int64)


def rates_of(buckets: Ints) -> Floats:
    """The rate, in changes per second, that stands for each bucket."""
    rates: Floats = _CENTRES[buckets]
    return rates


def histogram_of(rates: Floats) -> Floats:
    """How many of the pages with these rates fall into each bucket."""
    return np.bincount(buckets_of(rates), minlength=BUCKETS).astype(np.float64)
