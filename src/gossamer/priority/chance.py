"""Random order: the baseline that every other strategy has to beat.

The lot is a hash of the URL, so the same crawl has the same order each time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gossamer.model.records import LEVELS, Discovered
from gossamer.model.site import key64
from gossamer.priority.levels import OCTAVES_PER_LEVEL
from gossamer.priority.strategy import Floats


class RandomOrder:
    """Each level is as likely as the others."""

    def scores(self, found: Sequence[Discovered]) -> Floats:
        """The score of a level by lot."""
        steps = lots(found) * LEVELS
        return np.exp2(-OCTAVES_PER_LEVEL * np.floor(steps))


def lots(found: Sequence[Discovered]) -> Floats:
    """A number of [0, 1) for each URL, the same each time."""
    keys = np.fromiter((key64(one.url) for one in found), np.int64, len(found))
    # 53 bits are what a float holds: with more, the largest would round up to 1
    return np.ldexp((keys.view(np.uint64) >> np.uint64(11)).astype(np.float64), -53)
