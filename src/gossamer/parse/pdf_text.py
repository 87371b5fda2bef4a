"""From the lines of a PDF's pages to a text: the page is a thing of paper, and the text has none.

A PDF knows letters and places, no paragraphs. What is done about it, in this order:

- lines at the top and bottom that most pages repeat, but for their numbers, are running heads and feet: dropped, and
  so are bare page numbers there;
- a word cut by a hyphen at the end of a line is put together again;
- a line that is about as long as the widest of its page goes on in the next one; a shorter one ends its paragraph.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_EDGE = 2
"""Lines at the top and at the bottom of a page that may be its head or foot."""
_REPEATED = 0.4
"""Share of pages that repeat a running head: left and right pages may have one each."""
_MIN_PAGES = 4
_FULL = 0.8
"""Share of the widest line from which on a line goes on."""
_MIN_WIDTH = 30
"""Characters below which even the widest line of a page is no line of prose."""

_NUMBER = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(r"[\W_]*(?:\d+|[ivxlcdm]+)(?:\s*(?:/|of|из|von|de|sur)\s*\d+)?[\W_]*", re.I)
_CUT_MARK = re.compile("\ufffe(?=(.?))")
_CUT_WORD = re.compile(r"(?<=[^\W\d_])[\u2010\u00ad-]$")
_LEADER = re.compile(r"(?:[ \t]*[.…_·]){4,}")
"""What leads the eye from an entry of a table of contents to its page number."""
_ITEM = re.compile(r"(?:[•‣◦▪●○–—*·-]|\(?\d{1,3}[.)]|\(?\w[.)])\s")
_SPACELESS = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")


def join_pages(pages: Sequence[str]) -> str:
    """The text of a document."""
    lines = [_lines(page) for page in pages]
    repeated = _running(lines)
    kept = [_without_edges(page, repeated) for page in lines]
    if not any(kept):  # pages of nothing but heads and feet: they are the text
        kept = lines
    return "\n".join(paragraph for page in kept for paragraph in paragraphs(page))


def _lines(page: str) -> list[str]:
    """A mark of the library stands where it took a hyphen at the end of a line away."""
    text = _CUT_MARK.sub(lambda cut: "" if cut[1].islower() else "-", page) if "\ufffe" in page else page
    text = _LEADER.sub(" ", text)
    return [line for line in (" ".join(line.split()) for line in text.splitlines()) if line]


def _running(pages: Sequence[list[str]]) -> set[str]:
    filled = [page for page in pages if page]
    if len(filled) < _MIN_PAGES:
        return set()
    counts: Counter[str] = Counter()
    for page in filled:
        counts.update({_shape(line) for line in (*page[:_EDGE], *page[-_EDGE:])})
    return {shape for shape, count in counts.items() if count >= max(_MIN_PAGES - 1, _REPEATED * len(filled))}


def _shape(line: str) -> str:
    return _NUMBER.sub("#", line)


def _without_edges(page: list[str], repeated: set[str]) -> list[str]:
    def is_edge(line: str) -> bool:
        return _shape(line) in repeated or _PAGE_NUMBER.fullmatch(line) is not None

    start, end = 0, len(page)
    while start < min(_EDGE, end) and is_edge(page[start]):
        start += 1
    while end > max(start, len(page) - _EDGE) and is_edge(page[end - 1]):
        end -= 1
    return page[start:end]


def paragraphs(lines: Sequence[str]) -> list[str]:
    """Lines joined to what was one paragraph before it was set."""
    width = max(map(len, lines), default=0)
    goes_on_from = _FULL * width if width >= _MIN_WIDTH else width + 1
    found: list[str] = []
    open_ended = False
    for line in lines:
        cut = bool(found) and _CUT_WORD.search(found[-1]) is not None and line[:1].islower()
        if cut:
            found[-1] = found[-1][:-1] + line
        elif found and open_ended and not _ITEM.match(line):
            found[-1] += _glue(found[-1], line) + line
        else:
            found.append(line)
        open_ended = len(line) >= goes_on_from
    return found


def _glue(left: str, right: str) -> str:
    """Writing without spaces has none at the end of a line, either."""
    return "" if _SPACELESS.match(left[-1]) and _SPACELESS.match(right[0]) else " "
