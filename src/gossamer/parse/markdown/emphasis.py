"""Emphasis: bold and italic text between asterisks, where CommonMark reads them as such.

Whether asterisks are emphasis depends on the characters around them: `a**(b)**c` is none. The HTML library writes tags
into the Markdown then, of all text in the paragraph. So emphasis becomes characters that no page has, and when
everything is written, each pair becomes asterisks or nothing.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import accumulate

from gossamer.parse.html import Element, Text
from gossamer.parse.text.tags import BLOCK, KINDS

STRONG, STRONG_END, LIGHT, LIGHT_END = SIGNS = "\ufdd0\ufdd1\ufdd2\ufdd3"
"""Unicode reserves these for use inside of programs."""
_PAIRS = {STRONG: STRONG_END, LIGHT: LIGHT_END}
_STARTS = {end: start for start, end in _PAIRS.items()}
_STARS = {STRONG: "**", LIGHT: "*"}
_NAMES = {"b": STRONG, "strong": STRONG, "em": LIGHT, "i": LIGHT}
_UNMARKED = "h1,h2,h3,h4,h5,h6,th,pre,code"
"""What stands out by itself, or shows asterisks as they are."""
_SPLIT = re.compile(f"([{SIGNS}])")
_SPACE_INSIDE = (
    (re.compile(rf"([{STRONG}{LIGHT}]+)(\s+)"), r"\2\1"),
    (re.compile(rf"(\s+)([{STRONG_END}{LIGHT_END}]+)"), r"\2\1"),
)
_SEAMS = (f"{STRONG_END}{STRONG}", f"{LIGHT_END}{LIGHT}", f"{STRONG}{STRONG_END}", f"{LIGHT}{LIGHT_END}")
"""Emphasis that goes on at once, or holds nothing."""


def mark_emphasis(body: Element) -> None:
    """Put signs where emphasis begins and ends, in place of its elements."""
    for element in list(body.iter_elements(tuple(_NAMES))):
        sign = _NAMES[element.tag]
        holds_box = any(isinstance(part, Element) and KINDS[part.tag] == BLOCK for part in element.descendants)
        if not holds_box and element.text.strip() and element.closest(_UNMARKED) is None:
            element.insert(0, Text(sign))
            element.append(Text(_PAIRS[sign]))
        element.unwrap()


def write_emphasis(text: str) -> str:
    """Markdown with asterisks for the signs."""
    if STRONG not in text and LIGHT not in text:
        return text
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
            if start is not None and _may_stand(behind[place], before[place]):
                stars[start] = stars[place] = _STARS[_STARTS[sign]]
    return stars


def _may_stand(outside: str, inside: str) -> bool:
    """Whether asterisks between two characters begin or end emphasis."""
    if not inside or inside.isspace():
        return False
    if inside.isalnum():
        return True
    return not outside or outside.isspace() or unicodedata.category(outside).startswith("P")
