"""What one page shows of its site, in about a kilobyte.

A line of a page is marked by what it says and by where it stands: 32 bits of a hash of its words, and 32 bits of the
names and classes of the elements around it. The same sentence in a sidebar and in an article has two marks, so that a
teaser which many lists repeat does not take the sentence away from its own page. Digits count: "Price: 12" and "Price:
15" are two lines, although that leaves counters of visitors in the text.

A site is known by a *sample*: the sketches of the documents with the smallest ranks. A page's rank comes from its URL
alone, so the sample is the same whatever order the pages came in, and however many workers fetched them.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from gossamer.site.patterns import path_and_query

Marks = npt.NDArray[np.uint64]
NO_MARKS: Marks = np.empty(0, np.uint64)

SAMPLE = 128
"""Documents of a site that its facts are learned from: a line of 5 % of all pages is on six of them, give or take."""
MOST_LINES = 300
"""Marks of a page that its sketch keeps: those with the smallest numbers, so that pages agree on which to leave out."""
MOST_NAMES = 12
MOST_TEASERS = 50
_NAME_CHARS = 120
_PATH_CHARS = 300
_PLACE = np.uint64(0xFFFF_FFFF)
_HALF = np.uint64(32)


class Sketch(msgspec.Struct, frozen=True, array_like=True):
    """What a page shows of its site."""

    lines: bytes
    """Its marks, sorted, each once: 64-bit integers, little-endian."""
    names: tuple[str, ...] = ()
    """What the page calls itself, whole and in parts (`parse.title`), as letters only."""
    language: str = ""
    page_type: str = ""
    path: str = ""
    """Path and query of its URL, cut."""
    title: int = 0
    """A hash of its title."""
    chars: int = 0
    """Length of its main text."""
    teasers: bytes = b""
    """Places that show teasers of other pages here beside a text of its own: 64-bit integers, sorted."""


def marks_of(texts: Sequence[str], looks: Marks) -> Marks:
    """The mark of each block of a page; `looks`: a number for the elements around each block."""
    said = "\0".join(texts).encode("utf-8", "replace")
    lines = list(map(zlib.crc32, said.split(b"\0")))
    places: Marks = (looks ^ (looks >> _HALF)) & _PLACE
    return (np.array(lines, np.uint64) << _HALF) | places


def places_of(marks: Marks) -> Marks:
    """Where each marked line stands."""
    places: Marks = marks & _PLACE
    return places


class Seen(msgspec.Struct, frozen=True):
    """What a page turned out to be."""

    url: str
    title: str = ""
    language: str = ""
    page_type: str = ""
    chars: int = 0
    """Length of its main text."""


def sketch_of(marks: Marks, names: Sequence[str], seen: Seen, teasers: Marks = NO_MARKS) -> Sketch:
    """The sketch of a page, bounded; `teasers`: places of teasers on it."""
    lines = packed(np.unique(marks)[:MOST_LINES])
    kept = dict.fromkeys(name[:_NAME_CHARS] for name in names if name)
    return Sketch(
        lines, tuple(kept)[:MOST_NAMES], seen.language, seen.page_type, path_and_query(seen.url)[:_PATH_CHARS],
        zlib.crc32(seen.title.encode("utf-8", "replace")), seen.chars, packed(np.unique(teasers)[:MOST_TEASERS]),
    )  # fmt: skip


def lines_of(sketch: Sketch) -> Marks:
    """The marks in a sketch."""
    return unpacked(sketch.lines)


def packed(marks: Marks) -> bytes:
    """Marks or places as they are stored."""
    return marks.astype("<u8").tobytes()


def unpacked(data: bytes) -> Marks:
    """Marks or places from the store."""
    return np.frombuffer(data, "<u8").astype(np.uint64, copy=False)
