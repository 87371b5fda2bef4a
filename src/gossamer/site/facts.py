"""What a sample of a site's pages says about all of them.

A line is *furniture* if at least 5 % of the pages, and three of them, have it in the same place. A place is furniture
if most lines in it are: the list of new posts beside the article changes, but its lines come and go together.

The share of 5 % was measured on whole sites: menus and sidebars are far above it, sentences of articles far below.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import msgspec
import numpy as np

from gossamer.site.sketch import Marks, Sketch, lines_of, places_of

FEWEST = 8
"""Pages from which something can be said about their site."""
_SHARE = 0.05
_LEAST = 3
_SURE_SHARE = 0.2
"""Share of the pages from which a line is furniture even between own lines."""
_PLACE_SHARE = 0.6
"""Share of the lines in a place that are furniture, from which the place is."""
_NAME_SHARE = 0.2
"""Share of pages whose titles have a part in common, from which it is the site's part. Sections share one, too; a
series of articles is rarely a fifth of a site."""
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

    def __bool__(self) -> bool:
        return self.pages >= FEWEST


def learn(sample: Sequence[Sketch]) -> Facts:
    """The facts about a site that a sample of its documents shows."""
    pages = len(sample)
    if pages < FEWEST:
        return Facts(pages)
    lines = np.concatenate([lines_of(sketch) for sketch in sample])
    least = max(_LEAST, math.ceil(_SHARE * pages))
    marks, counts = np.unique(lines, return_counts=True)
    often = counts >= least
    repeated, times = marks[often], counts[often]
    if len(repeated) > MOST_LINES:
        repeated = np.sort(repeated[(-times).argsort(kind="stable")[:MOST_LINES]])
    names = Counter(name for sketch in sample for name in sketch.names)
    shared = [name for name, count in names.most_common(_MOST_NAMES) if count >= max(_LEAST, _NAME_SHARE * pages)]
    return Facts(
        pages, _packed(repeated), _packed(_furniture_places(sample, lines, repeated, least)),
        _packed(marks[counts >= max(_LEAST, _SURE_SHARE * pages)][:MOST_LINES]), tuple(sorted(shared)),
        _counted([sketch.language for sketch in sample]), _counted([sketch.page_type for sketch in sample]),
    )  # fmt: skip


def _furniture_places(sample: Sequence[Sketch], lines: Marks, repeated: Marks, least: int) -> Marks:
    """Places on enough pages whose lines mostly repeat."""
    on_pages, pages = np.unique(
        np.concatenate([np.unique(places_of(lines_of(sketch))) for sketch in sample]), return_counts=True
    )
    number = np.searchsorted(on_pages, places_of(lines))
    all_lines = np.bincount(number, minlength=len(on_pages))
    furniture = np.bincount(number[np.isin(lines, repeated)], minlength=len(on_pages))
    found: Marks = on_pages[(pages >= least) & (furniture >= _PLACE_SHARE * all_lines)]
    return found[:_MOST_PLACES]


def _counted(values: Sequence[str]) -> dict[str, int]:
    return dict(sorted(Counter(value for value in values if value).items()))


def _packed(marks: Marks) -> bytes:
    return marks.astype("<u8").tobytes()


def unpacked(data: bytes) -> Marks:
    """Marks or places of facts."""
    return np.frombuffer(data, "<u8").astype(np.uint64, copy=False)


def difference(old: Facts, new: Facts) -> float:
    """How much of the furniture, 0…1, is not the same: whether pages must be judged again."""
    if bool(old) != bool(new):
        return 1.0
    if old.names != new.names:
        return 1.0
    one, other = set(unpacked(old.lines).tolist()), set(unpacked(new.lines).tolist())
    return len(one ^ other) / max(len(one | other), 1)
