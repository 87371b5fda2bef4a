"""PDF documents: their text as prose, what they say of themselves, and that none of them does any harm."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pdf_builder import FONT, assemble, lines_on_page, pdf, stream

pytest.importorskip("pypdfium2", reason="needs gossamer[pdf]")

from gossamer.index.document import type_of
from gossamer.model.records import Kind, Parsed, ParseJob
from gossamer.parse.limits import ParseLimits
from gossamer.parse.pdf import MAX_PAGES, read_pdf

PROSE = [
    "A spider that lives by the water spins a web that is as wide as a door",
    "and waits in the middle of it until something makes one of the threads",
    "move. Then it runs.",
    "Another paragraph begins here, and it goes on for about one line and a",
    "half of text.",
]


def read(body: bytes, limits: ParseLimits | None = None) -> Parsed:
    job = ParseJob("http://a.test/papers/web.pdf", Kind.PAGE, "application/pdf", body)
    return read_pdf(job, limits)


def test_lines_become_paragraphs_again() -> None:
    page = read(pdf(PROSE))
    assert page.ok and page.method == "pdf" and page.media_type == "application/pdf"
    assert page.text.split("\n") == [" ".join(PROSE[:3]), " ".join(PROSE[3:])]


def test_a_word_cut_at_the_end_of_a_line_is_whole_again() -> None:
    page = read(
        pdf(["In the garden of the museum there is a large collec-", "tion of spiders from all over the world."])
    )
    assert "collection of spiders" in page.text


def test_items_of_a_list_stay_apart() -> None:
    items = [f"{n}. An item that is as long as every other line of this list is" for n in (1, 2, 3)]
    assert read(pdf(items)).text.split("\n") == items


def test_heads_feet_and_page_numbers_are_no_text() -> None:
    beasts = "garden house water wolf jumping crab orb cellar raft".split()
    said = [f"The {beast} spider has a page of its own." for beast in beasts]
    pages = [
        ["The Journal of Webs, volume 7", line, f"Page {n} of 9", str(n)] for n, line in enumerate(said, 1)
    ]  # fmt: skip
    assert read(pdf(*pages)).text.split("\n") == said


def test_pages_that_repeat_everything_keep_their_text() -> None:
    assert "Everything" in read(pdf(*[["Everything is said here."]] * 9)).text


def test_a_table_of_contents_has_no_dots() -> None:
    page = read(pdf(["1 Introduction . . . . . . . . . . . . . . . . . 3", "2 The web ...................... 12"]))
    assert page.text.split("\n") == ["1 Introduction 3", "2 The web 12"]


def test_what_the_document_says_of_itself() -> None:
    info = {
        "Title": "Пауки и паутина", "Author": "А. Иванов", "CreationDate": "D:20240517120000+02'00'",
        "ModDate": "D:20250102", "Subject": "О пауках",
    }  # fmt: skip
    page = read(pdf(PROSE, info=info))
    assert (page.title, page.author, page.description) == ("Пауки и паутина", "А. Иванов", "О пауках")
    assert (page.date, page.date_source, page.updated) == ("2024-05-17", "pdf", "2025-01-02")
    assert 0 < page.date_confidence < 0.8


@pytest.mark.parametrize("date", ["", "yesterday", "D:20240231", "D:99990101", "2024-05-17"])
def test_a_date_that_is_none_is_not_taken(date: str) -> None:
    assert read(pdf(PROSE, info={"CreationDate": date, "ModDate": date})).date in ("", "2024")


@pytest.mark.parametrize("given", ["", "untitled", "Untitled-1", "Microsoft Word - report.doc", "thesis.dvi", "12"])
def test_a_title_that_a_program_made_up_is_not_taken(given: str) -> None:
    lines = ["Webs of the North", *PROSE]
    assert read(pdf(lines, info={"Title": given}, first_size=24)).title == "Webs of the North"


def test_a_real_title_keeps_what_comes_after_the_programs_name() -> None:
    assert read(pdf(PROSE, info={"Title": "Microsoft Word - Webs of the North"})).title == "Webs of the North"


def test_the_largest_line_is_the_title_else_the_first() -> None:
    assert read(pdf(["Webs of the North", *PROSE], first_size=24)).title == "Webs of the North"
    assert read(pdf(["A leaflet", *PROSE])).title == "A leaflet"


def test_links_are_found_with_the_words_they_lie_on() -> None:
    page = read(pdf(["See the garden", *PROSE], links=["http://b.test/garden", "/here.html", "javascript:alert(1)"]))
    assert [(link.url, link.anchor) for link in page.links[:2]] == [
        ("http://b.test/garden", "See the garden"), ("/here.html", "See the garden"),
    ]  # fmt: skip


def test_limits_hold() -> None:
    many = [[f"Page number {n} of the long book says this and no more."] for n in range(30)]
    page = read(
        pdf(*many, links=[f"http://a.test/{n}" for n in range(9)]), ParseLimits(max_text_chars=100, max_links=3)
    )
    assert page.ok and len(page.text) <= 100 and len(page.links) == 3


def test_a_book_that_claims_a_hundred_thousand_pages_is_read_in_part() -> None:
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count 100000 >>" % (b"5 0 R " * 100_000),
        FONT,
        stream(lines_on_page(["All pages are this one."])),
        PAGE,
    ]
    page = read(assemble(objects))
    assert page.ok and page.text.count("All pages are this one.") == MAX_PAGES


PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents 4 0 R >>"
TREE = b"<< /Type /Pages /Kids [5 0 R] /Count 1 >>"
CATALOGUE = b"<< /Type /Catalog /Pages 2 0 R >>"
TEXT = lines_on_page(["Hello from the page"])


def made_of(
    catalogue: bytes = CATALOGUE, tree: bytes = TREE, content: bytes = b"", page: bytes = PAGE, *more: bytes,
    trailer: bytes = b"",
) -> bytes:  # fmt: skip
    return assemble([catalogue, tree, FONT, content or stream(TEXT), page, *more], trailer)


ENCRYPTION = b"<< /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P -4 >>" % (b"41" * 32, b"42" * 32)
UNREAD = {
    "encrypted": (
        made_of(CATALOGUE, TREE, b"", PAGE, ENCRYPTION, trailer=b"/Encrypt 6 0 R /ID [<00> <00>]"), "wants a password",
    ),
    "scanned": (made_of(content=stream(b"0 0 500 500 re f")), "a PDF without a text layer (1 page)"),
    "only a name": (b"%PDF-1.4 a leaflet that only pretends", "no document"),
    "nothing": (b"", "no document"),
    "a web page": (b"<html><title>Not found</title>", "no document"),
    "noise": (b"%PDF-1.7\n" + random.Random(1).randbytes(50_000), "no document"),
    "cut in half": (pdf(PROSE, PROSE)[:700], "no document"),
    "no pages": (made_of(tree=b"<< /Type /Pages /Kids [] /Count 0 >>"), "no document"),
    "a tree as deep as the sea": (
        assemble([CATALOGUE, *(b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % n for n in range(3, 20_000)), PAGE]),
        "can be read",
    ),
    "brackets without end": (made_of(content=stream(b"[" * 300_000 + TEXT)), "without a text layer"),
    "a packed desert": (made_of(content=stream(b" " * 20_000_000, packed=True)), "without a text layer"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNREAD)
def test_what_has_no_text_to_read_is_unsupported_and_says_why(name: str) -> None:
    body, said = UNREAD[name]
    page = read(body)
    assert (page.ok, page.unsupported) == (False, True)
    assert said in page.problem
    assert page.text == ""


READ = {
    "a script that runs when opened": made_of(
        b"<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (while (true) {}) >> >>"
    ),
    "a page count that lies": made_of(tree=b"<< /Type /Pages /Kids [5 0 R] /Count 2000000000 >>"),
    "pages that contain themselves": made_of(tree=b"<< /Type /Pages /Kids [2 0 R 5 0 R] /Count 2 >>"),
    "a length that is its own stream": made_of(content=b"<< /Length 4 0 R >>\nstream\n" + TEXT + b"\nendstream"),
    "arrays in arrays": made_of(page=PAGE[:-2] + b"/X " + b"[" * 100_000 + b"]" * 100_000 + b" >>"),
    "bookmarks in a circle": made_of(
        b"<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>", TREE, b"", PAGE,
        b"<< /First 7 0 R /Last 7 0 R /Count 1 >>",
        b"<< /Title (Chapter) /Parent 6 0 R /Next 7 0 R /First 7 0 R /Last 7 0 R >>",
    ),
    "a table before itself": made_of().replace(b"/Root 1 0 R", b"/Root 1 0 R /Prev %d" % made_of().rindex(b"xref\n0")),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_a_document_that_is_built_to_hurt_is_read_like_any_other(name: str) -> None:
    page = read(READ[name])
    assert (page.ok, page.text) == (True, "Hello from the page"), page.problem
    assert len(page.headings) <= 100


@settings(max_examples=200)
@given(st.data())
def test_damage_never_raises(data: st.DataObject) -> None:
    body = bytearray(pdf(PROSE, PROSE, info={"Title": "Webs", "CreationDate": "D:20240517"}, links=["http://b.test/"]))
    for _ in range(data.draw(st.integers(1, 20))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    page = read(bytes(body))
    assert page.ok or page.problem


def test_a_packed_stream_is_read() -> None:
    assert read(made_of(content=stream(TEXT, packed=True))).text == "Hello from the page"


def test_filetype_calls_it_pdf() -> None:
    assert type_of("http://a.test/download?id=7", read(pdf(PROSE)).media_type) == "pdf"
