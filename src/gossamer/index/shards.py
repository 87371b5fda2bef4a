"""The cut of an index: which part of the documents it holds, if the index is spread over machines.

A document's shard follows from its URL alone, so that every node knows it without asking. The key of a URL is a hash
already, but ranges of keys and their low bits serve other purposes (order on disk, parts of a table): it is mixed once
more, so that no pattern of theirs shows in the shards.

`shard_of` is part of the format of a divided index. If you change it, raise `schema.VERSION`.
"""

from __future__ import annotations

import re

import msgspec

from gossamer.errors import UsageError

MOST = 1_024
"""Shards that documents can be divided into."""
_MASK = 2**64 - 1
_WRITTEN = re.compile(r"([0-9]{1,4})/([0-9]{1,4})")


def shard_of(key: int, shards: int) -> int:
    """The shard of a document, from 1 to `shards`: the finaliser of SplitMix64 over its key, scaled to the range."""
    mixed = key & _MASK
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB & _MASK
    mixed ^= mixed >> 31
    return 1 + (mixed * shards >> 64)


class Cut(msgspec.Struct, frozen=True):
    """One part of a whole: shard 2 of 4; by default everything."""

    shard: int = 1
    shards: int = 1

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return self.shards == 1

    def holds(self, key: int) -> bool:
        """Whether the document with a key belongs here."""
        return self.is_whole or shard_of(key, self.shards) == self.shard

    def __str__(self) -> str:
        return f"{self.shard}/{self.shards}"

    @property
    def named(self) -> str:
        """What an index of this cut holds, for sentences."""
        return "all documents" if self.is_whole else f"shard {self}"


WHOLE = Cut()


def parse_cut(text: str) -> Cut:
    """A cut as it is written, `2/4`; empty: everything."""
    if not text.strip():
        return WHOLE
    found = _WRITTEN.fullmatch(text.strip())
    shard, shards = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= shard <= shards <= MOST:
        raise UsageError(f"{text!r} is not a shard: write 2/4 for the second of four, at most {MOST:,}")
    return Cut(shard, shards)
