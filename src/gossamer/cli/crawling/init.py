"""`gossamer init`: a data folder with commented settings."""

from __future__ import annotations

from pathlib import Path

from gossamer import settings
from gossamer.cli.common import DEFAULT_DATA, Debug, out
from gossamer.data.folder import DataFolder
from gossamer.errors import StorageError, UsageError


def command(folder: Path = DEFAULT_DATA, *, force: bool = False, debug: Debug = False) -> None:
    """Write a commented gossamer.toml into FOLDER.

    Parameters
    ----------
    folder
        The data folder; `init` creates it if it does not exist.
    force
        Overwrite an existing gossamer.toml.
    """
    path = folder / settings.FILE_NAME
    if path.exists() and not force:
        raise UsageError(f"{path} already exists: edit it, or overwrite it with --force")
    DataFolder(folder).create()
    try:
        path.touch(0o600)  # it will hold passwords
        path.write_text(settings.template(), encoding="utf-8")
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}: choose another folder") from error
    out.print(f"Wrote {path}. Set crawl.contact, then: gossamer crawl SEED --data {folder}", markup=False)
