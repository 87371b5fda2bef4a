"""A page as a list of text blocks and the tree of elements around them, in one pass over the tree.

A block is a run of inline text between two borders of block elements. Blocks are
numbered in document order, so an element holds a range of them, and sums over an
element are differences of running sums: nothing visits a block once per ancestor.

The pass follows the parser's own order of nodes and keeps the open elements on a stack,
so that no depth of nesting can exhaust it. It is where an extraction spends most of its
time in Python, so it only notes numbers: what elements say is looked up afterwards, for
all of them together (`TagReader`).
"""

from __future__ import annotations

import re

import msgspec

from gossamer.compiled import twin
from gossamer.parse.html import Element, Text
from gossamer.parse.text.tags import BLOCK, BREAK, INLINE, KINDS, LINK, RULE, Look, Names, TagReader, Tags

_LINE_BREAK = "\0"
"""Stands for `<br>`, and for the end of a line in `<pre>`, until white space is collapsed: no text has a NUL."""
PERMALINK_SIGNS = frozenset("¶ # § 🔗 ⚓".split())
"""What stands behind a heading only to be linked to."""
_SIGN_PARTS = 3
"""Pieces of text that a link of one sign may be made of: white space around the sign."""
_TAB = 4
_INVISIBLE = re.compile(r"display:\s*none|visibility:\s*hidden")
_RARE = "[role],[style],[hidden],[aria-hidden],[itemscope],[itemprop],[aria-label]"
"""Elements with attributes that matter beside class and id: to find them first takes less than to ask each one."""
_BODY: Names = ("body", None, None, None, None, None, False, False)
_KNOWN_KINDS = dict(KINDS)

_COMPILED = twin("blocks", (INLINE, LINK, BREAK, RULE, BLOCK, _SIGN_PARTS, _LINE_BREAK))


class Page(msgspec.Struct):
    """Blocks and elements, each as parallel lists."""

    texts: list[str]
    """Text of each block: white space collapsed, line breaks kept."""
    code: dict[int, str]
    """The blocks of `<pre>`, with their indentation."""
    linked: list[int]
    """Characters of each block inside links."""
    links: list[int]
    """Links that begin in each block."""
    targets: list[tuple[int, str]]
    """Block and target of each link, as the page writes it."""
    holders: list[int]
    """The innermost block element of each block."""
    parents: list[int]
    """The parent of each block element; the body, element 0, is its own."""
    first: list[int]
    """The first block of each element."""
    end: list[int]
    """One past the last block of each element."""
    tags: Tags
    """What each element says."""


_Walked = tuple[
    list[str],
    dict[int, str],
    list[int],
    list[int],
    list[tuple[int, str]],
    list[int],
    list[int],
    list[int],
    list[int],
    list[Names],
]


class _Blocks:
    """The blocks found so far, and the text that will be the next one."""

    def __init__(self, max_blocks: int) -> None:
        self._max_blocks = max_blocks
        self.texts: list[str] = []
        self.code: dict[int, str] = {}
        self.linked: list[int] = []
        self.links: list[int] = []
        self.targets: list[tuple[int, str]] = []
        self.holders: list[int] = []
        self.parts: list[str] = []
        self.anchors = 0
        self.anchor_chars = 0

    def drop_permalink(self, began: int, link: Element) -> None:
        """What was gathered since the link began goes, if it is but the sign of a link to the heading before it."""
        if "".join(self.parts[began:]).strip() in PERMALINK_SIGNS and "#" in (link.attr("href") or ""):
            self.anchor_chars -= sum(map(len, self.parts[began:]))
            self.anchors -= 1
            del self.parts[began:]

    def end(self, holder: int, name: str) -> None:
        """What was gathered becomes a block, if it is more than white space."""
        raw = "".join(self.parts)
        self.parts.clear()
        if name == "pre":
            raw = raw.replace("\n", _LINE_BREAK)
        text = " ".join(raw.split()) if _LINE_BREAK not in raw else _lines(raw)
        if text and len(self.texts) < self._max_blocks:
            if name == "pre":
                self.code[len(self.texts)] = _indented(raw)
            self.texts.append(text)
            self.linked.append(self.anchor_chars)
            self.links.append(self.anchors)
            self.holders.append(holder)
            self.anchors = self.anchor_chars = 0


