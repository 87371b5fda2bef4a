"""Where the database and the segments of a data folder are."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gossamer.errors import UsageError
from gossamer.settings import load
from gossamer.store.config import StorageConfig
from gossamer.store.durable import replace_file, storing

_STORAGE = "storage.json"


def storage_of(root: Path) -> StorageConfig:
    """Where the crawl of a data folder is: as the command line once said, else as the settings say."""
    path = root / _STORAGE
    try:
        return msgspec.json.decode(path.read_bytes(), type=StorageConfig)
    except FileNotFoundError:
        return load(root).storage
    except (OSError, msgspec.DecodeError) as error:
        raise UsageError(f"{path} cannot be read ({error}): delete it, and pass --database and --segments") from error


def remember_storage(root: Path, database: str | None, segments: str | None) -> StorageConfig:
    """Keep the command line's database and segments for later commands; returns the present ones."""
    storage = storage_of(root)
    if database is None and segments is None:
        return storage
    given = {"database": database, "segments": segments}
    storage = msgspec.structs.replace(storage, **{name: text for name, text in given.items() if text is not None})
    storage.check()
    with storing(root):
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_storage(root, storage)
    return storage


def write_storage(root: Path, storage: StorageConfig) -> None:
    """Keep where database and segments are; the file may hold the database's password."""
    with storing(root):
        replace_file(root / _STORAGE, msgspec.json.encode(storage))
