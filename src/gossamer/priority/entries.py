"""Where a crawl enters the web: URLs that matter before any link to them was seen.

Strategies that go by links start from these: seeds and what they redirect to, the sitemaps that robots.txt
names, the feeds of start pages, and the news that feeds announce. All else has to be linked to.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gossamer.model.records import Discovered, Kind, Via

_TRUSTED = {Via.SEED, Via.ROBOTS, Via.FEED}


def entries(found: Sequence[Discovered]) -> NDArray[np.bool_]:
    """Which URLs are entries."""
    return np.fromiter((_is_entry(one) for one in found), np.bool_, len(found))


def _is_entry(found: Discovered) -> bool:
    by_link = found.via is Via.LINK and found.kind is Kind.PAGE
    return found.via in _TRUSTED or (found.depth == 0 and not by_link)
