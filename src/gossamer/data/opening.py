"""Opens the frontier of a data folder, whose segments must be of the same crawl."""

from __future__ import annotations

from gossamer.data.folder import DataFolder
from gossamer.data.guidance import guidance_of
from gossamer.data.machine import machine_name
from gossamer.database import meta
from gossamer.database.database import Database
from gossamer.dedup.near.registry import DEFAULT, near_method
from gossamer.errors import UsageError
from gossamer.frontier.contract import CrawlFrontier
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.views.segments import has_segments
from gossamer.scope.shape import path_shape
from gossamer.settings import Settings
from gossamer.store.place import Place, PlaceMissing, open_place
from gossamer.tables.rulebook import load_rules

_MARK = "gossamer-crawl.id"
"""The file beside shared segments that names their crawl."""


def open_frontier(folder: DataFolder, settings: Settings, founding: bool = False) -> CrawlFrontier:
    """The frontier, for writing; `founding`: the caller decides where the segments are while there are none yet."""
    database = folder.open_database()
    if folder.is_shared or folder.storage.segments:
        _check_segments(folder, database, founding)
    # Without a method nothing has a fingerprint, and the default is never used.
    near = near_method(DEFAULT if settings.dedup.near == "none" else settings.dedup.near)
    guidance = guidance_of(settings, load_rules(database))
    return SqlFrontier(
        database, settings.budget, settings.polite, path_shape, near, settings.dedup.mirrors, guidance,
        machine_name(folder),
    )  # fmt: skip


def mark_segments(folder: DataFolder, database: Database) -> None:
    """Note beside shared segments that they belong to the crawl in this database."""
    if folder.is_shared or folder.storage.segments:
        _place(folder).create(_MARK, meta.crawl_id(database).encode())


def _check_segments(folder: DataFolder, database: Database, founding: bool) -> None:
    """Database and segments must be of the same crawl: two crawls in one place would delete each other's files."""
    crawl, place = meta.crawl_id(database), _place(folder)
    started = folder.is_shared and meta.noted(database, meta.SETTINGS)
    if not has_segments(database) and (founding or not started) and place.create(_MARK, crawl.encode()):
        return
    try:
        found = place.get(_MARK).decode("ascii", "replace")
    except PlaceMissing:
        found = ""
    if found != crawl:
        whose = f"those of another crawl ({found})" if found else "not those of this crawl"
        raise UsageError(
            f"the segments at {place.url} are {whose}, but the database {database.where} is of {crawl}: "
            "all machines need the same storage.database and storage.segments"
        )


def _place(folder: DataFolder) -> Place:
    return open_place(folder.segments.url, folder.cache)
