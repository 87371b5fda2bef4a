"""The files of a collection: one, a folder of them, or an archive; compressed or not."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import zstandard

from gossamer.errors import UsageError

Files = dict[str, Callable[[], bytes]]
"""Name without the ending of a compression → what reads the content."""

_WINDOW = 1 << 31
"""Bytes of history a Zstandard file may ask for: those made with `--long` ask for more than the default."""


def open_files(path: Path) -> Files:
    """The files at a place."""
    if path.is_dir():
        inside = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
        return {_bare(str(file.relative_to(path))): partial(_content, file) for file in inside}
    if _bare(path.name).lower().endswith((".tar", ".tgz")):
        return _archived(path)
    return {_bare(path.name): partial(_content, path)}


def text_of(data: bytes) -> str:
    """Text in UTF-8, or in Latin-1 where it is older than that."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _bare(name: str) -> str:
    return name.removesuffix(".zst").removesuffix(".gz")


def _content(path: Path) -> bytes:
    try:
        data = path.read_bytes()
        if path.suffix == ".zst":
            reader = zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(data, read_across_frames=True)
            return reader.read()
        return gzip.decompress(data) if path.suffix in (".gz", ".tgz") else data
    except (OSError, EOFError, zstandard.ZstdError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error


def _archived(path: Path) -> Files:
    files: Files = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(_content(path))) as archive:
            for member in archive:
                if member.isfile() and (stream := archive.extractfile(member)):
                    files[member.name.removeprefix("./")] = partial(bytes, stream.read())
    except tarfile.TarError as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    return files
