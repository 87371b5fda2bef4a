"""A part of a document that is HTML: a chapter, the body of a mail, Markdown that was made HTML."""

from __future__ import annotations

import msgspec

from gossamer.model.records import Link
from gossamer.parse.clean import clean_line, clean_text
from gossamer.parse.documents.writer import HEADING_CHARS, MAX_HEADINGS, Writer
from gossamer.parse.html import Tree, rendered
from gossamer.parse.limits import ParseLimits
from gossamer.parse.links import ANCHOR_CHARS, MAX_REFERENCE

_ANCHOR_BUDGET = 1_000_000
"""Characters read for all texts of links of a part."""
_ABSOLUTE = ("http://", "https://")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


class Told(msgspec.Struct):
    """What a part says of itself."""

    title: str = ""
    language: str = ""


def add_html(html: str, writer: Writer, limits: ParseLimits, is_beside: bool = False) -> Told:
    """Take down all of a part. `is_beside`: its relative links start from the document's URL; otherwise they lead to
    other parts of the document, and say nothing outside of it."""
    tree = Tree(html, writer.room_for_marks)
    writer.count_marks(html.count("<"))
    title = tree.first("title")
    told = Told(clean_line(title.text, HEADING_CHARS) if title is not None else "", tree.language)
    body = tree.silenced_body()
    if body is None:
        return told
    for heading in tree.all(*_HEADINGS):
        if len(writer.headings) < MAX_HEADINGS and (line := clean_line(heading.text, HEADING_CHARS)):
            writer.headings.append(line)
    budget = _ANCHOR_BUDGET
    for link in list(tree.all("a")):
        href = link.attr("href") or ""
        if len(href) > MAX_REFERENCE or not (is_beside or href.lower().startswith(_ABSOLUTE)):
            if href:
                del link.attrs["href"]
        elif href and len(writer.links) < limits.max_links:
            text = link.text if budget > 0 else ""
            budget -= len(text)
            writer.links.append(Link(href, clean_line(text, ANCHOR_CHARS)))
    if not is_beside:
        for picture in list(tree.all("img")):
            picture.extract()
    markup = body.inner_html
    writer.add_page(markup, clean_text(rendered(body)))
    return told
