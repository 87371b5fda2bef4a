"""What `gossamer --version` says: the version, what is compiled, which extras are installed."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator
from importlib import metadata

from gossamer import __version__, compiled

_EXTRA = re.compile(r"""extra\s*==\s*["']([a-z0-9-]+)["']""")
_NOT_FOR_USERS = frozenset({"bench", "dev", "fuzz", "languages", "training"})
"""For those who work on Gossamer; `languages` is four others."""


def versions() -> str:
    """The version alone in the first line, for programs."""
    for module in compiled.MODULES:
        compiled.twin(module)
    running, refused = compiled.running(), compiled.refused()
    there, missing = _extras()
    return "\n".join(
        (
            __version__,
            f"Python {platform.python_version()} on {platform.system()} {platform.machine()}",
            f"compiled: {', '.join(running) or 'nothing'}"
            + (f"; in Python: {', '.join(sorted(refused))}" if refused else ""),
            f"extras: {', '.join(there) or 'none'}" + (f"; not installed: {', '.join(missing)}" if missing else ""),
        )
    )


def _extras() -> tuple[list[str], list[str]]:
    """The extras of which every library is installed, and the others."""
    wanted: dict[str, bool] = {}
    for extra, library in _requirements():
        wanted[extra] = wanted.get(extra, True) and _is_installed(library)
    return sorted(e for e, there in wanted.items() if there), sorted(e for e, there in wanted.items() if not there)


def _requirements() -> Iterator[tuple[str, str]]:
    for text in metadata.requires("gossamer") or ():
        extra = _EXTRA.search(text)
        if extra and extra[1] not in _NOT_FOR_USERS:
            yield extra[1], re.split(r"[^A-Za-z0-9._-]", text, maxsplit=1)[0]


def _is_installed(library: str) -> bool:
    try:
        metadata.version(library)
    except metadata.PackageNotFoundError:
        return False
    return True
