"""Which blocks of a page are no text of it, by what is known of its site; kept with the page, to be asked again.

Only *plausible* blocks are judged: those that the page alone leaves some chance of being text, about thirty of
hundreds. Their marks and what was seen in them are stored beside the page, eleven bytes each. When more is known of the
site, that tells whether the page would be judged otherwise, without parsing it.

A block that repeats is not always furniture: "Parameters" is a heading of every page of a manual, and a page of
documentation may share a warning with ten others. So a repeated block stays where it is part of the page's own text:
one or two of them between own blocks, unless a fifth of all pages have it, and a heading right above one. Teasers go
unless the page has next to no other text: then it is a list, and they are what it has to say.
"""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from gossamer.site.facts import Facts
from gossamer.site.sketch import Marks, packed, places_of, unpacked

Booleans = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]

PLAUSIBLE = 0.1
"""Probability of being text from which a block is judged: .1 is as good as none, at .2 lines of sidebars come back."""
_SINGLE = 2
"""Repeated blocks in a row that may stand between own ones."""
_TEXT_WORDS, _TEXT_SHARE = 15, 0.1
"""Words of a page's own text at least, and their share of all that is likely text. Below that the page is a list, or
has no other text."""
MOST_WORDS = 2**16 - 1
"""Words of a block that count."""
_FLAGS = 4


class Blocks(msgspec.Struct, frozen=True):
    """The plausible blocks of a page as whoever knows only the page sees them; arrays with an entry for each."""

    marks: Marks
    words: Integers
    headings: Booleans
    short: Booleans
    """Labels or links rather than sentences."""
    likely: Booleans
    """Main text."""
    certain: Booleans
    """Main text beyond doubt: instructions that every tenth article ends with. They go only if a fifth of all pages
    have them."""


class Judgement(msgspec.Struct, frozen=True, array_like=True):
    """The plausible blocks of a page, and which of them were taken for furniture, as they are stored."""

    marks: bytes = b""
    words: bytes = b""
    flags: bytes = b""
    furniture: bytes = b""
    called: tuple[str, ...] = ()
    """What the page calls itself (`parse.title`)."""
    fields: int = 0
    """Tells which fields of the operator's own were taken out of it (`parse.fields.config.stamp`)."""

    def is_still_right(self, site: KnownSite) -> bool:
        """Whether the same blocks are furniture by what is known now."""
        return np.packbits(site.furniture(_blocks(self))).tobytes() == self.furniture


NOTHING = Judgement()


def judgement(blocks: Blocks, furniture: Booleans) -> Judgement:
    """What was decided about some blocks."""
    flags = np.packbits([blocks.headings, blocks.short, blocks.likely, blocks.certain])
    words = blocks.words.astype("<u2").tobytes()
    return Judgement(packed(blocks.marks), words, flags.tobytes(), np.packbits(furniture).tobytes())


def _blocks(stored: Judgement) -> Blocks:
    count = len(stored.words) // 2
    bits = np.unpackbits(np.frombuffer(stored.flags, np.uint8), count=_FLAGS * count).astype(bool)
    headings, short, likely, certain = bits.reshape(_FLAGS, count)
    words = np.frombuffer(stored.words, "<u2").astype(np.int64)
    return Blocks(unpacked(stored.marks), words, headings, short, likely, certain)


class KnownSite:
    """The facts about a site, ready for its pages."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.names = frozenset(facts.names)
        self._lines, self._places, self._sure = (unpacked(one) for one in (facts.lines, facts.places, facts.sure))
        self._teasers = unpacked(facts.teasers)

    def furniture(self, blocks: Blocks) -> Booleans:
        """Which blocks are no text of the page: none if nothing is known, or if no likely block would be left."""
        nothing = np.zeros(len(blocks.words), bool)
        if not self.facts:
            return nothing
        places = places_of(blocks.marks)
        sure, repeated = _among(blocks.marks, self._sure), _among(blocks.marks, self._lines)
        labels = _among(places, self._places) & blocks.short & ~blocks.headings
        candidates = sure | ((repeated | labels) & ~blocks.certain)
        own = blocks.likely & ~candidates
        found = candidates & ~(_between_own(candidates, own, blocks.headings) & (blocks.headings | ~sure))
        teasers = _among(places, self._teasers)
        if has_text(blocks.words * (blocks.likely & ~found), teasers):
            found |= teasers
        return found if (blocks.likely & ~found).any() else nothing


def has_text(words: Integers, teasers: Booleans) -> bool:
    """Whether a page has a text of its own beside its teasers; without one it is a list of them. `words`: of each
    block, if it is likely text."""
    return bool((words * ~teasers).sum() >= max(_TEXT_WORDS, _TEXT_SHARE * words.sum()))


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
