"""Classes of change rates, so that millions of pages are planned for by counting them.

A plan needs to know how many pages change how fast, not which. Buckets are spaced evenly on a logarithmic scale, each a
third faster than the one before: finer than any page's rate is ever known. What changes faster or slower than the
scale reaches falls into its last bucket.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gossamer.revisit.buckets import BUCKETS, FASTEST, SLOWEST, STEP, rate_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_CENTRES: Floats = np.array([rate_of(bucket) for bucket in range(BUCKETS)])
_CENTRES.flags.writeable = False


def buckets_of(rates: Floats) -> Ints:
    """The bucket of each rate (changes per second), 0 for the slowest."""
    places: Floats = np.log(np.clip(rates, SLOWEST, FASTEST) / SLOWEST) / STEP
    return np.rint(places).astype(np.int64)


def rates_of(buckets: Ints) -> Floats:
    """The rate, in changes per second, that stands for each bucket."""
    rates: Floats = _CENTRES[buckets]
    return rates


def histogram_of(rates: Floats) -> Floats:
    """How many of the pages with these rates fall into each bucket."""
    return np.bincount(buckets_of(rates), minlength=BUCKETS).astype(np.float64)
