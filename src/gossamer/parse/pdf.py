"""Reads PDF documents: the text layer, what the document says of itself, and the links on its pages.

The work is PDFium's (decision 10). It runs no script and opens no file. What it costs is bounded here by pages,
characters and links, and from outside by the time and the memory of the parser process: a document that is made
to exhaust them takes that process down, which is what it is for.

A document that cannot be opened, wants a password or holds pictures of pages only is *unsupported*: nothing failed,
there is nothing here to read. Dates are the days on which the file was made and changed, so they are trusted little.
"""

from __future__ import annotations

import ctypes
import logging
import re
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from itertools import islice
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from gossamer.model.counts import counted
from gossamer.model.records import Link, Parsed, ParseJob
from gossamer.parse.clean import clean_line, clean_text
from gossamer.parse.document_types import PDF as TYPE
from gossamer.parse.limits import ParseLimits
from gossamer.parse.links import ANCHOR_CHARS, MAX_REFERENCE
from gossamer.parse.naming import TITLE_CHARS, is_made_up, title_of
from gossamer.parse.pdf_text import join_pages

logging.getLogger("pypdfium2").setLevel(logging.CRITICAL)  # it warns of every odd document

PDF = TYPE.media[0]
METHOD = TYPE.name
MAX_PAGES = 2_000
"""Pages that are read of a document."""
DATE_CONFIDENCE = 0.6
"""Of the day on which a file was made as the day on which it was published."""
_MAX_HEADINGS = 100
_HEADING_CHARS = 200
_HEADING_LEVELS = 3
_AUTHOR_CHARS = 200
_TITLE_LETTERS = 2_000
"""Letters of the first page among which the largest are looked for."""
_LARGER = 1.15
"""How much larger than usual a title is set."""
_AS_LARGE = 0.85
"""Fonts of one size differ in height."""
_MIN_LETTERS, _MAX_LETTERS = 6, 150
"""What has fewer is an initial or an ornament, what has more is text."""
_DATE = re.compile(r"(?:D:)?((?:19|20)\d\d)(0[1-9]|1[0-2])?(0[1-9]|[12]\d|3[01])?")
_PREFIX = re.compile(r"(?:microsoft (?:word|powerpoint|excel)|power ?point)\s*-\s*", re.I)


def read_pdf(job: ParseJob, limits: ParseLimits | None = None) -> Parsed:
    """Understand a PDF; never raises. Links are as they are written, for `document.complete` to resolve."""
    limits = limits or ParseLimits()
    try:
        return _read(job, limits)
    except pdfium.PdfiumError as error:
        return _unread(job, _refusal(error))
    except Exception as error:
        problem = clean_line(f"the PDF reader failed: {type(error).__name__}: {error}", 300)
        return Parsed(job.url, ok=False, problem=problem, media_type=PDF)


def _read(job: ParseJob, limits: ParseLimits) -> Parsed:
    with closing(pdfium.PdfDocument(job.body[: limits.max_bytes])) as document:
        parsed = Parsed(job.url, media_type=PDF, method=METHOD)
        pages: list[str] = []
        read, size, count = 0, 0, len(document)
        for page, text_page in _pages(document):
            read += 1
            if size < limits.max_text_chars:
                text = text_page.get_text_range()
                size += len(text)
                if not parsed.title and text.strip():
                    parsed.title = _own_title(document) or _largest_line(text_page) or title_of(text, job.url)
                pages.append(text)
            room = limits.max_links - len(parsed.links)
            parsed.links += _links(document, page, text_page, room)
            if size >= limits.max_text_chars and room <= 0:
                break
        if not read:
            return _unread(job, f"none of the {counted(count, 'page')} of the PDF can be read")
        parsed.text = clean_text(join_pages(pages))[: limits.max_text_chars]
        if not any(map(str.isalnum, parsed.text)):
            return _unread(job, f"a PDF without a text layer ({counted(count, 'page')})")
        _take_information(parsed, document)
        return parsed


def _pages(document: Any) -> Iterator[tuple[Any, Any]]:
    """The pages that can be opened, one at a time."""
    for number in range(min(len(document), MAX_PAGES)):
        try:
            page = document[number]
        except pdfium.PdfiumError:  # one bad page is no reason to lose the others
            continue
        with closing(page), closing(page.get_textpage()) as text_page:
            yield page, text_page


def _unread(job: ParseJob, problem: str) -> Parsed:
    return Parsed(job.url, ok=False, problem=problem, unsupported=True, media_type=PDF)


