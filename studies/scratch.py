"""A folder for what a measurement makes and throws away."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MEMORY = Path("/dev/shm")
_ROOM = 2_000_000_000
"""Bytes that a run needs at most, with room to spare."""


@contextmanager
def in_memory(name: str) -> Iterator[Path]:
    """A folder in memory, so that work is timed and not the disk; on the disk where there is too little of it."""
    roomy = _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ROOM
    with tempfile.TemporaryDirectory(prefix=f"gossamer-{name}-", dir=_MEMORY if roomy else None) as made:
        yield Path(made)
