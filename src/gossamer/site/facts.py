"""What a sample of a site's pages says about all of them.

A line is *furniture* if at least 5 % of the pages, and three of them, have it in the same place. A place is furniture
if most lines in it are: the list of new posts beside the article changes, but its lines come and go together. In a
place of own lines, where hardly anything repeats, a line must be on a fifth of the pages: instructions that every
twentieth article ends with are text, and readers look for them.

A place shows *teasers* of other pages if on most pages with it the blocks there begin with a link to another page of
the site, while another place has a text. What they say differs from page to page, so that no line repeats.

The share of 5 % was measured on whole sites: menus and sidebars are far above it, sentences of articles far below.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from gossamer.site.sketch import Marks, Sketch, lines_of, packed, places_of, unpacked
from gossamer.site.templates import Template, learn_templates

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

FEWEST = 8
"""Pages from which something can be said about their site."""
_SHARE = 0.05
_LEAST = 3
_SURE_SHARE = 0.2
"""Share of the pages from which a line is furniture even between own lines."""
_PLACE_SHARE = 0.6
"""Share of the lines in a place that are furniture, from which the place is."""
_OWN_PLACE_SHARE = 0.25
"""Share of the lines in a place that repeat, up to which it is a place of own lines."""
_TEASER_SHARE = 0.5
"""Share of the pages with a place that show teasers there, from which it is a place of teasers."""
_NAME_SHARE, _OLD_NAME_SHARE = 0.2, 0.1
"""Share of pages whose titles have a part in common, from which it is the site's part; a known one stays until half of
that. Sections share one, too; a series of articles is rarely a fifth of a site."""
MOST_LINES = 4_000
"""Lines that facts hold: those on the most pages."""
_MOST_PLACES = 1_000
_MOST_NAMES = 50


class Facts(msgspec.Struct, frozen=True, array_like=True):
    """What is known of a site."""

    pages: int = 0
    """Documents of the sample."""
    lines: bytes = b""
    """Marks of lines that are furniture, sorted: 64-bit integers, little-endian."""
    places: bytes = b""
    """Places that are furniture, likewise."""
    sure: bytes = b""
    """Marks of those lines that very many pages have."""
    names: tuple[str, ...] = ()
    """What the titles or first headings of many pages share, as letters only."""
    languages: dict[str, int] = {}
    """Language → pages of the sample."""
    page_types: dict[str, int] = {}
    """Page type → pages of the sample."""
    templates: tuple[Template, ...] = ()
    """How the URLs of its documents and lists look."""
    teasers: bytes = b""
    """Places that show teasers of other pages."""

    def __bool__(self) -> bool:
        return self.pages >= FEWEST

    @property
    def tells(self) -> tuple[bytes, bytes, bytes, tuple[str, ...], bytes]:
        """What pages are judged by."""
        return self.lines, self.places, self.sure, self.names, self.teasers

    def telling_as(self, known: Facts) -> Facts:
        """The same facts, but pages are judged as by those known before."""
        lines, places, sure, names, teasers = known.tells
        return msgspec.structs.replace(self, lines=lines, places=places, sure=sure, names=names, teasers=teasers)


def learn(sample: Sequence[Sketch], known: Facts | None = None) -> Facts:
    """The facts about a site that a sample of its documents shows; `known`: the facts so far."""
    pages = len(sample)
    if pages < FEWEST:
        return Facts(pages)
    lines = np.concatenate([lines_of(sketch) for sketch in sample])
    least = max(_LEAST, math.ceil(_SHARE * pages))
    marks, counts = np.unique(lines, return_counts=True)
    sure = counts >= max(_LEAST, _SURE_SHARE * pages)
    places, on_pages, share = _places(sample, lines, marks[counts >= least])
    own = share[np.searchsorted(places, places_of(marks))] < _OWN_PLACE_SHARE
    often = (counts >= least) & (sure | ~own)
    repeated, times = marks[often], counts[often]
    if len(repeated) > MOST_LINES:
        repeated = np.sort(repeated[(-times).argsort(kind="stable")[:MOST_LINES]])
    furniture = places[(on_pages >= least) & (share >= _PLACE_SHARE)][:_MOST_PLACES]
    return Facts(
        pages, packed(repeated), packed(furniture), packed(marks[sure][:MOST_LINES]),
        _shared_names(sample, known.names if known is not None else ()),
        _counted([sketch.language for sketch in sample]), _counted([sketch.page_type for sketch in sample]),
        learn_templates(sample), packed(_teasers(sample, places, on_pages, least)),
    )  # fmt: skip


def _places(sample: Sequence[Sketch], lines: Marks, repeated: Marks) -> tuple[Marks, Integers, Floats]:
    """All places; on how many pages each is, and the share of the lines in it that repeat."""
    places, on_pages = np.unique(
        np.concatenate([np.unique(places_of(lines_of(sketch))) for sketch in sample]), return_counts=True
    )
    number = np.searchsorted(places, places_of(lines))
    all_lines = np.bincount(number, minlength=len(places))
    furniture = np.bincount(number[np.isin(lines, repeated)], minlength=len(places))
    return places, on_pages, furniture / all_lines


def _teasers(sample: Sequence[Sketch], places: Marks, on_pages: Integers, least: int) -> Marks:
    """Places that show teasers on most of the pages that have them."""
    found, times = np.unique(np.concatenate([unpacked(sketch.teasers) for sketch in sample]), return_counts=True)
    at = np.minimum(np.searchsorted(places, found), len(places) - 1)
    pages = np.where(places[at] == found, on_pages[at], times)  # a sketch may have left out the lines of a place
    return found[times >= np.maximum(least, _TEASER_SHARE * pages)][:_MOST_PLACES]


def _shared_names(sample: Sequence[Sketch], known: Collection[str]) -> tuple[str, ...]:
    names = Counter(name for sketch in sample for name in sketch.names).most_common(_MOST_NAMES)
    least = {True: _OLD_NAME_SHARE * len(sample), False: _NAME_SHARE * len(sample)}
    return tuple(sorted(name for name, count in names if count >= max(_LEAST, least[name in known])))


def _counted(values: Sequence[str]) -> dict[str, int]:
    return dict(sorted(Counter(value for value in values if value).items()))


def difference(old: Facts, new: Facts, sample: Sequence[Sketch]) -> float:
    """The share of the furniture on the sampled pages, 0…1, that is not furniture by both: whether pages must be judged
    again. 1 if titles have to be."""
    if bool(old) != bool(new) or old.names != new.names:
        return 1.0
    lines = np.concatenate([lines_of(sketch) for sketch in sample]) if sample else unpacked(b"")
    one, other = (
        np.isin(lines, unpacked(facts.lines)) | np.isin(places_of(lines), unpacked(facts.teasers))
        for facts in (old, new)
    )
    return int(np.count_nonzero(one ^ other)) / max(int(np.count_nonzero(one | other)), 1)
