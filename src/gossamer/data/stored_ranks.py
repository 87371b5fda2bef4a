"""Where the ranks of a data folder are, for writers and users."""

from __future__ import annotations

from pathlib import Path

from gossamer.errors import UsageError
from gossamer.index.ranks import StoredRanks
from gossamer.settings import Settings
from gossamer.store.place import Place, open_place


def rank_place(root: Path, settings: Settings) -> Place:
    """Where graph and ranks are: in the data folder, or where all machines of a cluster reach them."""
    return open_place(settings.engine.work or str(root.absolute()), root / "cache")


def check_reachable_ranks(root: Path, settings: Settings) -> None:
    """Refuse a shared crawl that would use ranks in the data folder of one machine."""
    if settings.priority.ranks == str(root.absolute()):
        raise UsageError(
            f"the strategy `earlier` uses ranks in {root}, where other machines cannot read them: set engine.work "
            "to a folder or s3://bucket/prefix that all of them reach and run `gossamer rank`, or name a file that "
            "all of them have in priority.ranks"
        )


def stored_ranks(root: Path, settings: Settings) -> StoredRanks:
    """The ranks that searches use; there may be none yet."""
    return StoredRanks(rank_place(root, settings))
