"""How the index stands against its crawl, without opening it: from its last commit and the table."""

from __future__ import annotations

import msgspec

from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.errors import CorruptError, GossamerError
from gossamer.frontier import changes
from gossamer.index import checksums, commits
from gossamer.index.folder import IndexFolder
from gossamer.model.counts import counted
from gossamer.tables import measures


class IndexStanding(msgspec.Struct, frozen=True):
    """Figures of the index for `status`."""

    documents: int = 0
    """Pages that can be searched."""
    segments: int = 0
    behind: int = 0
    """Changes of the crawl that are not in it yet."""
    committed_at: float | None = None
    problem: str = ""
    """Why it cannot be searched, where it cannot."""


def index_damage(folder: DataFolder) -> str:
    """What is damaged in the index of a data folder, and the way out; empty where nothing is, or there is no index."""
    try:
        path = IndexFolder(folder.index).require()
        files = [file.name for file in checksums.seem_damaged(path)]
    except CorruptError as error:
        return str(error)
    except (GossamerError, OSError):
        return ""
    if not files:
        return ""
    return (
        f"the index in {folder.index} is damaged ({counted(len(files), 'file')} missing or not as written, such as "
        f"{files[0]}): searches may fail; run `gossamer index --rebuild --data {folder.root}`"
    )


def index_standing(folder: DataFolder, db: Database) -> IndexStanding:
    """How the index of a data folder stands."""
    try:
        commit = commits.read(IndexFolder(folder.index).require())
    except GossamerError as error:
        return IndexStanding(behind=changes.last_change(db), problem=str(error))
    return IndexStanding(
        documents=sum(segment.alive for segment in commit.segments),
        segments=len(commit.segments),
        behind=max(0, changes.last_change(db) - commit.payload.position),
        committed_at=commit.payload.committed_at or None,
        problem=index_damage(folder),
    )


def index_lag(db: Database, index: IndexStanding, now: float) -> float:
    """Seconds since the oldest results were stored that are not in the index; 0 where all are."""
    if not index.behind or index.problem:
        return 0.0
    stored = measures.stored_after(db, changes.last_change(db) - index.behind)
    return max(0.0, now - stored) if stored is not None else 0.0
