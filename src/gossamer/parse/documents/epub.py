"""Books (EPUB 2 and 3): the chapters in reading order, each an HTML page.

Links between chapters lead nowhere outside of the book and are left out, as are its pictures and its table of contents.
"""

from __future__ import annotations

import posixpath
from urllib.parse import unquote

from gossamer.model.records import ParseJob
from gossamer.parse.charset import decode
from gossamer.parse.documents.archive import Archive
from gossamer.parse.documents.html_part import add_html
from gossamer.parse.documents.limits import Budget, Unreadable
from gossamer.parse.documents.properties import Fields, day
from gossamer.parse.documents.writer import Writer
from gossamer.parse.documents.xml_part import Attributes, XmlPart

_MOST_PARTS = 20_000
_CHAPTERS = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")
_FIELDS = frozenset(("dc:title", "dc:creator", "dc:description", "dc:language", "dc:date"))


def convert(job: ParseJob, writer: Writer, budget: Budget) -> None:
    """Take down a book."""
    archive = Archive(job.body, budget)
    package = _package_of(archive, budget)
    book = _Book(budget)
    fields = Fields(budget, _FIELDS)
    data = archive.read(package)
    fields.part.read([data])
    book.part.read([data])
    said, properties = fields.found.get, writer.properties
    properties.title, properties.author = said("dc:title", ""), said("dc:creator", "")
    properties.description, properties.language = said("dc:description", ""), said("dc:language", "")
    properties.published, properties.updated = day(said("dc:date", "")), day(book.modified)
    properties.is_dated = True
    folder = posixpath.dirname(package)
    chapters = [posixpath.normpath(posixpath.join(folder, unquote(name))) for name in book.chapters()]
    if locked := _encrypted(archive, budget) & set(chapters):
        raise Unreadable(f"encrypted: {len(locked)} of its {len(chapters)} chapters want a key")
    for chapter in chapters:
        if chapter in archive:
            html, charset = decode(archive.read(chapter), "application/xhtml+xml", "")
            writer.charset = writer.charset or charset
            add_html(html, writer, writer.limits)


def _package_of(archive: Archive, budget: Budget) -> str:
    """The part that lists the others."""
    found: list[str] = []

    def root(attributes: Attributes) -> None:
        if not found:
            found.append(attributes.get("full-path", ""))

    archive.read_xml("META-INF/container.xml", XmlPart(budget, {"ocf:rootfile": root}))
    if not found:
        raise Unreadable("no book: its archive does not say where it begins")
    return found[0]


def _encrypted(archive: Archive, budget: Budget) -> set[str]:
    """The parts that are encrypted. Fonts often are, in books that anybody may read."""
    found: set[str] = set()

    def cipher(attributes: Attributes) -> None:
        if len(found) < _MOST_PARTS:
            found.add(posixpath.normpath(unquote(attributes.get("URI", ""))))

    archive.read_xml("META-INF/encryption.xml", XmlPart(budget, {"enc:CipherReference": cipher}))
    return found


class _Book:
    """The chapters of a book in their order, and when it was last changed."""

    def __init__(self, budget: Budget) -> None:
        self.modified = ""
        self._parts: dict[str, str] = {}
        self._order: list[str] = []
        self._contents = ""
        self._is_modified = False
        self.part = XmlPart(
            budget, {"opf:item": self._item, "opf:itemref": self._chapter, "opf:meta": self._meta},
            {"opf:meta": self._end_meta}, self._take,
        )  # fmt: skip

    def chapters(self) -> list[str]:
        """Their places, as the package names them, each once."""
        names = dict.fromkeys(self._order)
        return [self._parts[name] for name in names if name in self._parts and name != self._contents]

    def _item(self, attributes: Attributes) -> None:
        name = attributes.get("id", "")
        if "nav" in attributes.get("properties", "").split():
            self._contents = name
        if attributes.get("media-type", "").lower() in _CHAPTERS and len(self._parts) < _MOST_PARTS:
            self._parts[name] = attributes.get("href", "")

    def _chapter(self, attributes: Attributes) -> None:
        if len(self._order) < _MOST_PARTS:
            self._order.append(attributes.get("idref", ""))

    def _meta(self, attributes: Attributes) -> None:
        self._is_modified = attributes.get("property") == "dcterms:modified"

    def _take(self, text: str) -> None:
        if self._is_modified and not text.isspace():
            self.modified = text[:100]

    def _end_meta(self) -> None:
        self._is_modified = False
