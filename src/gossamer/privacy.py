"""A data folder is its owner's alone: it holds passwords, and what people search for.

Whoever opens one for writing takes all rights of group and others away (0700, files with passwords 0600), also where an
earlier version or an editor made it readable. A folder that is not ours alone is left as it is, and only what we put
there is closed: one of another owner (a volume of Kubernetes belongs to root), one that everybody may write to, a home
folder, and `/` with what lies directly in it.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_FILES = ("gossamer.toml", "gossamer.toml.before", "storage.json", "frontier.db", "frontier.db-wal", "frontier.db-shm")
_REST = ("segments", "cache", "index", "run", "graph", "ranks", "jobs", "categories.model", "qrank.model")
"""What else lies in a data folder: enough to close it only where the folder itself cannot be closed."""
_SYSTEM_DEPTH = 2
"""`/` and what lies directly in it belong to the system."""


def keep_private(root: Path) -> None:
    """Take from group and others what they need not see; what cannot be changed stays (`exposed` names it)."""
    for path in exposed(root):
        with contextlib.suppress(OSError):
            path.chmod(stat.S_IMODE(path.lstat().st_mode) & ~_OTHERS)


def exposed(root: Path) -> list[Path]:
    """What of a data folder others than its owner can open: the folder itself, or what lies in one that is not ours
    alone."""
    if _is_ours_alone(root):
        return [path for path in (root, *_inside(root, _FILES)) if _is_open(path)]
    return [path for path in _inside(root, (*_FILES, *_REST)) if _is_open(path)]


def _inside(root: Path, names: tuple[str, ...]) -> Iterator[Path]:
    return (root / name for name in names)


def _is_open(path: Path) -> bool:
    try:
        info = path.lstat()
    except OSError:
        return False
    return not stat.S_ISLNK(info.st_mode) and bool(info.st_mode & _OTHERS)


def _is_ours_alone(root: Path) -> bool:
    try:
        info, whole = root.stat(), root.resolve()
    except OSError:
        return False
    mine = info.st_uid == os.geteuid() and not info.st_mode & stat.S_IWOTH
    return mine and len(whole.parts) > _SYSTEM_DEPTH and not _is_home(whole)


def _is_home(folder: Path) -> bool:
    try:
        return folder == Path.home().resolve()
    except (OSError, RuntimeError):  # nobody says where it is
        return False
