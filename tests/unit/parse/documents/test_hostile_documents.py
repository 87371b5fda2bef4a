"""Documents that are built to exhaust their reader: refused as bombs, or read as far as the limits go."""

from __future__ import annotations

import zipfile
from collections.abc import Callable

import pytest
from documents_kit import OFFICE, S, W, archive, docx, opendocument, paragraph, read, xlsx
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.parse.limits import ParseLimits

LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + "]>"
)
JOKE = "<text:p>&j;</text:p>"
LONG = '<w:p w:rsid="' + "a" * 3_000_000 + '"/>'
SMALL = ParseLimits(max_unpacked=100_000)
DEEP_TABLE = "<w:tbl><w:tr><w:tc>" * 5_000 + paragraph("pear") + "</w:tc></w:tr></w:tbl>" * 5_000
FORWARDED = b"Subject: x\nContent-Type: message/rfc822\n\n" * 100 + b"Subject: y\n\npear"
MANY_PARTS = b'Content-Type: multipart/mixed; boundary="b"\n\n' + b"--b\n\npear\n" * 30_000
BOMBS: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "entities in a Word document": ("docx", lambda: docx(paragraph("&j;"), start=LAUGHS), "declares entities"),
    "entities in OpenDocument": ("odt", lambda: opendocument("text", JOKE, LAUGHS), "declares entities"),
    "a part that unpacks to 30 MB": ("docx", lambda: docx("<!-- a leaf -->" * 2_000_000), "unpacks to more than"),
    "texts of cells that unpack to 30 MB": (
        "xlsx", lambda: xlsx("", {"xl/sharedStrings.xml": f'<sst xmlns="{S}">{" " * 30_000_000}</sst>'}),
        "unpacks to more than",
    ),
    "elements inside each other": ("docx", lambda: docx(DEEP_TABLE), "nest deeper than 400"),
    "a tag of three megabytes": ("docx", lambda: docx(LONG), "a tag of more than"),
    "an archive of 30,000 parts": ("docx", lambda: archive(dict.fromkeys(map(str, range(30_000)), "")), "20,000 parts"),
    "groups inside each other": ("rtf", lambda: b"{\\rtf1 " + b"{" * 100_000, "nest deeper than 400"),
    "mails inside each other": ("eml", lambda: FORWARDED, "nest deeper than 20"),
    "a mail of 30,000 parts": ("eml", lambda: MANY_PARTS, "more than 20000 parts"),
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_and_says_why(name: str) -> None:
    ending, make, said = BOMBS[name]
    page = read(make(), f"bomb.{ending}", limits=ParseLimits(max_unpacked=20_000_000))
    assert (page.ok, page.bomb, page.unsupported) == (False, True, False), page.problem
    assert page.problem.startswith("refused as a bomb: ") and said in page.problem
    assert (page.text, page.links, page.follow) == ("", [], [])


def test_what_a_document_may_unpack_to_is_a_setting() -> None:
    body = docx(paragraph("pear ") * 9_000)
    assert read(body, "x.docx").ok
    page = read(body, "x.docx", limits=SMALL)
    assert page.bomb and "100000 bytes (parse.max_unpacked)" in page.problem


PEOPLE = b"From: " + b"a <a@b.c>, " * 90_000
ROW = '<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384">'
ENDLESS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "one paragraph of 40 MB": ("docx", lambda: docx(paragraph("pear " * 8_000_000))),
    "400,000 paragraphs": ("docx", lambda: docx(paragraph("pear") * 400_000)),
    "800,000 rows": ("xlsx", lambda: xlsx("<row><c><v>7</v></c></row>" * 800_000)),
    "a row of 800,000 cells": ("xlsx", lambda: xlsx(f"<row>{'<c><v>7</v></c>' * 800_000}</row>")),
    "a cell of 20 MB": ("xlsx", lambda: xlsx(f'<row><c t="str"><v>{"7" * 20_000_000}</v></c></row>')),
    "a text that all cells share": (
        "xlsx",
        lambda: xlsx(
            '<row><c t="s"><v>0</v></c></row>' * 10_000,
            {"xl/sharedStrings.xml": f'<sst xmlns="{S}"><si><t>{"pear " * 6_000}</t></si></sst>'},
        ),
    ),
    "a cell that says it is repeated 17 billion times": (
        "ods",
        lambda: opendocument(
            "spreadsheet", f"<table:table>{ROW}<text:p>pear</text:p></table:table-cell></table:table-row></table:table>"
        ),
    ),
    "a billion spaces": ("odt", lambda: opendocument("text", '<text:p>pear<text:s text:c="1000000000"/></text:p>')),
    "a million letters in hexadecimal": ("rtf", lambda: b"{\\rtf1 pear" + b"\\'e4" * 1_000_000 + b"}"),
    "data that reach beyond the end": ("rtf", lambda: b"{\\rtf1 pear\\bin999999999 plum}"),
    "headers of a megabyte": ("eml", lambda: PEOPLE + b"\nSubject: pear " + b"=?" * 500_000 + b"\n\npear"),
    "brackets": ("md", lambda: b"pear\n\n" + b"[" * 200_000),
    "links": ("md", lambda: b"[pear](" * 50_000),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDLESS)
