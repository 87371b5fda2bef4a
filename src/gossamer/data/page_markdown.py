"""Markdown of stored pages, made from their text and their raw responses when somebody asks for it (decision 26).

The raw response of a page is in the archive of its segment, unless the crawl keeps none (`crawl.archive`) or the page
asked not to be archived. Then there is the text alone, and its Markdown has paragraphs only.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from gossamer.data.folder import DataFolder
from gossamer.data.raw_pages import decoded_html, document_html_of
from gossamer.database.database import Database
from gossamer.errors import CorruptError
from gossamer.frontier import changes
from gossamer.frontier.copies.mirror_table import load_mirrors
from gossamer.frontier.steering.removals import covered
from gossamer.frontier.views.inspect import place_of
from gossamer.model.records import PageRow
from gossamer.model.site import key64, site_of
from gossamer.model.url import Canonicalizer
from gossamer.parse.markdown import Markdown, page_markdown, paragraphs, whole_markdown
from gossamer.settings import Settings
from gossamer.store.durable import SegmentMissingError
from gossamer.store.segments import read_page, read_response

_TRIES = 3
"""How often to look again for a segment that was merged into another while it was read."""


class MarkdownMaker:
    """Makes Markdown of the pages of a crawl; safe to share between threads."""

    def __init__(self, folder: DataFolder, settings: Settings, db: Database) -> None:
        self._segments, self._limits = folder.segments, settings.parse
        self._canonicalizer = Canonicalizer(settings.urls, load_mirrors(db, settings.dedup.mirrors))

    def make(self, segment: str, url: str, title: str, text: str, offset: int | None, length: int | None) -> Markdown:
        """The Markdown of a page whose raw response is at a place in the archive of a segment."""
        if offset is None or not text:
            return Markdown(paragraphs(text), is_structured=False)
        response = read_response(self._segments, segment, offset, length)
        if html := document_html_of(response, self._limits):
            whole = whole_markdown(html, url, self._canonicalizer, self._limits)
            return Markdown(whole or paragraphs(text), is_structured=bool(whole))
        page = decoded_html(response, self._limits)
        if page is None:
            return Markdown(paragraphs(text), is_structured=False)
        return page_markdown(page, text, url, self._canonicalizer, self._limits, title)

    def column(self, segment: str, pages: pa.Table, failed: Callable[[CorruptError], None]) -> pa.Array:
        """The Markdown of pages of a segment; null for those without text, and where the archive is damaged."""
        made: list[str | None] = []
        for row in pages.select(["url", "title", "text", "warc_offset", "warc_length"]).to_pylist():
            try:
                row["title"] = row["title"] or ""
                made.append(None if row["text"] is None else self.make(segment, *row.values()).text)
            except CorruptError as error:
                failed(error)
                made.append(None)
        return pa.array(made, pa.string())


Found = tuple[str, int, MarkdownMaker]
"""Segment and row of a document, and who can make its Markdown."""
Ask = Callable[[Callable[[Database], Found | None]], Found | None]
"""Calls a function with a connection to the crawl's database."""


def document_markdown(folder: DataFolder, settings: Settings, ask: Ask, url: str) -> tuple[PageRow, Markdown] | None:
    """The stored page of a canonical URL and its Markdown; None where it is no document, or was taken down."""
    for number in range(_TRIES):
        found = ask(lambda db: _find(folder, settings, db, url))
        if found is None:
            return None
        segment, row, maker = found
        try:
            page = read_page(folder.segments, segment, row)
            return page, maker.make(
                segment, page.url, page.title or "", page.text or "", page.warc_offset, page.warc_length
            )
        except SegmentMissingError:
            if number == _TRIES - 1:
                raise
    return None


def _find(folder: DataFolder, settings: Settings, db: Database, url: str) -> Found | None:
    written = changes.documents(db, key64(site_of(url)), [key64(url)]).get(key64(url))
    place = place_of(db, *written) if written is not None and not covered(db)(url) else None
    return (*place, MarkdownMaker(folder, settings, db)) if place is not None else None
