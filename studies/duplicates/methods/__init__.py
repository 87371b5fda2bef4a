"""The seven methods of finding near duplicates by name: three that a crawl can use, four for comparison (S3.12)."""

from __future__ import annotations

from gossamer.dedup.near.contract import NearMethod
from gossamer.dedup.near.registry import METHODS as OF_CRAWLS
from gossamer.dedup.near.registry import near_method
from studies.duplicates.methods.imatch import IMatch
from studies.duplicates.methods.imatch_lexicons import IMatchLexicons
from studies.duplicates.methods.shingles import Shingles
from studies.duplicates.methods.statistics import Statistics
from studies.duplicates.methods.topk import TopK

_BY_STATISTICS = {method.name: method for method in (IMatch, IMatchLexicons, TopK)}
METHODS = (*_BY_STATISTICS, Shingles.name, *OF_CRAWLS)


def method_of(name: str, statistics: Statistics) -> NearMethod:
    """A method by name; three of them are built from the word statistics of a collection."""
    if name in _BY_STATISTICS:
        return _BY_STATISTICS[name](statistics)
    return Shingles() if name == Shingles.name else near_method(name)
