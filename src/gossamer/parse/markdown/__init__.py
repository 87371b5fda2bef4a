"""The main text of a page as Markdown: CommonMark with GitHub's tables.

Made on demand from the stored text and the HTML it was cut out of (decision 26): the text says what is shown, the HTML
how it is arranged. The steps:

1. find the lines of the text in the tree (`alignment.py`);
2. add what belongs to them by structure, and take everything else out of the tree (`choice.py`);
3. tidy what is left: code, tables, links, pictures, signs that only link to a heading;
4. let the HTML library write it as Markdown.

A text that is not on the page (JSON-LD stated it, a script drew it, the page is a PDF) becomes paragraphs. An office
document is HTML of our own making, so all of it is shown (`parse/documents`).

Steps that look at what is around an element take at most 512 times as long as those that do not: the HTML library
nests no deeper.
"""

from __future__ import annotations

import msgspec

from gossamer.model.url import Canonicalizer, resolve_base
from gossamer.parse.html import Element, Tree, as_markdown
from gossamer.parse.limits import ParseLimits
from gossamer.parse.links import Resolver
from gossamer.parse.markdown.alignment import found_in
from gossamer.parse.markdown.choice import complete, prune
from gossamer.parse.markdown.code import tidy_code
from gossamer.parse.markdown.emphasis import mark_emphasis, mark_empty_lines, write_signs
from gossamer.parse.markdown.layout import line_key, read_layout
from gossamer.parse.markdown.references import tidy_links, tidy_pictures
from gossamer.parse.markdown.tables import holds_data, make_boxes, make_grid

_ENOUGH = 0.5
"""Share of the text that the page must hold."""
_UNSHOWN = "del,s,strike,u,ins,mark,span,font,small,big,label,time,abbr,link,input"
"""What CommonMark cannot show; empty ones would be empty paragraphs."""


class Markdown(msgspec.Struct, frozen=True):
    """A text as Markdown."""

    text: str
    is_structured: bool
    """Whether the structure is that of the page; otherwise there are only paragraphs."""


def page_markdown(
    html: str, text: str, url: str, canonicalizer: Canonicalizer, limits: ParseLimits, title: str = ""
) -> Markdown:
    """The main text of a page, as its parser found it, with the structure that its HTML gives it, below the heading
    that says its title."""
    tree = Tree(html, limits.max_tags)
    base = tree.first("base[href]")
    resolve = Resolver(canonicalizer, resolve_base(url, base.attr("href") if base else None))
    body = tree.silenced_body()
    if body is None or not _cut(body, text, title):
        return Markdown(paragraphs(text), is_structured=False)
    _tidy(body, resolve)
    written = write_signs(as_markdown(body))[: limits.max_text_chars]
    return Markdown(written, True) if written.strip() else Markdown(paragraphs(text), False)


def whole_markdown(html: str, url: str, canonicalizer: Canonicalizer, limits: ParseLimits) -> str:
    """All of a document whose HTML holds nothing but its text."""
    body = Tree(html, limits.max_tags).silenced_body()
    if body is None:
        return ""
    _tidy(body, Resolver(canonicalizer, resolve_base(url, None)))
    return write_signs(as_markdown(body))[: limits.max_text_chars]


def paragraphs(text: str) -> str:
    """A text without structure: a paragraph for each line, with nothing in it that Markdown would take for a mark."""
    body = Element("div")
    for line in text.split("\n"):
        paragraph = Element("p")
        paragraph.set_text(line)
        body.append(paragraph)
    return as_markdown(body)


def _cut(body: Element, text: str, title: str) -> bool:
    """Leave only the main text in the tree; False where the page does not hold it."""
    layout = read_layout(body)
    taken, share = found_in(layout, [key for line in text.split("\n") if (key := line_key(line))])
    if share < _ENOUGH:
        return False
    tables = [number for number, box in enumerate(layout.boxes) if box.tag == "table" and holds_data(box)]
    complete(layout, taken, tables, title)
    prune(layout, taken)
    return True


def _tidy(body: Element, resolve: Resolver) -> None:
    for element in body.select("[style]"):
        del element.attrs["style"]  # the library takes what keeps its white space for code
    tidy_code(body)
    for table in body.select("table"):
        (make_grid if holds_data(table) else make_boxes)(table)
    tidy_pictures(body, resolve)
    tidy_links(body, resolve)
    body.strip_tags(_UNSHOWN)
    mark_empty_lines(body)
    mark_emphasis(body)
