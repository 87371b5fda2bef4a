"""The data folder: where everything of a crawl lies.

gossamer.toml    settings
storage.json     where database and segments lie, where the command line said so
frontier.db      the frontier database (SQLite), unless `storage.database` names a server
segments/        what was downloaded, unless `storage.segments` names another place
cache/           copies of segments that lie far away, and those that are being built
index/           what is searched
categories.model the classifier of `gossamer categories train`, where there is one
qrank.model      the model of `gossamer qrank train`, where there is one
sync/            how far other systems are that `gossamer sync` keeps in step
run/             locks: one for `crawl`, one for `run`, one for the indexer, one per worker; when what is done
                 every so often was done last
"""

from __future__ import annotations

import shutil
from functools import cached_property
from pathlib import Path

from gossamer.data.storage import storage_of
from gossamer.database.database import Database, Where, is_server, open_database, read_database
from gossamer.errors import StorageError
from gossamer.privacy import keep_private
from gossamer.store.config import StorageConfig
from gossamer.store.remote_segments import open_segments
from gossamer.store.segment_folder import Segments


class DataFolder:
    """The places of one data folder."""

    def __init__(self, root: Path, storage: StorageConfig | None = None) -> None:
        """`storage`: where database and segments are; by default as the folder says."""
        self.root = root
        self.storage = storage or storage_of(root)
        self.database: Where = self.storage.database or root / "frontier.db"
        self.index = root / "index"
        self.categories = root / "categories.model"
        self.cache = root / "cache"
        self.run = root / "run"

    @cached_property
    def segments(self) -> Segments:
        """The segments, wherever they are; no request to a store before it is used."""
        place = self.storage.segments
        folder = place if "://" in place else str(self.root / (place or "segments"))
        return open_segments(folder, self.cache, self.storage.cache * 1024 * 1024)

    def create(self) -> None:
        """Create the folder if needed, and check that segments can be written."""
        self.create_run()
        self.segments.create()

    def create_run(self) -> None:
        """Create the folder and its place for locks if needed."""
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.run.mkdir(exist_ok=True)
        except OSError as error:
            raise StorageError(f"cannot create {self.root}: {error.strerror}: choose another --data folder") from error
        keep_private(self.root)

    @property
    def is_shared(self) -> bool:
        """Whether other machines work on the same crawl."""
        return is_server(self.database)

    def has_crawl(self) -> bool:
        """Whether there is a database; one on a server is contacted only when it is used."""
        return not isinstance(self.database, Path) or self.database.exists()

    def open_database(self) -> Database:
        """The frontier database, for writing."""
        return open_database(self.database)

    def read(self) -> Database:
        """The frontier database, for reading."""
        return read_database(self.database)

    def free_mebibytes(self) -> int:
        """Free space on the folder's disk, or on that of the segments if it is less."""
        return min(shutil.disk_usage(self.root).free, self.segments.free_bytes()) // (1024 * 1024)
