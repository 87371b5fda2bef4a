"""Where the ranks of a data folder lie, for those who write and for those who use them."""

from __future__ import annotations

from pathlib import Path

from gossamer.errors import UsageError
from gossamer.index.ranks import StoredRanks
from gossamer.settings import Settings
from gossamer.store.place import Place, open_place


def rank_place(root: Path, settings: Settings) -> Place:
    """Where graph and ranks lie: in the data folder, or where all machines of a cluster reach them."""
    return open_place(settings.engine.work or str(root.absolute()), root / "cache")


def check_reachable_ranks(root: Path, settings: Settings) -> None:
    """Refuse to let a crawl that several machines share go by ranks which lie in the data folder of one of them."""
    if settings.priority.ranks == str(root.absolute()):
        raise UsageError(
            f"the strategy `earlier` goes by ranks in {root}, where other machines cannot read them: set engine.work "
            "to a folder or s3://bucket/prefix that all of them reach and run `gossamer rank`, or name a file that "
            "all of them have in priority.ranks"
        )


def stored_ranks(root: Path, settings: Settings) -> StoredRanks:
    """The ranks that searches use; there may be none yet."""
    return StoredRanks(rank_place(root, settings))
