"""Where the ranks of a data folder lie, for those who write and for those who use them."""

from __future__ import annotations

from pathlib import Path

from gossamer.index.ranks import StoredRanks
from gossamer.settings import Settings
from gossamer.store.place import Place, open_place


def rank_place(root: Path, settings: Settings) -> Place:
    """Where graph and ranks lie: in the data folder, or where all machines of a cluster reach them."""
    return open_place(settings.engine.work or str(root.absolute()), root / "cache")


def stored_ranks(root: Path, settings: Settings) -> StoredRanks:
    """The ranks that searches use; there may be none yet."""
    return StoredRanks(rank_place(root, settings))
