"""A page seen by somebody who knows its site: which of its blocks are furniture, and what the page adds to that.

A block that repeats is not always furniture: "Parameters" is a heading of every page of a manual, and a page of
documentation may share a warning with ten others. So a repeated block stays where it is part of the page's own text:
one or two of them between own blocks, unless a fifth of all pages have it, and a heading right above one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gossamer.site.facts import Facts, unpacked
from gossamer.site.sketch import Marks, Seen, Sketch, marks_of, places_of, sketch_of

Booleans = npt.NDArray[np.bool_]

_SINGLE = 2
"""Repeated blocks in a row that may stand between own ones."""


class KnownSite:
    """The facts about a site, ready for its pages."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.names = frozenset(facts.names)
        self._lines, self._places, self._sure = (unpacked(one) for one in (facts.lines, facts.places, facts.sure))

    def is_furniture(self, marks: Marks) -> tuple[Booleans, Booleans, Booleans]:
        """For each block whether its line repeats there, whether its place is furniture, and whether its line repeats
        on very many pages."""
        return _among(marks, self._lines), _among(places_of(marks), self._places), _among(marks, self._sure)


class PageView:
    """One page of a site: judges its blocks, and remembers what they show."""

    def __init__(self, site: KnownSite | None = None) -> None:
        self.site = site
        self._marks: Marks = np.empty(0, np.uint64)
        self._names: Sequence[str] = ()
        self.has_cut = False
        """Whether likely text was left out."""

    @property
    def site_names(self) -> frozenset[str]:
        """What the titles of many pages of the site share."""
        return self.site.names if self.site is not None else frozenset()

    @property
    def languages(self) -> dict[str, int]:
        """How many of the sampled pages are in each language."""
        return self.site.facts.languages if self.site is not None else {}

    def name(self, names: Sequence[str]) -> None:
        """What the page calls itself, as letters only."""
        self._names = names

    def furniture(
        self, texts: Sequence[str], looks: Marks, headings: Booleans, short: Booleans, likely: Booleans,
        certain: Booleans,
    ) -> Booleans | None:  # fmt: skip
        """Which blocks are furniture; None if nothing is known, or no likely block would be left.

        `headings`: which blocks are headings; `short`: which are labels or links rather than sentences; `likely` and
        `certain`: which are main text if one knows only the page. Instructions that every tenth article ends with are
        text to whoever reads the page: blocks that look certain go only if a fifth of all pages have them."""
        self._marks = marks_of(texts, looks)
        if self.site is None or not self.site.facts:
            return None
        lines, places, sure = self.site.is_furniture(self._marks)
        candidates = sure | ((lines | (places & short & ~headings)) & ~certain)
        found = candidates & ~(_between_own(candidates, likely & ~candidates, headings) & (headings | ~sure))
        if not found.any() or not (likely & ~found).any():
            return None
        self.has_cut = bool((found & likely).any())
        return found

    def sketch(self, seen: Seen) -> Sketch | None:
        """What the page shows of its site; None if it has no blocks."""
        return sketch_of(self._marks, self._names, seen) if len(self._marks) else None


def _among(values: Marks, known: Marks) -> Booleans:
    """Which values are in a sorted array."""
    if not len(known):
        return np.zeros(len(values), bool)
    at = np.minimum(np.searchsorted(known, values), len(known) - 1)
    found: Booleans = known[at] == values
    return found


def _between_own(candidates: Booleans, own: Booleans, headings: Booleans) -> Booleans:
    """Candidates that are part of the page's own text: few in a row between own blocks, or a heading above one."""
    stays = np.zeros(len(candidates), bool)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], candidates, [False]]).astype(np.int8)))
    for start, end in edges.reshape(-1, 2).tolist():
        if end == len(own) or not own[end]:
            continue
        if end - start <= _SINGLE and start > 0 and own[start - 1]:
            stays[start:end] = True
        elif headings[end - 1]:
            stays[end - 1] = True
    return stays
