"""Where the index of a machine is, and which documents it holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from gossamer.data.folder import DataFolder
from gossamer.data.locks import indexer_lock
from gossamer.index.folder import IndexFolder
from gossamer.index.shards import WHOLE, Cut
from gossamer.search.shards.config import ShardsConfig


class IndexPlace(msgspec.Struct, frozen=True):
    """Where an index is, and which documents it holds."""

    root: Path
    cut: Cut = WHOLE


def index_place(folder: DataFolder, shards: ShardsConfig) -> IndexPlace:
    """The index of a machine, by its settings."""
    return IndexPlace(Path(shards.index) if shards.index else folder.index, shards.cut)


@contextmanager
def index_lock(folder: DataFolder, place: IndexPlace) -> Iterator[None]:
    """At most one indexer per index."""
    with indexer_lock(folder) if place.root == folder.index else IndexFolder(place.root).lock():
        yield
