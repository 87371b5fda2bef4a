"""The inputs that fuzzing found worth keeping, a packed file for each target: where fuzzing begins, and a test."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

KEPT = Path(__file__).parent / "corpora"


def inputs(name: str) -> Iterator[tuple[str, bytes]]:
    """The kept inputs of a target with their names."""
    path = KEPT / f"{name}.tar.xz"
    if path.exists():
        with tarfile.open(path) as pack:
            for member in pack:
                file = pack.extractfile(member)
                if file is not None:
                    yield Path(member.name).name, file.read()


def unpack(name: str, folder: Path) -> None:
    """Lay the kept inputs of a target into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for file, data in inputs(name):
        (folder / file).write_bytes(data)


def pack(name: str, folder: Path) -> None:
    """Keep what lies in a folder; the same files give the same bytes."""
    KEPT.mkdir(exist_ok=True)
    with tarfile.open(KEPT / f"{name}.tar.xz", "w:xz") as packed:
        for path in sorted(folder.iterdir()):
            data = path.read_bytes()
            entry = tarfile.TarInfo(f"{name}/{path.name}")
            entry.size = len(data)
            packed.addfile(entry, io.BytesIO(data))
