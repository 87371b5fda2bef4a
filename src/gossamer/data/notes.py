"""Notes in a data folder for later processes."""

from __future__ import annotations

from contextlib import suppress

from gossamer.data.folder import DataFolder
from gossamer.errors import StorageError


def read_note(folder: DataFolder, name: str) -> str | None:
    """What somebody noted."""
    try:
        return (folder.run / name).read_text()
    except (OSError, ValueError):
        return None


def write_note(folder: DataFolder, name: str, text: str) -> None:
    """Write a note; if that fails, work is only done too often."""
    with suppress(OSError, StorageError):
        folder.create_run()
        (folder.run / name).write_text(text)
