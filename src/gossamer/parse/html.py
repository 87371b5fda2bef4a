"""The seam to the HTML parser: everything we ask of it, and nothing else.

turbohtml builds the tree in C by the WHATWG algorithm, in linear time and memory
on every hostile page tried. What it cannot bound is the number of elements, so a
document is cut after `max_tags` opening angle brackets: what stands before the cut
is read as usual.

A tree is read first and then consumed: `parse.text` takes boilerplate out of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import turbohtml
from turbohtml import Element, Text

__all__ = ["Element", "Text", "Tree"]

_LAYOUT = turbohtml.PlainText(layout="strict", bullet="")
_MARKDOWN = turbohtml.Markdown(tables=turbohtml.Markdown.Tables(header="detect", cell_blocks="text"))
_MUTE = (
    *("script", "style", "template", "select", "datalist", "textarea", "svg", "math"),
    *("iframe", "object", "canvas", "audio", "video", "noembed", "noframes", "xmp", "plaintext"),
)
"""Never text, whatever they hold."""
_FURNITURE = ("nav", "footer", "dialog", "menu")
_FURNITURE_ROLES = ("navigation", "contentinfo", "dialog", "alertdialog", "menu", "menubar")
_FURNITURE_SELECTOR = ",".join((*_FURNITURE, *(f"[role={role}]" for role in _FURNITURE_ROLES)))
_KEPT_SHARE = 0.4
"""Share of the text from which on an element is no furniture, whatever it is called."""
_READINGS = 3
"""Times the text may be read to find that out; nested furniture would make it quadratic."""
_FLATTENED = ("table", "caption", "tr", "td", "th", "ol")


class Tree:
    """One parsed page."""

    def __init__(self, html: str, max_tags: int) -> None:
        self._document = turbohtml.parse(_cut(html, max_tags), positions=False)
        self.found: dict[str, Element | None] = {}
        """Elements that several look for, by what they look for."""

    def all(self, *tags: str) -> Iterator[Element]:
        """The elements with these names, in document order."""
        return self._document.iter_elements(tags)

    def select(self, selector: str) -> list[Element]:
        """The elements a CSS selector matches, in document order."""
        return self._document.select(selector)

    def first(self, selector: str) -> Element | None:
        """The first element a CSS selector matches."""
        return self._document.select_one(selector)

    @property
    def language(self) -> str:
        """What `<html lang>` says."""
        root = self._document.root
        return (root and root.attr("lang")) or ""

    @property
    def body(self) -> Element | None:
        """The body, or the root of a page that has none (a frameset)."""
        return self._document.select_one("body") or self._document.root

    def silenced_body(self) -> Element | None:
        """The body without what is never text; takes it out of the tree."""
        body = self.body
        if body is not None:
            detach(list(body.iter_elements(_MUTE)))
        return body

    def body_markup(self) -> str:
        """The silenced body written back: well-formed, and `<` and `>` only around tags and comments."""
        body = self.silenced_body()
        return body.inner_html if body is not None else ""

    def lean_body(self) -> Element | None:
        """The silenced body without what is plainly furniture by element or role; takes it out of the tree."""
        body = self.silenced_body()
        if body is None:
            return None
        found = body.select(_FURNITURE_SELECTOR)
        size = len(body.text) if found else 0
        budget = size * _READINGS
        by_name = [element for element in found if element.tag in _FURNITURE]
        by_role = [element for element in found if element.attr("role") in _FURNITURE_ROLES]
        for element in (*by_name, *by_role):
            held = len(element.text)
            budget -= held
            if held < size * _KEPT_SHARE:
                element.extract()
            if budget < 0:
                break
        return body


def detach(nodes: Iterable[turbohtml.Node]) -> None:
    """Take elements and texts out of their tree."""
    for node in nodes:
        node.extract()


def rendered(element: Element) -> str:
    """The visible text, a line per block.

    Cells become blocks first: laid out as a grid, one wide cell pads all rows, and
    100 KB of hostile table turn into 200 MB of spaces. Numbered lists lose their numbers.
    """
    for part in element.iter_elements(_FLATTENED, include_self=True):
        part.tag = "div"
    return element.to_text(_LAYOUT)


def as_markdown(element: Element) -> str:
    """What an element holds as CommonMark with GitHub's tables."""
    return element.to_markdown(_MARKDOWN)


def _cut(html: str, max_tags: int) -> str:
    if html.count("<") <= max_tags:
        return html
    rest = html.split("<", max_tags)[-1]
    return html[: len(html) - len(rest) - 1]
