"""Emphasis and empty lines: what the HTML library would write as tags and backslashes.

Whether asterisks are emphasis depends on the characters around them: `a**(b)**c` is none. The library then writes tags
into the Markdown, for all emphasis of the paragraph. Two line breaks in a row, with which many pages part
paragraphs, become lines with a backslash. So both become characters that no page has, and when everything is written,
each pair becomes asterisks or nothing, and each empty line a new paragraph.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import accumulate

from gossamer.parse.html import Element, Text
from gossamer.parse.markdown.layout import SIGNS, first_box

STRONG, STRONG_END, LIGHT, LIGHT_END, PARAGRAPH = tuple(SIGNS)
_PAIRS = {STRONG: STRONG_END, LIGHT: LIGHT_END}
_STARTS = {end: start for start, end in _PAIRS.items()}
_STARS = {STRONG: "**", LIGHT: "*"}
_NAMES = {"b": STRONG, "strong": STRONG, "em": LIGHT, "i": LIGHT}
_UNMARKED = "h1,h2,h3,h4,h5,h6,th,pre,code"
"""What stands out by itself, or shows asterisks as they are."""
_ONE_LINE = "h1,h2,h3,h4,h5,h6,td,th,pre,code,a"
"""What cannot hold paragraphs."""
_SPLIT = re.compile(f"([{STRONG}{STRONG_END}{LIGHT}{LIGHT_END}])")
_EMPTY_LINE = re.compile(rf"\s*{PARAGRAPH}[\s{PARAGRAPH}]*")
_LINE_START = re.compile(r"^(?:[ >]|[-*+] |\d{1,9}[.)] )*")
"""Marks of the quotations and items in which a line stands."""
_EMPTY_PARAGRAPHS = re.compile(r"(?P<code>^[ >]*(?P<fence>`{3,})[^\n]*\n.*?^[ >]*(?P=fence)$)|\n{3,}", re.M | re.S)
"""What elements that are unknown to the library leave behind; in code, empty lines have a meaning."""
_BLOCK_MARK = re.compile(r"^(\d{0,9})([-+#>=~|.)])")
"""What would begin a list, a heading or a quotation."""
_SPACE_INSIDE = (
    (re.compile(rf"([{STRONG}{LIGHT}]+)([\s{PARAGRAPH}]+)"), r"\2\1"),
    (re.compile(rf"([\s{PARAGRAPH}]+)([{STRONG_END}{LIGHT_END}]+)"), r"\2\1"),
)
_SEAMS = (f"{STRONG_END}{STRONG}", f"{LIGHT_END}{LIGHT}", f"{STRONG}{STRONG_END}", f"{LIGHT}{LIGHT_END}")
"""Emphasis that goes on at once, or holds nothing."""


def mark_emphasis(body: Element) -> None:
    """Put signs where emphasis begins and ends, in place of its elements."""
    for element in list(body.iter_elements(tuple(_NAMES))):
        sign = _NAMES[element.tag]
        has_words = any(text and not text.isspace() for text in element.strings)
        if has_words and first_box(element) is None and element.closest(_UNMARKED) is None:
            element.insert(0, Text(sign))
            element.append(Text(_PAIRS[sign]))
        element.unwrap()


def mark_empty_lines(body: Element) -> None:
    """Put a sign where line breaks follow each other, in place of them."""
    for line_break in list(body.iter_elements(("br",))):
        if line_break.parent is None or (following := _following_break(line_break)) is None:
            continue
        if line_break.closest(_ONE_LINE) is None:
            while following is not None:
                following.extract()
                following = _following_break(line_break)
            line_break.replace_with(Text(PARAGRAPH))


def _following_break(line_break: Element) -> Element | None:
    following = line_break.next_sibling
    while isinstance(following, Text) and not following.data.strip():
        following = following.next_sibling
    return following if isinstance(following, Element) and following.tag == "br" else None


def write_signs(text: str) -> str:
    """Markdown with asterisks and new paragraphs for the signs, and without empty paragraphs."""
    if STRONG in text or LIGHT in text:
        text = _with_asterisks(text)
    if PARAGRAPH in text:
        text = _with_paragraphs(text)
    return _EMPTY_PARAGRAPHS.sub(lambda found: found["code"] or "\n\n", text) if "\n\n\n" in text else text


def _with_paragraphs(text: str) -> str:
    """A new paragraph begins like its line: in the same quotation, below the text of the same item."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if PARAGRAPH in line:
            start = line[: len(line) - len(_LINE_START.sub("", line, count=1))]
            first, *others = _EMPTY_LINE.split(line[len(start) :])
            pieces = [first, *(_BLOCK_MARK.sub(r"\1\\\2", piece) for piece in others)]
            inside = re.sub(r"[^ >]", " ", start)
            lines[number] = start + f"\n{inside.rstrip()}\n{inside}".join(filter(None, pieces))
    return "\n".join(lines)


def _with_asterisks(text: str) -> str:
    for pattern, moved in _SPACE_INSIDE:
        text = pattern.sub(moved, text)
    for seam in _SEAMS:
        text = text.replace(seam, "")
    pieces = _SPLIT.split(text)
    pieces[1::2] = _stars(pieces[1::2], pieces[::2])
    return "".join(pieces)


def _stars(signs: list[str], texts: list[str]) -> list[str]:
    """What to write for each sign; before it stands the text of its number, behind it the next."""
    before = list(accumulate(texts[:-1], lambda last, text: text[-1:] or last, initial=""))[1:]
    behind = list(accumulate(texts[:0:-1], lambda first, text: text[:1] or first, initial=""))[:0:-1]
    stars = [""] * len(signs)
    opened: dict[str, int] = {}
    for place, sign in enumerate(signs):
        if sign in _PAIRS:
            follows_another = place > 0 and not texts[place] and signs[place - 1] in _STARTS
            if sign not in opened and not follows_another and _may_stand(before[place], behind[place]):
                opened[sign] = place
        else:
            start = opened.pop(_STARTS[sign], None)
            is_whole = start is not None and not any(PARAGRAPH in text for text in texts[start + 1 : place + 1])
            if start is not None and is_whole and _may_stand(behind[place], before[place]):
                stars[start] = stars[place] = _STARS[_STARTS[sign]]
    return stars


def _may_stand(outside: str, inside: str) -> bool:
    """Whether asterisks between two characters begin or end emphasis."""
    if not inside or inside.isspace():
        return False
    if inside.isalnum():
        return True
    return not outside or outside.isspace() or outside == PARAGRAPH or unicodedata.category(outside).startswith("P")
