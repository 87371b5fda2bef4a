"""The main text of a page as Markdown: CommonMark with GitHub's tables.

Made on demand from the stored text and the HTML it was cut out of (decision 26): the text says what is shown, the HTML
how it is arranged. The steps:

1. find the lines of the text in the tree, and what belongs to them by structure (`choice.py`);
2. take everything else out of the tree;
3. tidy what is left: code, tables, links, pictures, signs that only link to a heading;
4. let the HTML library write it as Markdown.

A text that is not on the page (JSON-LD stated it, a script drew it, the page is a PDF) becomes paragraphs.
"""

from __future__ import annotations

import re

import msgspec

from gossamer.model.url import Canonicalizer, resolve_base
from gossamer.parse.html import Element, Tree, as_markdown, detach
from gossamer.parse.limits import ParseLimits
from gossamer.parse.links import Resolver
from gossamer.parse.markdown.choice import complete, found_in, prune
from gossamer.parse.markdown.code import tidy_code
from gossamer.parse.markdown.emphasis import mark_emphasis, write_emphasis
from gossamer.parse.markdown.layout import line_key, read_layout
from gossamer.parse.markdown.tables import holds_data, make_boxes, make_grid
from gossamer.parse.text.tags import BLOCK, KINDS

_ENOUGH = 0.5
"""Share of the text that the page must hold."""
_SIGNS = "a.headerlink,a.anchor,a.anchor-link,a.header-anchor,a.hash-link,a.heading-link,.mw-editsection"
"""What stands behind or before a heading to link to it."""
_STRUCK = "del,s,strike"
"""CommonMark cannot strike text through."""
_SOURCES = ("src", "data-src", "data-original", "data-lazy-src")
_ALT_CHARS = 300
_WORD = re.compile(r"\w")


class Markdown(msgspec.Struct, frozen=True):
    """A text as Markdown."""

    text: str
    is_structured: bool
    """Whether the structure is that of the page; otherwise there are only paragraphs."""


def page_markdown(html: str, text: str, url: str, canonicalizer: Canonicalizer, limits: ParseLimits) -> Markdown:
    """The main text of a page, as its parser found it, with the structure that its HTML gives it."""
    tree = Tree(html, limits.max_tags)
    base = tree.first("base[href]")
    resolve = Resolver(canonicalizer, resolve_base(url, base.attr("href") if base else None))
    body = tree.silenced_body()
    if body is None or not _cut(body, text):
        return Markdown(paragraphs(text), is_structured=False)
    _tidy(body, resolve)
    written = write_emphasis(as_markdown(body))[: limits.max_text_chars]
    return Markdown(written, True) if written.strip() else Markdown(paragraphs(text), False)


def paragraphs(text: str) -> str:
    """A text without structure: a paragraph for each line, with nothing in it that Markdown would take for a mark."""
    body = Element("div")
    for line in text.split("\n"):
        paragraph = Element("p")
        paragraph.set_text(line)
        body.append(paragraph)
    return as_markdown(body)


def _cut(body: Element, text: str) -> bool:
    """Leave only the main text in the tree; False where the page does not hold it."""
    layout = read_layout(body)
    taken, share = found_in(layout, [key for line in text.split("\n") if (key := line_key(line))])
    if share < _ENOUGH:
        return False
    tables = [number for number, box in enumerate(layout.boxes) if box.tag == "table" and holds_data(box)]
    complete(layout, taken, tables)
    prune(layout, taken)
    return True


def _tidy(body: Element, resolve: Resolver) -> None:
    detach(body.select(_SIGNS))
    tidy_code(body)
    for table in body.select("table"):
        (make_grid if holds_data(table) else make_boxes)(table)
    _tidy_pictures(body, resolve)
    _tidy_links(body, resolve)
    body.strip_tags(_STRUCK)
    mark_emphasis(body)


def _tidy_pictures(body: Element, resolve: Resolver) -> None:
    """Pictures get the canonical URL of their file; those without one, and those shown before, go."""
    seen = set()
    for picture in list(body.iter_elements(("img",))):
        url = next(filter(None, (resolve(picture.attr(name)) for name in _SOURCES)), "")
        if not url or url in seen or _is_pixel(picture):
            picture.extract()
            continue
        seen.add(url)
        alt = " ".join((picture.attr("alt") or "").split())[:_ALT_CHARS]
        for name in list(picture.attrs):
            del picture.attrs[name]
        picture.attrs["src"], picture.attrs["alt"] = url, alt


def _is_pixel(picture: Element) -> bool:
    return any((picture.attr(name) or "") in ("0", "1") for name in ("width", "height"))


def _tidy_links(body: Element, resolve: Resolver) -> None:
    """Links get canonical URLs; those that lead to no page, or have no text, go. A link around boxes moves into the
    first heading of them, or the first box: Markdown has links within a line only."""
    for link in list(body.iter_elements(("a",))):
        reference = link.attr("href")
        words = link.text
        if not words.strip() and link.select_one("img") is None:
            link.extract()
            continue
        if reference and reference.startswith("#") and not _WORD.search(words):
            link.extract()
            continue
        url = resolve(reference)
        inside = next(
            (part for part in link.descendants if isinstance(part, Element) and KINDS[part.tag] == BLOCK), None
        )
        if url and inside is None:
            for name in list(link.attrs):
                del link.attrs[name]
            link.attrs["href"] = url
            continue
        if url and inside is not None:
            target = link.select_one("h1,h2,h3,h4,h5,h6") or link.select_one("p") or inside
            if all(not (isinstance(part, Element) and KINDS[part.tag] == BLOCK) for part in target.descendants):
                target.wrap_children(Element("a", {"href": url}))
        link.unwrap()
