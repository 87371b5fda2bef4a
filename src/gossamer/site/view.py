"""A page seen by somebody who knows its site: which of its blocks are furniture, and what the page adds to that."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from gossamer.site.judgement import MOST_WORDS, NOTHING, PLAUSIBLE, Blocks, Judgement, KnownSite, has_text, judgement
from gossamer.site.sketch import NO_MARKS, Marks, Seen, Sketch, marks_of, places_of, sketch_of

Booleans = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float32]

_LIKELY, _CERTAIN = 0.3, 0.8
_TEASERS = 0.6
"""Share of the blocks of a place that look like teasers, from which the place shows teasers on the page, if there are
two of them: a single one may be a sentence that is a link."""


class Shown(msgspec.Struct, frozen=True):
    """The blocks of a page; arrays with an entry for each."""

    texts: Sequence[str]
    looks: Marks
    """A number for the elements around each."""
    words: Floats
    headings: Booleans
    short: Booleans
    """Labels or links rather than sentences."""
    teasers: Booleans
    """Those that look like teasers of other pages."""
    probabilities: Floats
    """Of being main text, for whoever sees only the page."""


class PageView:
    """One page of a site: judges its blocks, and remembers what they show."""

    def __init__(self, site: KnownSite | None = None) -> None:
        self.site = site
        self._marks = self._teasers = NO_MARKS
        self._names: Sequence[str] = ()
        self._called: tuple[str, ...] = ()
        self._judged = NOTHING
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

    def name(self, names: Sequence[str], called: tuple[str, ...] = ()) -> None:
        """What the page calls itself: as letters only, and as it writes it."""
        self._names, self._called = names, called

    @property
    def judgement(self) -> Judgement:
        """What was decided, to be stored."""
        return msgspec.structs.replace(self._judged, called=self._called)

    def furniture(self, shown: Shown) -> Booleans:
        """Which blocks are no text of the page."""
        self._marks = marks_of(shown.texts, shown.looks)
        words = np.minimum(np.rint(shown.words), MOST_WORDS).astype(np.int64)
        likely = shown.probabilities > _LIKELY
        self._teasers = _places_of_teasers(self._marks, shown.teasers, words * likely)
        plausible = shown.probabilities > PLAUSIBLE
        blocks = Blocks(
            self._marks[plausible], words[plausible], shown.headings[plausible], shown.short[plausible],
            likely[plausible], shown.probabilities[plausible] > _CERTAIN,
        )  # fmt: skip
        found = np.zeros(len(words), bool)
        if self.site is not None:
            found[plausible] = self.site.furniture(blocks)
        self._judged = judgement(blocks, found[plausible])
        self.has_cut = bool((found & likely).any())
        return found

    def sketch(self, seen: Seen) -> Sketch | None:
        """What the page shows of its site; None if it has no blocks."""
        return sketch_of(self._marks, self._names, seen, self._teasers) if len(self._marks) else None


def _places_of_teasers(marks: Marks, teasers: Booleans, words: npt.NDArray[np.int64]) -> Marks:
    """The places that show teasers on a page with a text of its own."""
    if not teasers.any() or not has_text(words, teasers):
        return NO_MARKS
    places, number = np.unique(places_of(marks), return_inverse=True)
    shown = np.bincount(number, teasers)
    found: Marks = places[(shown > 1) & (shown >= _TEASERS * np.bincount(number))]
    return found
