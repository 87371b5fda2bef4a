"""Settings of a divided index: which part this machine holds, and who holds the others."""

from __future__ import annotations

import os
from collections.abc import Iterable
from urllib.parse import urlsplit

import msgspec

from gossamer.errors import UsageError
from gossamer.index.shards import MOST, Cut, parse_cut
from gossamer.model.counts import counted, noun

KEY_VARIABLE = "GOSSAMER_SHARD_KEY"
"""Environment variable that holds the key, for whoever does not write it into a file."""

Replicas = tuple[str, ...]
"""The addresses of one shard."""


class ShardsConfig(msgspec.Struct, frozen=True):
    """An index that you divide among machines."""

    shard: str = ""
    """The shard that this machine indexes, such as `2/4`; empty: all documents."""
    index: str = ""
    """Folder of the index of this machine; empty: `index` in the data folder."""
    nodes: tuple[str, ...] = ()
    """Addresses of the shard servers that a front end asks: one text per shard, in order, with commas between the
    replicas of a shard."""
    key: str = ""
    """Secret that shard servers and front ends share; required if other machines can reach a shard server. The
    environment variable GOSSAMER_SHARD_KEY overrides it."""
    deadline: float = 2.0
    """Seconds that the shards have for a search; results lack the shards that take longer."""

    desk: str = ""
    """File with the rules of the search desk for a front end, as `gossamer desk show` writes it; a change counts within
    a second."""

    @property
    def cut(self) -> Cut:
        """What the index of this machine holds."""
        return parse_cut(self.shard)

    @property
    def secret(self) -> str:
        """The key, from the environment or the settings."""
        return os.environ.get(KEY_VARIABLE, "") or self.key

    def check(self) -> None:
        """Raise a `UsageError` for what a type cannot rule out."""
        parse_cut(self.shard)
        parse_nodes(self.nodes)
        if not self.deadline > 0:
            raise UsageError(f"shards.deadline is {self.deadline}: it must be more than 0")
        if not self.key.isascii() or any(not 32 < ord(char) < 127 for char in self.key):
            raise UsageError("shards.key must be letters, digits and signs without spaces")


def parse_nodes(texts: Iterable[str]) -> tuple[Replicas, ...]:
    """The shards of a front end: `;` stands between shards, `,` between replicas of one."""
    shards = [part for text in texts for part in text.split(";") if part.strip()]
    if len(shards) > MOST:
        raise UsageError(f"there {noun(len(shards), 'is')} {counted(shards, 'shard')}: at most {MOST:,} are possible")
    return tuple(_replicas(shard) for shard in shards)


def _replicas(text: str) -> Replicas:
    found = tuple(one.strip().rstrip("/") for one in text.split(",") if one.strip())
    for address in found:
        _check(address)
    if len(set(found)) < len(found):
        raise UsageError(f"a replica is named twice: {text}")
    return found


def _check(address: str) -> None:
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and parts.hostname and not parts.query and not parts.fragment
        usable = usable and not parts.path and (parts.port is None or parts.port > 0) and "@" not in parts.netloc
    except ValueError:
        usable = False
    if not usable:
        raise UsageError(f"{address!r} is no address of a shard server: write http://10.0.0.7:8017")