def _refusal(error: pdfium.PdfiumError) -> str:
    if error.err_code == raw.FPDF_ERR_PASSWORD:
        return "the PDF is encrypted: it wants a password"
    if error.err_code == raw.FPDF_ERR_SECURITY:
        return "the PDF is encrypted in a way that is not known"
    return f"{PDF} by name, but no document: {clean_line(str(error), 200)}"


def _own_title(document: Any) -> str:
    """The title in the document information, unless a program put a file name or nothing there."""
    title = _PREFIX.sub("", clean_line(document.get_metadata_value("Title"), TITLE_CHARS))
    return "" if is_made_up(title) else title


def _largest_line(text_page: Any) -> str:
    """What is set in the largest letters of a page, if they are clearly larger than the rest."""
    box = raw.FS_RECTF()
    letters: list[tuple[str, float]] = []
    for index in range(min(text_page.count_chars(), _TITLE_LETTERS)):
        letter = chr(raw.FPDFText_GetUnicode(text_page, index) or 32)
        raw.FPDFText_GetLooseCharBox(text_page, index, box)
        letters.append((letter, float(box.top - box.bottom) if letter.isalnum() else 0.0))
    heights = sorted(height for _, height in letters if height > 0)
    if not heights or heights[-1] < _LARGER * heights[len(heights) // 2]:
        return ""
    line = clean_line(_first_run(letters, _AS_LARGE * heights[-1]), TITLE_CHARS)
    return line if " " in line and _MIN_LETTERS <= sum(map(str.isalnum, line)) <= _MAX_LETTERS else ""


def _first_run(letters: list[tuple[str, float]], least: float) -> str:
    """The first letters of at least this height, with what stands between them."""
    found: list[str] = []
    for letter, height in letters:
        if height >= least or (found and not height):
            found.append(letter)
        elif found:
            break
    return "".join(found)


def _take_information(parsed: Parsed, document: Any) -> None:
    parsed.author = clean_line(document.get_metadata_value("Author"), _AUTHOR_CHARS)
    parsed.description = clean_line(document.get_metadata_value("Subject"), 1000)
    parsed.date = _day(document.get_metadata_value("CreationDate"))
    if parsed.date:
        parsed.date_source, parsed.date_confidence = METHOD, DATE_CONFIDENCE
    changed = _day(document.get_metadata_value("ModDate"))
    if changed > parsed.date:
        parsed.updated, parsed.updated_source, parsed.updated_confidence = changed, METHOD, DATE_CONFIDENCE
    parsed.headings = list(_headings(document))


def _day(written: str) -> str:
    """A date of a PDF, `D:20240517120000+02'00'`, as ISO 8601, no finer than a day."""
    found = _DATE.match(written.strip())
    if not found:
        return ""
    year, month, day = found.groups()
    try:
        date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return ""
    return "-".join(part for part in (year, month, day) if part)


def _headings(document: Any) -> Iterator[str]:
    """The bookmarks."""
    for bookmark in islice(document.get_toc(max_depth=_HEADING_LEVELS), _MAX_HEADINGS):
        title = clean_line(bookmark.get_title() or "", _HEADING_CHARS)
        if title:
            yield title


def _links(document: Any, page: Any, text_page: Any, room: int) -> Iterator[Link]:
    """Links of a page that lead to a URI."""
    position, link = ctypes.c_int(0), raw.FPDF_LINK()
    while room > 0 and raw.FPDFLink_Enumerate(page, position, link):
        uri = _uri(document, raw.FPDFLink_GetAction(link))
        if uri:
            room -= 1
            yield Link(uri, _anchor(text_page, link))


def _uri(document: Any, action: Any) -> str:
    if not action or raw.FPDFAction_GetType(action) != raw.PDFACTION_URI:
        return ""
    size = raw.FPDFAction_GetURIPath(document, action, None, 0)
    if not 1 < size <= MAX_REFERENCE:
        return ""
    buffer = ctypes.create_string_buffer(size)
    raw.FPDFAction_GetURIPath(document, action, buffer, size)
    uri = buffer.value.decode("utf-8", "replace").strip()
    return uri if uri.isprintable() else ""


def _anchor(text_page: Any, link: Any) -> str:
    box = raw.FS_RECTF()
    if not raw.FPDFLink_GetAnnotRect(link, box):
        return ""
    return clean_line(text_page.get_text_bounded(box.left, box.bottom, box.right, box.top), ANCHOR_CHARS)
