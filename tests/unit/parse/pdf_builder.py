"""Writes small PDF files: just enough of the format to say what a test wants to say."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"


def assemble(objects: Sequence[bytes], trailer: bytes = b"") -> bytes:
    """A file of numbered objects, of which the first is the catalogue, with a right cross-reference table."""
    out, places = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return bytes(
        out + b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, table)
    )


def stream(data: bytes, entries: bytes = b"", packed: bool = False) -> bytes:
    """A stream object."""
    if packed:
        data, entries = zlib.compress(data, 9), entries + b" /Filter /FlateDecode"
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), entries, data)


def text_string(text: str) -> bytes:
    """A string of the document information, in any language."""
    return b"<" + (b"\xfe\xff" + text.encode("utf-16-be")).hex().encode() + b">"


def lines_on_page(lines: Sequence[str], size: int = 10, first_size: int = 0) -> bytes:
    """Drawing operators that set lines one under the other, the first one in a size of its own."""
    drawn, height = [], 750
    for number, line in enumerate(lines):
        here = first_size if first_size and not number else size
        words = line.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
        drawn.append(b"BT /F1 %d Tf 1 0 0 1 60 %d Tm (%s) Tj ET" % (here, height, words))
        height -= here + 4
    return b"\n".join(drawn)


def pdf(
    *pages: Sequence[str], info: Mapping[str, str] | None = None, links: Sequence[str] = (), first_size: int = 0
) -> bytes:
    """A document with these lines on its pages; the links lie on the first line of the first page."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", FONT]
    kids = []
    for number, lines in enumerate(pages):
        content = len(objects) + 1
        objects.append(stream(lines_on_page(lines, first_size=0 if number else first_size)))
        notes = b"".join(_link(uri) for uri in links) if not number else b""
        objects.append(_page(content, notes))
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    trailer = b""
    if info:
        objects.append(b"<< %s >>" % b" ".join(b"/%s %s" % (key.encode(), text_string(info[key])) for key in info))
        trailer = b"/Info %d 0 R" % len(objects)
    return assemble(objects, trailer)


def _page(content: int, notes: bytes) -> bytes:
    return (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
        b"/Contents %d 0 R /Annots [%s] >>" % (content, notes)
    )


def _link(uri: str) -> bytes:
    return b"<< /Type /Annot /Subtype /Link /Rect [55 745 300 765] /A << /S /URI /URI (%s) >> >>" % uri.encode()
