"""Strangers' XML, read piece by piece: nothing of it is kept but what a converter keeps.

Names come without the URIs of their namespaces, which differ between versions of a format: `w:p` is a paragraph of
Word, whatever prefix the file uses. A document that brings declarations of its own (entities, default attributes) is
refused, and an external DTD is not loaded, so nothing is expanded and nothing else is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from xml.parsers import expat

from gossamer.parse.documents.limits import MAX_DEPTH, Bomb, Budget, Unreadable

Attributes = dict[str, str]
_LONGEST_TAG = 1_048_576
"""Bytes of a tag or comment: expat reads it anew with each piece that comes."""
_MOST_NAMES = 5_000
"""Names that are remembered: formats have some hundreds."""
_PREFIXES = {
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main": "w",
    "http://purl.oclc.org/ooxml/wordprocessingml/main": "w",
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main": "x",
    "http://purl.oclc.org/ooxml/spreadsheetml/main": "x",
    "http://schemas.openxmlformats.org/presentationml/2006/main": "p",
    "http://purl.oclc.org/ooxml/presentationml/main": "p",
    "http://schemas.openxmlformats.org/drawingml/2006/main": "a",
    "http://purl.oclc.org/ooxml/drawingml/main": "a",
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships": "r",
    "http://purl.oclc.org/ooxml/officeDocument/relationships": "r",
    "http://schemas.openxmlformats.org/officeDocument/2006/math": "m",
    "http://purl.oclc.org/ooxml/officeDocument/math": "m",
    "http://schemas.openxmlformats.org/markup-compatibility/2006": "mc",
    "http://schemas.openxmlformats.org/package/2006/relationships": "rel",
    "http://schemas.openxmlformats.org/package/2006/metadata/core-properties": "cp",
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://purl.org/dc/terms/": "dcterms",
    "http://www.w3.org/1999/xlink": "xlink",
    "http://www.idpf.org/2007/opf": "opf",
    "urn:oasis:names:tc:opendocument:xmlns:container": "ocf",
    "http://www.w3.org/2001/04/xmlenc#": "enc",
    "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0": "draw",
    **{f"urn:oasis:names:tc:opendocument:xmlns:{name}:1.0": name
       for name in ("office", "text", "table", "presentation", "style", "meta", "manifest")},
    **{f"http://openoffice.org/2000/{name}": name for name in ("office", "text", "table", "style", "meta")},
}  # fmt: skip


class _Names(dict[str, str]):
    """What expat calls something, `URI name`, → what we call it."""

    def __missing__(self, name: str) -> str:
        uri, space, local = name.rpartition(" ")
        short = f"{_PREFIXES.get(uri, '?')}:{local}" if space else local
        if len(self) < _MOST_NAMES:
            self[name] = short
        return short


class XmlPart:
    """Reads one part; tells a converter the elements that it asked for."""

    def __init__(
        self,
        budget: Budget,
        starts: Mapping[str, Callable[[Attributes], None]],
        ends: Mapping[str, Callable[[], None]] | None = None,
        text: Callable[[str], None] | None = None,
        skipped: frozenset[str] = frozenset(),
    ) -> None:
        """`skipped`: elements that are left out with all they hold."""
        self._budget, self._starts, self._ends, self._skipped = budget, starts, ends or {}, skipped
        self._names = _Names()
        self._depth = 0
        self._silent = 0
        """Depth of the element that is being skipped; 0 if none is."""
        self._say = text
        self._parser = parser = expat.ParserCreate(namespace_separator=" ", intern=None)
        parser.buffer_text = True
        parser.buffer_size = 65_536
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = text
        parser.StartDoctypeDeclHandler = _refuse_declarations

    def read(self, pieces: Iterable[bytes]) -> None:
        """All of a part."""
        try:
            fed = 0
            for piece in pieces:
                self._parser.Parse(piece, False)
                fed += len(piece)
                if fed - self._parser.CurrentByteIndex > _LONGEST_TAG:
                    raise Bomb(f"it has a tag of more than {_LONGEST_TAG} bytes")
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise Unreadable(f"not well-formed XML: {error}") from error
        except (LookupError, ValueError) as error:
            raise Unreadable(f"its XML cannot be read: {error}") from error

    def _start(self, name: str, attributes: Attributes) -> None:
        self._budget.take_elements()
        self._depth += 1
        if self._silent:
            return
        if self._depth > MAX_DEPTH:
            raise Bomb(f"its elements nest deeper than {MAX_DEPTH}")
        names = self._names
        short = names[name]
        if short in self._skipped:
            self._silent = self._depth
            self._parser.CharacterDataHandler = None
        elif (tell := self._starts.get(short)) is not None:
            tell({names[key]: value for key, value in attributes.items()} if attributes else attributes)

    def _end(self, name: str) -> None:
        depth = self._depth
        self._depth = depth - 1
        if self._silent:
            if depth == self._silent:
                self._silent = 0
                self._parser.CharacterDataHandler = self._say
            return
        if (tell := self._ends.get(self._names[name])) is not None:
            tell()


def _refuse_declarations(name: str, system: str | None, public: str | None, has_internal_subset: bool) -> None:
    if has_internal_subset:
        raise Bomb("its XML declares entities or attributes, which no document needs")
