"""The seven methods by name, and which of them is used while crawling (docs/decisions/0009-near-duplicates.md)."""

from __future__ import annotations

from gossamer.dedup.near.contract import NearMethod
from gossamer.dedup.near.imatch import IMatch
from gossamer.dedup.near.imatch_lexicons import IMatchLexicons
from gossamer.dedup.near.minhash import MinHash
from gossamer.dedup.near.shingles import Shingles
from gossamer.dedup.near.simhash import SimHash
from gossamer.dedup.near.statistics import Statistics
from gossamer.dedup.near.supershingles import SuperShingles
from gossamer.dedup.near.topk import TopK

_BY_STATISTICS = {method.name: method for method in (IMatch, IMatchLexicons, TopK)}
_ALONE = {method.name: method for method in (Shingles, MinHash, SuperShingles, SimHash)}
METHODS = (*_BY_STATISTICS, *_ALONE)
"""All names."""
NEED_STATISTICS = frozenset(_BY_STATISTICS)
"""Those that are built from the word statistics of a collection."""
DEFAULT = MinHash.name
"""The method used while crawling."""


def near_method(name: str, statistics: Statistics | None = None) -> NearMethod:
    """A method by name; three of them need the word statistics of a collection. Raises ValueError."""
    if name in _ALONE:
        return _ALONE[name]()
    if name not in _BY_STATISTICS:
        raise ValueError(f"there is no method {name!r}; there are {', '.join(METHODS)}")
    if statistics is None:
        raise ValueError(f"{name} needs the word statistics of a collection")
    return _BY_STATISTICS[name](statistics)
