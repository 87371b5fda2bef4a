"""The parts of a zipped document, unpacked piece by piece.

An archive may claim anything: parts that overlap, sizes that lie, a directory without end. Nothing but what is really
unpacked counts, and that is bounded by the budget of the document.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator

from gossamer.model.counts import counted
from gossamer.parse.documents.limits import Bomb, Budget, Unreadable
from gossamer.parse.documents.xml_part import Attributes, XmlPart

_MOST_PARTS = 20_000
"""A book with a picture on each page has some thousands."""
_PIECE = 65_536
_ENTRY = b"PK\x01\x02"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_IS_ENCRYPTED = 1
_BROKEN = (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, EOFError, ValueError, OSError, NotImplementedError,
           RuntimeError)  # fmt: skip


class Archive:
    """A zipped document."""

    def __init__(self, body: bytes, budget: Budget) -> None:
        if body.count(_ENTRY) > _MOST_PARTS:
            raise Bomb(f"its archive has more than {counted(_MOST_PARTS, 'part')}")
        try:
            self._file = zipfile.ZipFile(io.BytesIO(body))
        except _BROKEN as error:
            raise Unreadable(f"no archive: {error}") from error
        self._budget = budget
        self._parts = {_key(info.filename): info for info in self._file.infolist()}

    def __contains__(self, name: str) -> bool:
        return _key(name) in self._parts

    def pieces(self, name: str) -> Iterator[bytes]:
        """A part, piece by piece; `Unreadable` if there is none."""
        info = self._parts.get(_key(name))
        if info is None:
            raise Unreadable(f"its archive has no part {name[:100]}")
        if info.flag_bits & _IS_ENCRYPTED:
            raise Unreadable("encrypted: it wants a password")
        if info.compress_type not in _METHODS:
            raise Unreadable(f"its part {name[:100]} is packed in a way that documents are not")
        try:
            with self._file.open(info) as file:
                while piece := file.read(_PIECE):
                    self._budget.take_bytes(len(piece))
                    yield piece
        except _BROKEN as error:
            raise Unreadable(f"its archive is damaged: {error}") from error

    def read(self, name: str) -> bytes:
        """A whole part."""
        return b"".join(self.pieces(name))

    def read_xml(self, name: str, part: XmlPart, is_needed: bool = False) -> None:
        """Let somebody read an XML part; if it is not there, nothing is read, or nothing can be."""
        if is_needed or name in self:
            part.read(self.pieces(name))


def relationships(archive: Archive, budget: Budget, part: str) -> dict[str, tuple[str, str]]:
    """Of a part of an Office document: id → the end of its type, and the part or URL it leads to."""
    folder, _, name = part.rpartition("/")
    found: dict[str, tuple[str, str]] = {}

    def relationship(attributes: Attributes) -> None:
        target = attributes.get("Target", "")
        if attributes.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        if len(found) < _MOST_PARTS:
            found[attributes.get("Id", "")] = (attributes.get("Type", "").rpartition("/")[2], target)

    reader = XmlPart(budget, {"rel:Relationship": relationship})
    archive.read_xml(f"{folder}/_rels/{name}.rels".lstrip("/"), reader)
    return found


def part_of_type(found: dict[str, tuple[str, str]], kind: str, usual: str = "") -> str:
    """The first part to which a relationship of a type leads."""
    return next((target for name, target in found.values() if name == kind), usual)


def _key(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()
