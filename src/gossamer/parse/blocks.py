"""A page as a list of text blocks and the tree of elements around them, in one pass over the tree.

A block is a run of inline text between two borders of block elements. Blocks are
numbered in document order, so an element holds a range of them, and sums over an
element are differences of running sums: nothing visits a block once per ancestor.

The pass follows the parser's own order of nodes and keeps the open elements on a stack,
so that no depth of nesting can exhaust it. What an element's names say is remembered by
`TagReader`.
"""

from __future__ import annotations

import re

import msgspec

from gossamer.parse.html import Element, Text
from gossamer.parse.tags import BLOCK, BREAK, INLINE, KINDS, LINK, RULE, Tag, TagReader

_LINE_BREAK = "\0"
"""Stands for `<br>`, and for the end of a line in `<pre>`, until white space is collapsed: no text has a NUL."""
_INVISIBLE = re.compile(r"display:\s*none|visibility:\s*hidden")


class Page(msgspec.Struct):
    """Blocks and elements, each as parallel lists."""

    texts: list[str]
    """Text of each block: white space collapsed, line breaks kept."""
    linked: list[int]
    """Characters of each block inside links."""
    links: list[int]
    """Links that begin in each block."""
    holders: list[int]
    """The innermost block element of each block."""
    parents: list[int]
    """The parent of each block element; the body, element 0, is its own."""
    tags: list[Tag]
    first: list[int]
    """The first block of each element."""
    end: list[int]
    """One past the last block of each element."""
    depths: list[int]
    facts: list[int]
    """Bits of each element and its ancestors."""
    lows: list[float]
    """The lowest score of each element and its ancestors."""
    sums: list[float]
    """Sum of the scores of each element and its ancestors."""
    looks: list[int]
    """Equal for elements with equal names up to the body."""


class _Writer:
    """The state of the pass over a tree."""

    def __init__(self, reader: TagReader, max_blocks: int) -> None:
        self._reader = reader
        self._max_blocks = max_blocks
        body = reader["body", None, None, None, None, None, False, False]
        self.page = Page([], [], [], [], [0], [body], [0], [0], [0], [body.bits], [body.low], [body.score], [0])
        self.node = 0
        self.parts: list[str] = []
        self.anchors = 0
        self.anchor_chars = 0

    def end_block(self) -> None:
        """What was gathered becomes a block, if it is more than white space."""
        page = self.page
        raw = "".join(self.parts)
        self.parts.clear()
        if "\n" in raw and page.tags[self.node].name == "pre":
            raw = raw.replace("\n", _LINE_BREAK)
        text = _plain(raw)
        if text and len(page.texts) < self._max_blocks:
            page.texts.append(text)
            page.linked.append(self.anchor_chars)
            page.links.append(self.anchors)
            page.holders.append(self.node)
            self.anchors = self.anchor_chars = 0

    def open(self, element: Element, name: str) -> None:
        """A block element begins."""
        attr = element.attr
        style = attr("style")
        hidden = (
            attr("aria-hidden") == "true"
            or attr("hidden") is not None
            or (style is not None and _INVISIBLE.search(style) is not None)
        )
        item = attr("itemscope") is not None
        tag = self._reader[
            name, attr("class"), attr("id"), attr("role"), attr("itemprop"), attr("aria-label"), hidden, item
        ]
        page, node = self.page, self.node
        count = len(page.texts)
        page.parents.append(node)
        page.first.append(count)
        page.end.append(count)
        page.facts.append(page.facts[node] | tag.bits)
        low = page.lows[node]
        page.lows.append(low if low < tag.low else tag.low)
        page.sums.append(page.sums[node] + tag.score)
        page.looks.append(hash((page.looks[node], tag.look)))
        page.depths.append(page.depths[node] + 1)
        self.node = len(page.tags)
        page.tags.append(tag)

    def close(self) -> None:
        """The innermost block element ends."""
        self.page.end[self.node] = len(self.page.texts)
        self.node = self.page.parents[self.node]


def read_blocks(body: Element, reader: TagReader, max_blocks: int) -> Page:
    """The blocks of a body; what follows the first `max_blocks` is left out."""
    writer = _Writer(reader, max_blocks)
    parts, texts, kinds = writer.parts, writer.page.texts, KINDS
    around: list[tuple[Element, int]] = []
    parent: Element = body
    kind = BLOCK
    in_link = after_text = False
    for child in body.descendants:
        above = child.parent
        while above is not parent:
            if kind == BLOCK:
                if parts:
                    writer.end_block()
                writer.close()
            elif kind == LINK:
                in_link = False
            after_text = False
            parent, kind = around.pop()
        if type(child) is Text:
            data = child.data
            after_text = True
            if parts or not data.isspace():
                parts.append(data)
            if in_link:
                writer.anchor_chars += len(data)
        elif type(child) is Element:
            name = child.tag
            around.append((parent, kind))
            parent = child
            kind = kinds.get(name, INLINE)
            if kind == INLINE and "-" in name:
                kind = BLOCK
            if kind == BLOCK:
                if parts:
                    writer.end_block()
                if len(texts) >= max_blocks:
                    break
                writer.open(child, name)
            elif kind == LINK:
                in_link = True
                writer.anchors += 1
                if parts and not after_text:  # two links without a space between are two words
                    parts.append(" ")
            elif kind == BREAK:
                parts.append(_LINE_BREAK)
            elif kind == RULE and parts:
                writer.end_block()
            after_text = False
    if parts:
        writer.end_block()
    while writer.node:
        writer.close()
    writer.page.end[0] = len(texts)
    return writer.page


def _plain(raw: str) -> str:
    """A block's text: white space collapsed, line breaks kept."""
    if _LINE_BREAK not in raw:
        return " ".join(raw.split())
    return "\n".join([line for part in raw.split(_LINE_BREAK) if (line := " ".join(part.split()))])
