"""The folder of the index: generations, of which one is current.

    index/current            the name of the generation that is searched
    index/<generation>/      tantivy/ (the index), anchors.db, scratch/

A rebuild fills a new generation beside the old one; the switch is one rename. A searcher that still has the old one
open
keeps its files until it opens the new one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from gossamer.errors import BusyError, OperationError, StorageError
from gossamer.index import commits
from gossamer.index.shards import WHOLE, Cut

_CURRENT = "current"
_LOCK = "indexer.lock"
_GENERATION = re.compile(r"g[0-9]{1,12}")


class IndexMissingError(OperationError):
    """Nothing has been indexed yet."""


class IndexFolder:
    """Paths of an index and its generations."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.pointer = root / _CURRENT
        """The file that names the current generation; a switch replaces it."""

    def current(self) -> str | None:
        """The name of the generation that is searched; None if there is none yet."""
        try:
            name = (self.root / _CURRENT).read_text(errors="replace").strip()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StorageError(
                f"cannot read {self.root / _CURRENT}: {error.strerror}: check its permissions"
            ) from error
        return name if _GENERATION.fullmatch(name) and self.tantivy(name).is_dir() else None

    def cut(self) -> Cut | None:
        """The cut of the current generation; None if it is unknown."""
        name = self.current()
        try:
            return commits.read(self.tantivy(name)).payload.cut if name is not None else None
        except OperationError:
            return None

    def require(self) -> Path:
        """The Tantivy folder of the current generation."""
        name = self.current()
        if name is None:
            raise IndexMissingError(
                f"there is no index in {self.root} yet: crawl a site (`gossamer crawl URL --contact YOU`); "
                "if you have crawled without an index, run `gossamer index`"
            )
        return self.tantivy(name)

    def tantivy(self, generation: str) -> Path:
        """Where Tantivy's files are."""
        return self.root / generation / "tantivy"

    def scratch(self, generation: str) -> Path:
        """Where segments are made."""
        return self.root / generation / "scratch"

    def anchors(self, generation: str) -> Path:
        """The database of anchor texts."""
        return self.root / generation / "anchors.db"

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """At most one indexer per index outside a data folder; the kernel frees it, however the process ends."""
        with commits.storing(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.root / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise BusyError(f"an indexer is already running on {self.root}: the index follows by itself") from error
            yield
        finally:
            os.close(descriptor)

    def create(self, crawl: str = "", cut: Cut = WHOLE, using: Sequence[str] | None = None) -> str:
        """A new, empty generation that is not searched yet; returns its name. `using`: analysers, if not all that are
        installed."""
        with commits.storing(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
        number = 1 + max((int(name[1:]) for name in self._generations()), default=0)
        name = f"g{number:06}"
        commits.create(self.tantivy(name), crawl, cut, using)
        return name

    def switch(self, generation: str) -> None:
        """Make a generation the one that is searched, atomically, and delete the others."""
        temporary = self.root / f"{_CURRENT}.new"
        with commits.storing(self.root):
            with temporary.open("w") as file:
                file.write(generation + "\n")
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.root / _CURRENT)
            commits.sync_folder(self.root)
        self.clean()

    def clean(self) -> None:
        """Delete generations that are not searched: old ones, and rebuilds that were never finished."""
        current = self.current()
        for name in self._generations():
            if name != current:
                shutil.rmtree(self.root / name, ignore_errors=True)

    def _generations(self) -> list[str]:
        if not self.root.is_dir():
            return []
        return [path.name for path in self.root.iterdir() if _GENERATION.fullmatch(path.name)]
