"""Strangers' XML, read entry by entry: what sitemaps and feeds have in common.

It costs bounded time and memory:
- it is read piece by piece, also while it is unpacked, and only the entry being read is kept;
- a document that brings its own declarations (entities, default attributes) is refused; an
  external DTD is not loaded, so nothing is expanded and nothing else is opened;
- reading stops at a number of entries, a number of bytes, a depth, and where a megabyte goes by
  without an entry.
Expat reads it: as fast as lxml's iterparse here (6 µs an entry), and it forgets the names of
elements with the parser, while lxml keeps them for ever (120 MB from one hostile sitemap).
The hole that remains: 40 MB of ever new element names still need 0.2 GB while they are read.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from xml.parsers import expat

PIECE = 65_536
MAX_GAP = 1_048_576
"""Bytes without a finished entry; honest entries, with all their alternates, stay under a tenth of it."""
TOO_FAR = "more than 1 MB without an entry, the rest is left out"
_MAX_DEPTH = 64
_GZIP = b"\x1f\x8b"
_UTF8_MARK = b"\xef\xbb\xbf"


class Stop(Exception):  # noqa: N818 - it is an event
    """Reading ends here; the message is the problem."""


class OwnDeclarations(Stop):
    """The document declares entities or attributes."""


class UnknownEncoding(Stop):
    """The document says to be in an encoding that the parser does not know."""


def pieces(body: bytes, limit: int) -> Iterator[bytes]:
    """The body piece by piece, unpacked where it is gzip; at the limit a `Stop`."""
    left = limit
    for piece in _unpack(body) if body[:2] == _GZIP else _cut(body):
        if len(piece) > left:
            yield piece[:left]
            raise Stop(f"longer than {limit:,} bytes, the rest is left out")
        left -= len(piece)
        yield piece


def _cut(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), PIECE):
        yield body[start : start + PIECE]


def _unpack(body: bytes) -> Iterator[bytes]:
    """Each member of a gzip file, never more than one piece in memory."""
    while body[:2] == _GZIP:
        unpacker = zlib.decompressobj(wbits=31)
        while not unpacker.eof:
            piece = unpacker.decompress(body, PIECE)
            if not piece and not unpacker.unconsumed_tail and not unpacker.eof:
                raise Stop("the gzip data is cut off")
            body = unpacker.unconsumed_tail
            if piece:
                yield piece
        body = unpacker.unused_data


def looks_like_xml(first: bytes) -> bool:
    """Whether a body that starts so is markup."""
    if first[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return True
    return first.removeprefix(_UTF8_MARK).lstrip()[:1] == b"<"


def local(name: str) -> str:
    """A name without its prefix."""
    return name.rpartition(":")[2]


class EntryReader:
    """Listens to the parser; keeps nothing but the fields of the entry being read.

    A subclass says which elements are entries (`entry_names`) and which fields are also read one
    level deeper (`deep_names`), and is told of the root, of each field and of each entry.
    """

    entry_names: frozenset[str] = frozenset()
    deep_names: frozenset[str] = frozenset()

    def __init__(self, *, skip_entities: bool = False) -> None:
        """`skip_entities`: unknown entities are no error, but given to `skipped`."""
        self._skip_entities = skip_entities
        self.restart()

    def restart(self) -> None:
        """Begins a new document with an empty parser."""
        self._fed = self._entry_at = 0
        self._depth = 0
        self._entry_depth = 0
        self._rooted = False
        self.fields: dict[str, str] = {}
        self.text: list[str] = []
        self.parser = parser = expat.ParserCreate(intern=None)
        parser.buffer_text = True
        parser.buffer_size = PIECE
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = _refuse_declarations
        if self._skip_entities:
            parser.UseForeignDTD(True)
            parser.SkippedEntityHandler = self.skipped

    def feed(self, piece: bytes) -> None:
        """Takes the next bytes."""
        self._fed += len(piece)
        try:
            self.parser.Parse(piece, False)
        except (LookupError, ValueError) as error:
            raise UnknownEncoding(f"in an encoding that cannot be read: {error}"[:200]) from error
        if self._fed - self._entry_at > MAX_GAP:
            raise Stop(TOO_FAR)

    def close(self) -> None:
        """All bytes were fed."""
        self.parser.Parse(b"", True)

    def read(self, first: bytes, rest: Iterator[bytes]) -> None:
        """A whole document; space before its start is forgiven."""
        self.feed(first.lstrip() if first[:1].isspace() else first)
        for piece in rest:
            self.feed(piece)
        self.close()

    @property
    def inside_entry(self) -> bool:
        """Whether an entry has begun and not ended."""
        return self._entry_depth > 0

    @property
    def is_complete(self) -> bool:
        """Whether the root has ended; what stands after it does not matter."""
        return self._rooted and self._depth == 0

    # --- what a subclass is told -------------------------------------------------------------------

    def root(self, name: str, attributes: dict[str, str]) -> None:
        """The document's element."""

    def opened(self, name: str, attributes: dict[str, str]) -> None:
        """An element outside of entries."""

    def closed(self, name: str) -> None:
        """The end of an element outside of entries, of the root too."""

    def entry_started(self, name: str, attributes: dict[str, str]) -> None:
        """The start of an entry."""

    def field_started(self, name: str, attributes: dict[str, str]) -> None:
        """The start of a field; collects its text unless told otherwise here."""
        self.collect()

    def field_ended(self, name: str, text: str) -> None:
        """A field with its text, where there is any."""
        self.fields.setdefault(local(name), text)

    def entry_ended(self, name: str) -> None:
        """An entry is complete: `fields` has what was found."""

    def skipped(self, name: str, is_parameter: bool) -> None:
        """An entity that nobody declared."""

    # --- collecting text ---------------------------------------------------------------------------

    def collect(self) -> None:
        """Collects text from here on."""
        self.text = []
        self.parser.CharacterDataHandler = self.text.append

    def collected(self) -> str:
        """The text since `collect`, which ends."""
        self.parser.CharacterDataHandler = None
        text, self.text = self.text, []
        return "".join(text).strip()

    # --- the parser's events -----------------------------------------------------------------------

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise Stop(f"elements nested deeper than {_MAX_DEPTH}")
        if self._entry_depth:
            below = self._depth - self._entry_depth
            if below == 1:
                self.field_started(name, attributes)
            elif below == 2 and local(name) in self.deep_names:
                self.collect()
        elif self._depth == 1:
            self._rooted = True
            self.root(name, attributes)
        elif local(name) in self.entry_names:
            self._entry_depth = self._depth
            self.fields = {}
            self.entry_started(name, attributes)
        else:
            self.opened(name, attributes)

    def _end(self, name: str) -> None:
        if not self._entry_depth:
            self.closed(name)
        else:
            below = self._depth - self._entry_depth
            if below == 1 or (below == 2 and local(name) in self.deep_names):
                if text := self.collected():
                    self.field_ended(name, text)
            elif below == 0:
                self._entry_depth = 0
                self._entry_at = self._fed
                self.entry_ended(name)
        self._depth -= 1


def _refuse_declarations(_name: str, _system: str | None, _public: str | None, internal: bool) -> None:
    if internal:
        raise OwnDeclarations("declares entities or attributes, which no sitemap needs")