def read_blocks(body: Element, reader: TagReader, max_blocks: int) -> Page:
    """The blocks of a body; what follows the first `max_blocks` is left out."""
    rare = body.select(_RARE)
    if _COMPILED is not None:
        found: _Walked = _COMPILED.walk(
            body, max_blocks, _KNOWN_KINDS, rare, _all_names, _BODY, PERMALINK_SIGNS, _lines, _indented
        )
    else:
        found = walk(body, max_blocks, rare)
    texts, code, linked, links, targets, holders, parents, first, end, names = found
    telling: list[Names | Look] = [
        called if stop > start else called[:2] for called, start, stop in zip(names, first, end, strict=True)
    ]
    return Page(texts, code, linked, links, targets, holders, parents, first, end, reader.read(telling))


def walk(body: Element, max_blocks: int, rare: list[Element]) -> _Walked:
    """The lists of `Page` up to its tags, and what each element is called; `rare`: elements with any of `_RARE`."""
    blocks = _Blocks(max_blocks)
    parts, texts, kinds = blocks.parts, blocks.texts, KINDS
    parents, first, end, names = [0], [0], [0], [_BODY]
    uncommon = set(rare)
    node = 0  # the innermost open block element
    around: list[tuple[Element, int]] = []
    parent: Element = body
    kind = BLOCK
    in_link = after_text = False
    link_began = 0
    for child in body.descendants:
        above = child.parent
        while above is not parent:
            if kind == BLOCK:
                if parts:
                    blocks.end(node, names[node][0])
                end[node] = len(texts)
                node = parents[node]
            elif kind == LINK:
                in_link = False
                if link_began < len(parts) <= link_began + _SIGN_PARTS:
                    blocks.drop_permalink(link_began, parent)
            after_text = False
            parent, kind = around.pop()
        if type(child) is Text:
            data = child.data
            after_text = True
            if parts or not data.isspace():
                parts.append(data)
                if in_link:
                    blocks.anchor_chars += len(data)
        elif type(child) is Element:
            name = child.tag
            around.append((parent, kind))
            parent = child
            kind = kinds[name]
            if kind == BLOCK:
                if parts:
                    blocks.end(node, names[node][0])
                if len(texts) >= max_blocks:
                    break
                parents.append(node)
                node = len(names)
                if child in uncommon:
                    names.append(_all_names(child, name))
                else:
                    names.append((name, child.attr("class"), child.attr("id"), None, None, None, False, False))
                first.append(len(texts))
                end.append(0)
            elif kind == LINK:
                in_link = True
                blocks.anchors += 1
                if target := child.attr("href"):
                    blocks.targets.append((len(texts), target))
                if parts and not after_text:  # two links without a space between are two words
                    parts.append(" ")
                link_began = len(parts)
            elif kind == BREAK:
                parts.append(_LINE_BREAK)
            elif kind == RULE and parts:
                blocks.end(node, names[node][0])
            after_text = False
    if in_link and parts:  # the page ends in it
        while kind != LINK:
            parent, kind = around.pop()
        blocks.drop_permalink(link_began, parent)
    if parts:
        blocks.end(node, names[node][0])
    while node:
        end[node] = len(texts)
        node = parents[node]
    end[0] = len(texts)
    return texts, blocks.code, blocks.linked, blocks.links, blocks.targets, blocks.holders, parents, first, end, names


def _all_names(element: Element, name: str) -> Names:
    """What an element is called that has any of `_RARE`."""
    attr = element.attr
    style = attr("style")
    hidden = (
        attr("aria-hidden") == "true"
        or attr("hidden") is not None
        or (style is not None and _INVISIBLE.search(style) is not None)
    )
    item = attr("itemscope") is not None
    return name, attr("class"), attr("id"), attr("role"), attr("itemprop"), attr("aria-label"), hidden, item


def _lines(raw: str) -> str:
    """White space collapsed, line breaks kept."""
    return "\n".join([line for part in raw.split(_LINE_BREAK) if (line := " ".join(part.split()))])


def _indented(raw: str) -> str:
    """The lines of code that are not empty, each as far to the right as it was."""
    lines = [line.expandtabs(_TAB).rstrip() for line in raw.replace("\xa0", " ").split(_LINE_BREAK)]
    return "\n".join(filter(None, lines))