def test_an_endless_document_is_read_as_far_as_the_limits_go(name: str) -> None:
    ending, make = ENDLESS[name]
    limits = ParseLimits(max_text_chars=50_000, max_links=10, max_tags=20_000)
    page = read(make(), f"long.{ending}", limits=limits)
    assert page.ok, page.problem
    assert 0 < len(page.text) <= 50_000 and len(page.links) <= 10
    assert page.text.lstrip("[(]")[:4] in ("pear", "Tree", "From")


DAMAGED = docx(paragraph("pear " * 99)).replace(b"word/document.xml", b"word/document.xmk", 1)
UNREAD: dict[str, tuple[str, bytes, str]] = {
    "an error page": ("docx", b"<!doctype html><title>Not found</title>", "no archive"),
    "an old Word document": ("docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "no archive"),
    "an archive cut off": ("docx", docx(paragraph("pear"))[:-30], "no archive"),
    "an archive of other things": ("docx", archive({"a.txt": "pear"}), "no part word/document.xml"),
    "broken XML": ("docx", docx("<w:p>"), "not well-formed XML"),
    "damaged data": ("docx", DAMAGED, "damaged"),
    "another method": ("docx", archive({"word/document.xml": "x"}, zipfile.ZIP_BZIP2), "packed in a way"),
    "no words": ("docx", docx("<w:p/>"), "a document without text"),
    "a locked text": (
        "odt",
        archive({
            "mimetype": "application/vnd.oasis.opendocument.text", "content.xml": b"\x81\x82",
            "META-INF/manifest.xml": f'<manifest:manifest xmlns:manifest="{OFFICE}manifest:1.0"><manifest:file-entry>'
            "<manifest:encryption-data/></manifest:file-entry></manifest:manifest>",
        }),
        "wants a password",
    ),
    "a book without a beginning": ("epub", archive({"mimetype": "application/epub+zip"}), "where it begins"),
    "no RTF": ("rtf", b"pear", "no RTF"),
    "no mail": ("eml", b"<p>pear", "no mail"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNREAD)
def test_what_has_nothing_to_read_is_unsupported_and_says_why(name: str) -> None:
    ending, body, said = UNREAD[name]
    page = read(body, f"file.{ending}")
    assert (page.ok, page.unsupported, page.bomb) == (False, True, False)
    assert said in page.problem


@settings(max_examples=150)
@given(st.data())
def test_damage_never_raises(data: st.DataObject) -> None:
    table = f'<w:tbl xmlns:w="{W}"><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl>'
    makes = {
        "docx": archive({"word/document.xml": table}, zipfile.ZIP_STORED),
        "rtf": b"{\\rtf1\\ansicpg1251{\\fonttbl{\\f0\\fcharset204 A;}}{\\info{\\title T}}\\trowd\\intbl a\\cell\\row"
        b"{\\field{\\*\\fldinst HYPERLINK \"http://a.test/\"}{\\fldrslt b}}\\u-1234 ?\\'e4}",
        "eml": b"From: A <a@b.c>\nSubject: =?utf-8?b?0L8=?=\nContent-Type: multipart/mixed; boundary=b\n\n--b\n"
        b"Content-Type: text/html\n\n<p>pear\n--b\n\nplum\n--b--\n",
        "md": b"---\ntitle: T\n---\n# A\n\n| a | b |\n|---|---|\n| [c](d) | `e` |\n",
    }  # fmt: skip
    ending = data.draw(st.sampled_from(sorted(makes)))
    body = bytearray(makes[ending])
    for _ in range(data.draw(st.integers(1, 12))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    page = read(bytes(body), f"x.{ending}")
    assert page.ok or page.problem
    assert "parser failed" not in page.problem
