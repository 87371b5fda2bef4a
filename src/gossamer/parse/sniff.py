"""Which parser does a body need? The declared type, corrected by the first bytes.

A server that sends no type, or a wrong one, is common; a body that starts like
HTML is HTML, and one that starts like a picture is not, whatever the header says.
Feeds and other XML that reach us as pages are not documents.
"""

from __future__ import annotations

import re
from enum import Enum

from gossamer.parse.clean import clean_line


class Parser(Enum):
    """How a body is to be read."""

    HTML = "html"
    PLAIN = "plain"
    NONE = "none"


_HTML_TYPES = frozenset(("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"))
_PLAIN_TYPES = frozenset(("text/plain", "text/markdown", "text/x-markdown", "text/x-rst"))
_UNSURE_TYPES = frozenset(
    ("", "application/octet-stream", "application/unknown", "unknown/unknown", "text/xml", "application/xml",
     "binary/octet-stream", "application/force-download", "*/*", "text")
)  # fmt: skip
_MAGIC = (
    b"%PDF-", b"PK\x03\x04", b"PK\x05\x06", b"\x89PNG\r\n", b"GIF87a", b"GIF89a", b"\xff\xd8\xff",
    b"\x1f\x8b\x08", b"BZh", b"\xfd7zXZ\0", b"7z\xbc\xaf", b"Rar!\x1a", b"\xd0\xcf\x11\xe0",
    b"\x7fELF", b"OggS", b"ID3", b"fLaC",
    b"wOFF", b"wOF2", b"\0\0\x01\0", b"\xca\xfe\xba\xbe", b"\x28\xb5\x2f\xfd", b"{\\rtf", b"%!PS-Adobe",
)  # fmt: skip
_HTML_START = re.compile(
    rb"(?:\s|<!--.{0,2000}?-->|<\?xml[^>]{0,300}\?>)*"
    rb"<(?:!doctype\s+(?:html|\"?-//)|html|head|body|script|title|meta|link|div|table|h[1-6]|p|a|br|font|style|frameset)"
    rb"(?=[\s>/\"])",
    re.I | re.S,
)
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_LOOK = 4096
PDF = "application/pdf"


def media_type(content_type: str) -> str:
    """The type without its parameters, lower case."""
    return clean_line(content_type.partition(";")[0], 100).lower()


def true_type(media: str, body: bytes) -> str:
    """The declared type, except that a PDF is one under any name."""
    return PDF if body[:_LOOK].lstrip(b"\xef\xbb\xbf \t\r\n\0").startswith(b"%PDF-") else media


def choose_parser(media: str, body: bytes) -> Parser:
    """The parser for a body of this declared type."""
    start = body[:_LOOK]
    if start.startswith(_MAGIC) or start[:4] == b"RIFF" or start[4:8] == b"ftyp":
        return Parser.NONE
    if media in _HTML_TYPES:
        return Parser.NONE if _is_binary(start) else Parser.HTML
    if media in _PLAIN_TYPES or media in _UNSURE_TYPES:
        if _looks_like_html(start):
            return Parser.HTML
        if media in _PLAIN_TYPES or (not media and start.strip() and not start.lstrip().startswith(b"<?xml")):
            return Parser.NONE if _is_binary(start) else Parser.PLAIN
    return Parser.NONE


def _looks_like_html(start: bytes) -> bool:
    if start.startswith(_MARKS):
        start = start[3:] if start[:1] == b"\xef" else start[2:]
    return _HTML_START.match(start.replace(b"\0", b"")) is not None


def _is_binary(start: bytes) -> bool:
    """NULs in text mean UTF-16, or a page that is broken but begins like one; else a binary file."""
    if b"\0" not in start[:512] or start.startswith(_MARKS):
        return False
    every_second = start[:64:2].count(0) > 24 or start[1:64:2].count(0) > 24
    return not every_second and not _looks_like_html(start)
