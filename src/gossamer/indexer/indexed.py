"""The state of the index against its crawl, without opening it: from its last commit and the table."""

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
    """Pages in the index."""
    segments: int = 0
    behind: int = 0
    """Changes of the crawl that are not in it yet."""
    committed_at: float | None = None
    problem: str = ""
    """Why it cannot be searched, if it cannot."""


def index_damage(folder: DataFolder) -> str:
    """Damaged files of the index of a data folder, and the remedy; empty if there are none, or no index."""
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
        f"the index in {folder.index} is damaged ({counted(len(files), 'file')} missing or changed, such as "
        f"{files[0]}): searches may fail; run `gossamer index --rebuild --data {folder.root}`"
    )


def index_standing(folder: DataFolder, db: Database) -> IndexStanding:
    """The state of the index of a data folder."""
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
    """Seconds since the oldest unindexed results were stored; 0 if all are indexed."""
    if not index.behind or index.problem:
        return 0.0
    stored = measures.stored_after(db, changes.last_change(db) - index.behind)
    return max(0.0, now - stored) if stored is not None else 0.0
