"""Which parser does a body need? The declared type, corrected by the first bytes.

A server that sends no type, or a wrong one, is common; a body that starts like
HTML is HTML, and one that starts like a picture is not, whatever the header says.
Feeds and other XML that reach us as pages are not documents.
"""

from __future__ import annotations

import re
from enum import Enum

from gossamer.parse.clean import clean_line
from gossamer.parse.document_types import HTML, MAIL, MARKDOWN, PLAIN, RST, TYPES, VAGUE, of_media, of_url


class Parser(Enum):
    """How a body is to be read."""

    HTML = "html"
    PLAIN = "plain"
    NONE = "none"


_HTML_TYPES = frozenset(HTML.media)
_PLAIN_TYPES = frozenset((*PLAIN.media, *MARKDOWN.media, *RST.media))
_UNSURE_TYPES = frozenset(
    ("", "application/octet-stream", "application/unknown", "unknown/unknown", "text/xml", "application/xml",
     "binary/octet-stream", "application/force-download", "*/*", "text")
)  # fmt: skip
_STARTS = {start: one for one in TYPES for start in one.starts}
_HTML_ITSELF = (b"<!doctype html", b"<html")
_TEXTS = (MARKDOWN, MAIL)
"""Types that are text, which only their names tell."""
_ARCHIVE = b"PK\x03\x04"
_ARCHIVES = tuple(one for one in TYPES if one.holds)
_FIRST_PART = re.compile(rb"PK\x03\x04.{22}\x08\0.{2}mimetype.{0,200}?([a-z]+/[a-z0-9.+-]{1,80})", re.S)
_DIRECTORY = 1_000_000
"""Bytes at the end of an archive among which the names of its parts are looked for."""
_MAGIC = (
    *_STARTS, b"PK\x03\x04", b"PK\x05\x06", b"\x89PNG\r\n", b"GIF87a", b"GIF89a", b"\xff\xd8\xff",
    b"\x1f\x8b\x08", b"BZh", b"\xfd7zXZ\0", b"7z\xbc\xaf", b"Rar!\x1a", b"\xd0\xcf\x11\xe0",
    b"\x7fELF", b"OggS", b"ID3", b"fLaC",
    b"wOFF", b"wOF2", b"\0\0\x01\0", b"\xca\xfe\xba\xbe", b"\x28\xb5\x2f\xfd", b"%!PS-Adobe",
)  # fmt: skip
_HTML_START = re.compile(
    rb"(?:\s|<!--.{0,2000}?-->|<\?xml[^>]{0,300}\?>)*"
    rb"<(?:!doctype\s+(?:html|\"?-//)|html|head|body|script|title|meta|link|div|table|h[1-6]|p|a|br|font|style|frameset)"
    rb"(?=[\s>/\"])",
    re.I | re.S,
)
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_LOOK = 4096


def media_type(content_type: str) -> str:
    """The type without its parameters, lower case."""
    return clean_line(content_type.partition(";")[0], 100).lower()


def true_type(media: str, body: bytes, url: str = "") -> str:
    """The declared type, except that a file which is made as only one type is, is one under any name. A type that says
    little gives way to the ending of the URL, if that means a type with a parser of its own."""
    start = body[:_LOOK].lstrip(b"\xef\xbb\xbf \t\r\n\0")
    for begin, one in _STARTS.items():
        if start.startswith(begin):
            return one.media[0]
    if body.startswith(_ARCHIVE):
        return _type_of_archive(media, body)
    if media in VAGUE or media in PLAIN.media or not media:
        named = of_url(url)
        if named in _TEXTS and not start.lower().startswith(_HTML_ITSELF):
            return named.media[0]
    return media


def _type_of_archive(media: str, body: bytes) -> str:
    """OpenDocument and EPUB name their type in their first part, Office documents by where their main part is."""
    found = _FIRST_PART.match(body)
    if found is not None and (named := of_media(found[1].decode("ascii", "replace"))) is not None:
        return named.media[0]
    if of_media(media) not in _ARCHIVES:
        names = body[-_DIRECTORY:]
        return next((one.media[0] for one in _ARCHIVES for part in one.holds if part in names), media)
    return media


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
