"""Counts copies, allocations and system calls of this process and of others, with the hook `_counting.c`.

A script that wants to count calls `begin` first: it compiles the hook, and starts itself again with it. Python then
takes each block from the C library (`PYTHONMALLOC=malloc`), so each object counts but for those that Python keeps in
lists of its own to use again (small tuples, floats, frames).
"""

from __future__ import annotations

import hashlib
import mmap
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

_SOURCE = Path(__file__).with_name("_counting.c")
_FOLDER = "GOSSAMER_COUNTS"
_FLAGS = ("-fno-builtin", "-fno-tree-loop-distribute-patterns")
"""The hook's own copying must not become calls of what it replaces."""


class Counts(NamedTuple):
    """What a process did; in the order of the hook."""

    allocations: float = 0
    allocated: float = 0
    """Bytes of them."""
    copies: float = 0
    """Calls of memcpy and the like, and blocks that grew into another place."""
    copied: float = 0
    """Bytes of them."""
    system_calls: float = 0
    """Reads and writes, also of sockets."""
    crossed: float = 0
    """Bytes that they moved: the kernel copies each."""

    def __sub__(self, other: Counts) -> Counts:
        return Counts(*(mine - its for mine, its in zip(self, other, strict=True)))

    def plus(self, other: Counts, times: float = 1.0) -> Counts:
        return Counts(*(mine + times * its for mine, its in zip(self, other, strict=True)))

    def per(self, number: float) -> Counts:
        return Counts(*(mine / number for mine in self))


def why_not() -> str:
    """What is missing to count; `""`: nothing."""
    if sys.platform != "linux":
        return "the hook is for Linux"
    return "" if compiled_library(_SOURCE, *_FLAGS) else "there is no C compiler"


def begin() -> None:
    """Start this script again under the hook; returns in the new process."""
    if os.environ.get(_FOLDER):
        return
    with tempfile.TemporaryDirectory(prefix="counts-") as folder:
        more = {
            _FOLDER: folder, "LD_PRELOAD": str(compiled_library(_SOURCE, *_FLAGS)), "PYTHONMALLOC": "malloc",
            "PYTHONHASHSEED": "0", "ARROW_DEFAULT_MEMORY_POOL": "system",
        }  # fmt: skip
        sys.exit(subprocess.run([sys.executable, *sys.argv], env=os.environ | more, check=False).returncode)


def pids() -> set[int]:
    """The processes that are counted, also those that have ended."""
    return {int(path.name) for path in _folder().iterdir()}


class Counters:
    """The counters of a process as it runs."""

    def __init__(self, pid: int = 0) -> None:
        """0: this one."""
        with (_folder() / str(pid or os.getpid())).open("rb") as file:
            self._memory = memoryview(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)).cast("Q")

    def read(self) -> Counts:
        return Counts(*self._memory)


def _folder() -> Path:
    return Path(os.environ[_FOLDER])


def compiled_library(source: Path, *flags: str) -> Path | None:
    """A C file as a library, made once for each version of it; None if there is no compiler or a header is missing."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None
    name = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gossamer-bench"
    cache.mkdir(parents=True, exist_ok=True)
    made = cache / f"{source.stem}-{name}.so"
    if not made.exists():
        partial = cache / f"{made.name}.{os.getpid()}"
        command = [compiler, "-shared", "-fPIC", "-O2", *flags, "-o", str(partial), str(source), "-ldl"]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return None
        partial.replace(made)
    return made
