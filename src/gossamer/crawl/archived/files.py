"""The WARC files that somebody names: as they are, or inside a WACZ."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from gossamer.errors import CorruptError, StorageError, UsageError

_ENDINGS = (".warc", ".warc.gz")


class ArchiveFile(NamedTuple):
    """An open WARC file and its name for a person."""

    name: str
    file: BinaryIO


def check(paths: list[Path]) -> None:
    """An archive that is not there or is none is an error of the command, before anything is imported."""
    for path in paths:
        if not path.is_file():
            raise UsageError(f"{path} is {'a folder' if path.is_dir() else 'not there'}: name WARC or WACZ files")
        with _opened(path) as file:
            start = file.read(10)
        if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            if not _archives(path):
                raise UsageError(f"{path} holds no WARC files: a WACZ has them in its folder archive/")
        elif start.startswith(b"filedesc:"):
            raise UsageError(f"{path} is an ARC file, the older format: convert it with `warcio recompress` first")
        elif not start.startswith((b"WARC/", b"\x1f\x8b")) and start.strip():
            raise UsageError(f"{path} is neither WARC (packed with gzip or not) nor WACZ")


def opened(path: Path) -> Iterator[ArchiveFile]:
    """The WARC files of an archive, one after the other."""
    with _opened(path) as file:
        packed = file.read(2) == b"PK"
        file.seek(0)
        if not packed:
            yield ArchiveFile(str(path), file)
            return
    with closing(zipfile.ZipFile(path)) as bundle:
        for name in _archives(path):
            try:
                with bundle.open(name) as member:
                    yield ArchiveFile(f"{path}:{name}", cast(BinaryIO, member))
            except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
                raise CorruptError(f"{path}: cannot read {name} ({error}): get the file anew") from error


def _archives(path: Path) -> list[str]:
    try:
        with zipfile.ZipFile(path) as bundle:
            names = [name for name in bundle.namelist() if name.lower().endswith(_ENDINGS)]
    except (zipfile.BadZipFile, ValueError) as error:
        raise CorruptError(f"{path} is not a whole ZIP file ({error}): get it anew") from error
    return sorted(names)


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}: check its permissions") from error
