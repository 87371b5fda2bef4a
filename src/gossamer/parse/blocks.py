"""A page as a list of text blocks and the tree of elements around them, in one pass.

The parser writes the body back as markup, well-formed by then, and one regular
expression cuts it into tags and texts. That is as fast as visiting nodes, and every
start tag comes as one string, whose meaning `TagReader` remembers.

A block is a run of inline text between two borders of block elements. Blocks are
numbered in document order, so an element holds a range of them, and sums over an
element are differences of running sums: nothing visits a block once per ancestor.
"""

from __future__ import annotations

import re

import msgspec

from gossamer.parse.tags import BREAK, CLOSE, INLINE, LINK, LINK_END, OPEN, Tag, TagReader

_TOKENS = re.compile(r"<(!--.*?--|[^>]*)>", re.DOTALL)
_LINE_BREAK = "\0"
"""Stands for `<br>`, and for the end of a line in `<pre>`, until white space is collapsed: no text has a NUL."""


class Page(msgspec.Struct):
    """Blocks and elements, each as parallel lists."""

    texts: list[str]
    """Text of each block: white space collapsed, line breaks kept."""
    linked: list[int]
    """Characters of each block inside links."""
    links: list[int]
    """Links that begin in each block."""
    holders: list[int]
    """The innermost element of each block."""
    parents: list[int]
    """The parent of each element; the body, element 0, is its own."""
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
    """Equal for elements with equal tags up to the body."""


def read_blocks(markup: str, reader: TagReader, max_blocks: int) -> Page:
    """The blocks of a serialised body; what follows the first `max_blocks` is left out."""
    tokens = _TOKENS.split(markup)
    body = reader["body"]
    page = Page([], [], [], [], [0], [body], [0], [0], [0], [body.bits], [body.low], [body.score], [0])
    texts, linked, links, holders = page.texts, page.linked, page.links, page.holders
    parents, tags, first, end, depths = page.parents, page.tags, page.first, page.end, page.depths
    facts, lows, sums, looks = page.facts, page.lows, page.sums, page.looks
    node = depth = count = 0
    parts = [tokens[0]] if tokens[0] else []
    anchors = anchor_chars = 0
    in_link = False
    tokens += ("hr", "")  # ends the last block
    following = tokens[0]
    for tag, text in zip(map(reader.__getitem__, tokens[1::2]), tokens[2::2], strict=True):
        before, following = following, text
        kind = tag.kind
        if kind == INLINE:
            pass
        elif kind == LINK:
            in_link = True
            anchors += 1
            if parts and not before:  # two links without a space between are two words
                parts.append(" ")
        elif kind == LINK_END:
            in_link = False
        elif kind == BREAK:
            parts.append(_LINE_BREAK)
        else:
            if parts:
                block = "".join(parts)
                parts.clear()
                if "\n" in block and tags[node].name == "pre":
                    block = block.replace("\n", _LINE_BREAK)
                block = _plain(block)
                if block:
                    texts.append(block)
                    linked.append(anchor_chars)
                    links.append(anchors)
                    holders.append(node)
                    anchors = anchor_chars = 0
                    count += 1
                    if count >= max_blocks:
                        break
            if kind == OPEN:
                parents.append(node)
                first.append(count)
                end.append(count)
                facts.append(facts[node] | tag.bits)
                low = lows[node]
                lows.append(low if low < tag.low else tag.low)
                sums.append(sums[node] + tag.score)
                looks.append(hash((looks[node], tag.look)))
                node = len(tags)
                tags.append(tag)
                depth += 1
                depths.append(depth)
            elif kind == CLOSE and node:
                end[node] = count
                node = parents[node]
                depth -= 1
        if text:
            if parts or not text.isspace():
                parts.append(text)
            if in_link:
                anchor_chars += len(text)
    while node:
        end[node] = count
        node = parents[node]
    end[0] = count
    return page


def _plain(raw: str) -> str:
    """A block's text: references resolved, white space collapsed, line breaks kept."""
    if "&" in raw:
        raw = raw.replace("&nbsp;", " ").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    if _LINE_BREAK not in raw:
        return " ".join(raw.split())
    return "\n".join([line for part in raw.split(_LINE_BREAK) if (line := " ".join(part.split()))])
