"""From where to where a text is cut around what was found in it.

A fragment begins and ends at a sentence where one is near, else between two words, in writing without spaces
between any two characters; inside a word only where a word is endless (a long address, binary waste), and never
inside what a reader sees as one character: letters with their marks, emoji, flags, syllables.
"""

from __future__ import annotations

from typing import NamedTuple
from unicodedata import category

from gossamer.index.analysis import is_spaceless
from gossamer.search.matching import continues

_LONGEST_WORD = 40
"""Characters looked at for a gap between words before a word is cut."""
_STOPS = ("\n", ". ", "! ", "? ", "… ", "。", "！", "？", "؟ ", "। ")
_ASCII_STOPS = _STOPS[:4]
"""What ends a sentence."""


class Fragment(NamedTuple):
    """A part of the text, and whether it begins and ends with a sentence."""

    start: int
    end: int
    opens: bool
    closes: bool


def fragment(text: str, start: int, end: int, budget: int) -> Fragment:
    """What to show of a text so that the matches from `start` to `end` are in it."""
    begin, opens = _begin(text, start, max(0, budget - (end - start)), budget)
    finish, closes = _finish(text, begin, min(end, begin + budget), budget)
    return Fragment(begin, finish, opens, closes)


def _begin(text: str, start: int, slack: int, budget: int) -> tuple[int, bool]:
    """Where a fragment begins, and whether a sentence does: before the matches, with room left behind them."""
    earliest = max(0, start - slack * 3 // 4)
    latest_full = len(text) - budget  # what begins later is shorter than it could be
    if latest_full <= 0:
        return 0, True
    if earliest > latest_full:
        earliest = latest_full
        at = _first_stop(text, earliest, start)
    else:
        at = _last_stop(text, max(0, earliest - 1), start)
    if at is None:
        if not earliest:
            return 0, True
        return _gap_after(text, max(earliest, start - slack // 3), start), False
    return at, True


def _finish(text: str, begin: int, end: int, budget: int) -> tuple[int, bool]:
    """Where a fragment ends, and whether a sentence does."""
    limit = begin + budget
    if limit >= len(text):
        return len(text), True
    at = _last_stop(text, max(end, begin + budget * 2 // 3), limit + 1)
    if at is not None:
        return at, True
    return _gap_before(text, limit, end), False


def _last_stop(text: str, start: int, end: int) -> int | None:
    stops = _ASCII_STOPS if text.isascii() else _STOPS
    return max([at + len(stop) for stop in stops if (at := text.rfind(stop, start, end)) >= 0], default=None)


def _first_stop(text: str, start: int, end: int) -> int | None:
    stops = _ASCII_STOPS if text.isascii() else _STOPS
    return min([at + len(stop) for stop in stops if (at := text.find(stop, start, end)) >= 0], default=None)


def _gap_after(text: str, at: int, latest: int) -> int:
    """The first place from here on where a word may begin, `latest` being one."""
    for place in range(at, min(latest, at + _LONGEST_WORD)):
        if _is_gap(text, place):
            return place
    return latest if latest - at <= _LONGEST_WORD else _after_character(text, at, latest)


def _gap_before(text: str, at: int, earliest: int) -> int:
    """The last place up to here where a word may end, `earliest` being one."""
    for place in range(at, max(earliest, at - _LONGEST_WORD), -1):
        if _is_gap(text, place):
            return place
    return earliest if 0 < at - earliest <= _LONGEST_WORD else _before_character(text, at)


def _is_gap(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if before < "\u0300" and after < "\u0300":
        return before.isspace() or after.isspace()
    if before.isspace() or after.isspace():
        return True
    return (is_spaceless(before) or is_spaceless(after)) and not _inside_character(text, at)


def _after_character(text: str, at: int, latest: int) -> int:
    while at < latest and _inside_character(text, at):
        at += 1
    return at


def _before_character(text: str, at: int) -> int:
    """Back to the start of the character; a tower of hundreds of marks is cut all the same."""
    for place in range(at, max(0, at - _LONGEST_WORD), -1):
        if not _inside_character(text, place):
            return place
    return at


def _inside_character(text: str, at: int) -> bool:
    """Whether a cut here would separate what a reader sees as one character."""
    char, before = text[at], text[at - 1]
    if char < "\u0300":
        return False
    return (
        continues(char)
        or before == "\u200d"
        or "\U0001f3fb" <= char <= "\U0001f3ff"  # skin colours
        or "\U0001f1e6" <= char <= "\U0001f1ff"  # halves of flags
        or "\udc00" <= char <= "\udfff"
        or "\u1160" <= char <= "\u11ff"  # parts of Korean syllables
        or category(char) == "Cf"
    )
