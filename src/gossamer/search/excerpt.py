"""The part of a page that answers the query, for the list of results.

How one is made:

1. Find the needles in the stored text (`matching`), some hundreds of places at most.
2. Slide a window over the places, not over the text. The best window holds the greatest weight of
   *different* needles, then the most places, then it is the earliest. Where one window misses
   needles, two of half the length are taken if they hold more together.
3. Let each window begin and end at a sentence where one is near, else at a word; in writing without
   spaces at any character, but never inside one that a reader sees as one (accents, emoji): `fragment`.
4. Collapse white space, join with " … ", put "…" where a sentence is cut, and mark what is found.

Length is measured in characters; a character of East Asian writing is as wide as two and counts as
two. How wide the text is, is judged around the first place found: all Chinese gives half the
characters, a mixed text something between.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from gossamer.compiled import twin
from gossamer.search.fragment import Fragment, fragment
from gossamer.search.matching import LAYOUT, Matcher, Needle, Phrase, Place, matchers, places, ranges
from gossamer.search.results import Marked

__all__ = ["MAX_SCAN", "Highlighter", "Needle", "Phrase"]

MAX_SCAN = 200_000
"""Characters of a text that are searched."""
_SCANS = (800, 12_000, MAX_SCAN)
"""Characters that are searched first; more only where they do not hold the rarest needle."""
_WORK = 80_000_000
"""Characters times needles that the last of these may cost for all texts together, less than half a second; when they
are spent, it is left out."""
_FOLDING = 16
"""Needles whose search takes as long as to make a text comparable."""
_TELLING = 0.15
"""Weight below which a needle is marked where it stands, but does not decide what is shown: `the`, `и`."""

_FORM = 800
_EXACT = 200
"""Worth of some form of the word, and what is added where it is the very word."""
_MIN_LENGTH = 20
_MIN_HALF = 40
"""Characters below which a fragment says nothing: then one window must do."""
_AROUND = 5
"""A fifth of a fragment is kept for what stands around the matches, so that they can be understood."""
_NEAR = 5
"""Characters between two fragments below which they are one."""
_SAMPLE = 200
_WIDE = re.compile(
    "[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\U0001f300-\U0001faff"
    "\U00020000-\U0003ffff]+"
)
"""Characters of double width."""
_LOOSE_START = " \t\r\n,;:.!?)]}»”’、，。；：！？）】》」』·|/-–—"
_LOOSE_END = " \t\r\n,;:([{«“‘、，；：（【《「『·|/-–—"
"""What makes no sense beside a cut."""

_COMPILED = twin("excerpts", LAYOUT)


class _Window(NamedTuple):
    """Places that fit into the length, from the start of the first to the end of the last."""

    worth: int
    start: int
    end: int
    held: frozenset[int]
    """The matchers that found them."""


class Highlighter:
    """Finds the needles of one query in the texts of one request; what is learned of one word serves all of them."""

    def __init__(self, needles: Sequence[Needle | Phrase]) -> None:
        self._sought = matchers(needles)
        telling = [one for one in self._sought if one.worth >= _TELLING]
        self._deciding = telling or self._sought
        self._work = _WORK
        self._rarest = max(range(len(self._deciding)), key=lambda n: self._deciding[n].worth, default=0)

    def mark(self, text: str) -> Marked:
        """A short text, such as a title, with every match marked."""
        return Marked(text, ranges(text, self._sought))

    def excerpt(self, text: str, length: int = 240) -> Marked:
        """The part of a text that shows the most of what is sought; its beginning where nothing is found."""
        text = text[:MAX_SCAN]
        places: list[Place] = []
        for reach in _SCANS:
            if reach == MAX_SCAN and not self._pay(text):
                break
            places = self._places(text[:reach])
            if len(text) <= reach or any(place[2] == self._rarest for place in places):
                break
        budget = _budget(text, places[0][0] if places else 0, max(length, _MIN_LENGTH))
        windows = _windows(places, self._deciding, budget) if places else [(0, 0)]
        each = budget if len(windows) == 1 else budget // 2
        return _joined([fragment(text, start, end, each) for start, end in windows], text, self._sought)

    def _pay(self, text: str) -> bool:
        """Whether a whole text may be searched."""
        cost = len(text) * (len(self._deciding) + _FOLDING)
        if cost > self._work:
            return False
        self._work -= cost
        return True

    def _places(self, text: str) -> list[Place]:
        return places(text, self._deciding)


def _budget(text: str, near: int, length: int) -> int:
    """How many characters are as wide as `length` narrow ones."""
    if text.isascii():
        return length
    sample = text[max(0, near - _SAMPLE // 2) : near + _SAMPLE // 2]
    wide = sum(map(len, _WIDE.findall(sample)))
    return length - length * wide // (2 * max(1, len(sample)))


def _windows(places: list[Place], sought: Sequence[Matcher], budget: int) -> list[tuple[int, int]]:
    """One or two parts of the text to show, in order."""
    worth = [max(1, round(matcher.worth * _FORM)) for matcher in sought]
    bonus = [round(matcher.worth * _EXACT) for matcher in sought]
    one = _best(places, worth, bonus, budget - budget // _AROUND)
    chosen = [one]
    if budget >= 2 * _MIN_HALF and not all(place[2] in one.held for place in places):
        half = budget // 2 - budget // 2 // _AROUND
        first = _best(places, worth, bonus, half)
        rest = [place for place in places if place[2] not in first.held]
        # A half can hold forms of all needles, where the whole took fewer of them in their exact spelling.
        second = _best(rest, worth, bonus, half) if rest else None
        if second and first.worth + second.worth > one.worth:
            chosen = sorted((first, second), key=lambda window: window.start)
    return [(window.start, window.end) for window in chosen]


def _best(places: list[Place], worth: list[int], bonus: list[int], budget: int) -> _Window:
    """The best window: each place enters it once and leaves it once."""
    if _COMPILED is not None:
        most, first, last = _COMPILED.best_window(places, worth, bonus, budget)
        return _window(most, places[first : last + 1])
    held, exactly = [0] * len(worth), [0] * len(worth)
    enough = 2 * len(worth)
    best = best_count = -1
    best_left = best_right = left = total = 0
    for right, (_, end, matcher, exact) in enumerate(places):
        if not held[matcher]:
            total += worth[matcher]
        held[matcher] += 1
        if exact:
            if not exactly[matcher]:
                total += bonus[matcher]
            exactly[matcher] += 1
        while left < right and end - places[left][0] > budget:
            _, _, gone, was_exact = places[left]
            left += 1
            held[gone] -= 1
            if not held[gone]:
                total -= worth[gone]
            if was_exact:
                exactly[gone] -= 1
                if not exactly[gone]:
                    total -= bonus[gone]
        if total > best or (total == best and best_count < right - left and best_count < enough):
            best, best_count, best_left, best_right = total, right - left, left, right
    return _window(best, places[best_left : best_right + 1])


def _window(worth: int, chosen: list[Place]) -> _Window:
    return _Window(worth, chosen[0][0], chosen[-1][1], frozenset(place[2] for place in chosen))


def _joined(fragments: list[Fragment], text: str, sought: Sequence[Matcher]) -> Marked:
    """The fragments as one text with its marks."""
    if len(fragments) == 2 and fragments[1].start - fragments[0].end < _NEAR:
        first = fragments[0]
        last = max(fragments, key=lambda one: one.end)
        fragments = [Fragment(first.start, last.end, first.opens, last.closes)]
    shown = "" if fragments[0].opens else "… "
    marks: list[tuple[int, int]] = []
    for n, one in enumerate(fragments):
        if n:
            shown += " … "
        part = _clean(text, one)
        marks += [(start + len(shown), end + len(shown)) for start, end in ranges(part, sought)]
        shown += part
    return Marked(shown if fragments[-1].closes else f"{shown} …", tuple(marks))


def _clean(text: str, shown: Fragment) -> str:
    part = text[shown.start : shown.end]
    if not shown.opens:
        part = part.lstrip(_LOOSE_START) or part
    if not shown.closes:
        part = part.rstrip(_LOOSE_END) or part
    return " ".join(part.split())
