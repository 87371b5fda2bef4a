"""The methods that a crawl can use, by name (docs/decisions/0009-near-duplicates.md).

`studies/duplicates` compares them with four others.
"""

from __future__ import annotations

from gossamer.dedup.near.contract import NearMethod
from gossamer.dedup.near.minhash import MinHash
from gossamer.dedup.near.simhash import SimHash
from gossamer.dedup.near.supershingles import SuperShingles

_METHODS = {method.name: method for method in (MinHash, SuperShingles, SimHash)}
METHODS = tuple(_METHODS)
DEFAULT = MinHash.name
"""The method of the default settings."""


def near_method(name: str) -> NearMethod:
    """A method by name. Raises ValueError."""
    if name not in _METHODS:
        raise ValueError(f"there is no method {name!r}; there are {', '.join(METHODS)}")
    return _METHODS[name]()
