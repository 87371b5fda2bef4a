"""WACZ 1.1.1: an archive with its index and a list of pages in one ZIP file, for ReplayWeb.page and others.

    archive/gossamer-00000.warc.gz   raw responses, at most a gibibyte a file, not compressed once more
    indexes/index.cdx.gz, index.idx  CDXJ in blocks of 3,000 lines, and the first line of each block
    pages/pages.jsonl                the newest version of each document
    datapackage.json                 the files with their SHA-256
    datapackage-digest.json          the SHA-256 of that

A player reads only the parts it needs, so nothing has to be unpacked, however large the file is.
"""

from __future__ import annotations

import gzip
import hashlib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain, islice
from typing import IO, Any, BinaryIO

import orjson

from gossamer import __version__
from gossamer.data import exporting
from gossamer.data.archives.cdxj import line, sorted_lines
from gossamer.data.archives.stored import Lost, stored_responses
from gossamer.data.archives.warc import Bodies, file_info
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.errors import OperationError
from gossamer.model.site import key64

VERSION = "1.1.1"
PART = 1 << 30
"""Bytes of a WARC file after which the next one begins."""
_BLOCK = 3_000
"""Lines of a block of the index."""


def write_wacz(sink: BinaryIO, folder: DataFolder, db: Database, lost: Lost | None = None) -> None:
    """Write the file."""
    with zipfile.ZipFile(sink, "w") as bundle:
        _Writer(bundle, folder, db, lost).write()


class _Member:
    """A file inside, which is measured while it is written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._hash, self.bytes = file, hashlib.sha256(), 0

    def write(self, data: bytes) -> int:
        """Append; returns where it begins."""
        start = self.bytes
        self._file.write(data)
        self._hash.update(data)
        self.bytes += len(data)
        return start

    @property
    def hash(self) -> str:
        """As `datapackage.json` names it."""
        return f"sha256:{self._hash.hexdigest()}"


class _Writer:
    def __init__(self, bundle: zipfile.ZipFile, folder: DataFolder, db: Database, lost: Lost | None) -> None:
        self._bundle, self._folder, self._db, self._lost = bundle, folder, db, lost
        self._resources: list[dict[str, Any]] = []
        self._main: tuple[str, str] | None = None

    def write(self) -> None:
        """All members, one after the other."""
        self._write_index(sorted_lines(self._write_archives()))
        self._write_pages()
        package = orjson.dumps(self._package(), option=orjson.OPT_INDENT_2)
        with self._member("datapackage.json", is_packed=True) as member:
            member.write(package)
        digest = {"path": "datapackage.json", "hash": member.hash}
        with self._member("datapackage-digest.json", is_packed=True) as member:
            member.write(orjson.dumps(digest, option=orjson.OPT_INDENT_2))

    @contextmanager
    def _member(self, path: str, is_packed: bool = False) -> Iterator[_Member]:
        info = zipfile.ZipInfo(path, datetime.now(UTC).timetuple()[:6])
        info.compress_type = zipfile.ZIP_DEFLATED if is_packed else zipfile.ZIP_STORED
        info.external_attr = 0o644 << 16
        # Not with force_zip64: players do not expect the field that it writes before the file only.
        try:
            with self._bundle.open(info, "w") as file:
                member = _Member(file)
                yield member
        except RuntimeError as error:
            raise OperationError(
                f"{path} is larger than 2 GiB, too large for one WACZ: use `gossamer export warc` and `cdxj`"
            ) from error
        name = path.rpartition("/")[2]
        self._resources.append({"name": name, "path": path, "hash": member.hash, "bytes": member.bytes})

    def _write_archives(self) -> Iterator[bytes]:
        """Write the WARC files; yields a line of the index for each response."""
        bodies, number = Bodies(), 0
        responses = stored_responses(self._folder, self._db, self._lost)
        one = next(responses, None)
        while one is not None or not number:
            name = f"gossamer-{number:05}.warc.gz"
            number += 1
            with self._member(f"archive/{name}") as member:
                member.write(file_info())
                while one is not None and member.bytes < PART:
                    written = bodies.pack(one.record)
                    start = member.write(written.data)
                    yield line(one.record, name, start, len(written.data), written.is_revisit)
                    one = next(responses, None)

    def _write_index(self, lines: Iterator[bytes]) -> None:
        index = [b'!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}\n']
        first = next(lines, None)  # the archives are complete when the first line comes
        with self._member("indexes/index.cdx.gz") as member:
            rest = chain([first] if first is not None else [], lines)
            while block := list(islice(rest, _BLOCK)):
                packed = gzip.compress(b"".join(block), 6, mtime=0)
                start, key = member.write(packed), b" ".join(block[0].split(b" ", 2)[:2])
                place = {
                    "offset": start, "length": len(packed), "digest": f"sha256:{hashlib.sha256(packed).hexdigest()}",
                    "filename": "index.cdx.gz",
                }  # fmt: skip
                index.append(key + b" " + orjson.dumps(place) + b"\n")
        with self._member("indexes/index.idx") as member:
            member.write(b"".join(index))

    def _write_pages(self) -> None:
        with self._member("pages/pages.jsonl", is_packed=True) as member:
            member.write(b'{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}\n')
            _, tables = exporting.pages(self._folder, self._db, self._lost)
            for table in tables:
                columns = ["url", "title", "fetched_at", "depth", "warc_offset"]
                for row in table.select(columns).to_pylist():
                    if row["warc_offset"] is None:
                        continue  # it asked not to be archived
                    time = row["fetched_at"].isoformat(timespec="milliseconds").replace("+00:00", "Z")
                    if self._main is None and row["depth"] == 0:
                        self._main = row["url"], time
                    page = {
                        "id": f"{key64(row['url']) & (1 << 64) - 1:016x}", "url": row["url"], "ts": time,
                        "title": row["title"] or "",
                    }  # fmt: skip
                    member.write(orjson.dumps(page, option=orjson.OPT_APPEND_NEWLINE))

    def _package(self) -> dict[str, Any]:
        main = {"mainPageUrl": self._main[0], "mainPageDate": self._main[1]} if self._main else {}
        return {
            "profile": "data-package",
            "wacz_version": VERSION,
            "title": "Pages crawled by Gossamer",
            "software": f"Gossamer/{__version__}",
            "created": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            **main,
            "resources": self._resources,
        }
