"""What is counted about the blocks of a page before features are made of it.

Characters are counted by kind for all blocks together, in one array of code points: a loop
over characters in Python would cost more than the rest of the extraction.

Sizes are what a text says, not what it takes to write it: a Chinese character counts as the letters it stands
for, so that a limit means the same in every script.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.compiled import twin
from gossamer.parse.text.blocks import Page
from gossamer.parse.text.tags import LOW, NAME_NUMBERS, SCORE

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

LEVELS = 6
"""Elements around a block that are looked at, from the innermost."""
_SAMPLE = 600
"""Characters of a block that are counted by kind; the rest is taken to be like them."""
_LOWER, _UPPER, _DIGIT, _SPACE, _END, _COMMA, _OTHER = range(7)
_FIELD_BITS = 10
_FIELD = (1 << _FIELD_BITS) - 1
"""Holds a count up to `_SAMPLE`."""
_LARGE_PRIME = 2_654_435_761
_HEADLINE_WORDS, _HEADLINE_DENSITY = 4, 0.7
"""A block of so many words with so much of it linked is the headline of another page."""


class Measures:
    """Counts per block, and the arrays that place blocks in elements."""

    compiled: tuple[npt.NDArray[Any], ...] | None = None
    """The arrays as the compiled twin has them side by side; None where NumPy counted."""
    shape: Callable[..., Any] | None = None
    """What `page_type.page_shape` counts, by the compiled twin."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.texts = page.texts
        self.count = len(page.texts)
        self.index = np.arange(self.count)
        if _COMPILED is not None:
            self._take_compiled(_COMPILED.measure(page, _KIND_OF, _ONE_OF_KIND, _DENSE_OF, _WORTH, _LEVEL_OF))
        else:
            self._count()

    def _take_compiled(self, arrays: tuple[npt.NDArray[Any], ...]) -> None:
        self.compiled = arrays
        floats, self.around, self.look_groups, self.running_sums, said, marks, tree = arrays
        self.chars, self.linked, self.density, self.sampled, self.spaces = floats[:5]
        self.shown = floats[5:8]
        self.ends, self.commas, self.words, self.links, self.first_kind, self.last_kind = floats[8:14]
        self.heading_levels, self.running_words = floats[14:]
        self.holders = self.around[0]
        self.parents, self.first, self.end, self.twins = tree
        self.sums, self.depths, self.lows = said
        self.facts, self.looks = marks
        self.holder_names = self.page.tags.names[self.holders]
        self.total = max(float(self.running_sums[0, -1]), 1.0)
        self.shape = partial(_COMPILED.shape, arrays, self.texts, self.page.tags.names)

    def _count(self) -> None:
        page = self.page
        self.holders = np.array(page.holders)
        self.parents, self.first, self.end = np.array([page.parents, page.first, page.end])
        self.around = np.empty((LEVELS + 1, self.count), np.int64)
        """The elements around each block, from the innermost; the body is its own parent."""
        self.around[0] = self.holders
        for level in range(LEVELS):
            self.around[level + 1] = self.parents[self.around[level]]
        self._count_chars()
        self._follow_paths()
        self.holder_names = page.tags.names[self.holders]
        self.heading_levels = _LEVEL_OF[self.holder_names]
        """1 to 6 for headings, 0 for other blocks."""
        running = (self.words >= 12) & (self.density < 0.35) & (self.ends >= 1)
        self.running_words = np.where(running, self.words, np.float32(0))
        """Words of each block that reads like sentences, 0 for the others."""
        headlines = ((self.words >= _HEADLINE_WORDS) & (self.density > _HEADLINE_DENSITY)).astype(np.float32)
        self.running_sums = running_sums(
            [self.chars, self.linked, self.words, self.ends, headlines, self.running_words]
        )
        self.total = max(float(self.running_sums[0, -1]), 1.0)

    @cached_property
    def joined(self) -> str:
        """The sampled characters of all blocks."""
        return "".join([text[:_SAMPLE] for text in self.texts])

    def _count_chars(self) -> None:
        page = self.page
        sizes = np.array([len(text) for text in self.texts])
        self.chars = sizes.astype(np.float32)
        """Letters of a script like the Latin one that would say as much."""
        self.linked = np.minimum(np.array(page.linked, np.float32), self.chars)
        self.density = self.linked / np.maximum(self.chars, 1)
        sizes = np.minimum(sizes, _SAMPLE)
        self.sampled = sizes.astype(np.float32)
        joined = self.joined
        codes = np.frombuffer(joined.encode("utf-32-le", "replace"), np.uint32)
        if not joined.isascii():
            codes = np.minimum(codes, len(_KIND_OF) - 1)
        ends = np.add.accumulate(sizes)
        starts = ends - sizes
        self.first_kind = _KIND_OF[codes[starts]]
        self.last_kind = _KIND_OF[codes[ends - 1]]
        packed = np.add.reduceat(_ONE_OF_KIND[codes], starts)
        by_kind = ((packed >> _SHIFTS) & _FIELD).astype(np.float32)
        self.spaces, self.shown = by_kind[0], by_kind[1:4]
        """`shown`: capital letters, digits, and what is none of the kinds."""
        scale = self.chars / np.maximum(self.sampled, 1)
        self.ends, self.commas = by_kind[4:] * scale
        self.words = (self.spaces + 1) * scale
        if not joined.isascii() and _has_dense(codes):
            packed = np.add.reduceat(_ONE_OF_DENSE[codes], starts)
            one, two, three = ((packed >> _SHIFTS[: len(_WORTH)]) & _FIELD).astype(np.float32)
            letters, words = ([np.float32(of[part]) for of in _WORTH] for part in range(2))
            self.chars += (one * letters[0] + two * letters[1] + three * letters[2]) * scale
            self.words += (one * words[0] + two * words[1] + three * words[2]) * scale
            self.linked = self.density * self.chars
        self.links = np.array(page.links, np.float32)

    def _follow_paths(self) -> None:
        """What each element says together with all elements around it, in as many steps as the depth has bits.

        Each step doubles the number of elements a path has been followed through. The body,
        at the end of all paths, is its own parent, and counts for nothing on the way.
        """
        tags = self.page.tags
        sums = np.array([tags.scores[SCORE], np.ones(len(tags)), tags.scores[LOW]])
        sums[:2, 0] = 0
        facts = np.array([tags.bits, tags.looks]).view(np.uint64)
        facts[1, 0] = 0
        above, factor = self.parents, _LARGE_PRIME
        while np.count_nonzero(above):
            further = sums.take(above, axis=1)
            sums[:2] += further[:2]
            np.minimum(sums[2], further[2], out=sums[2])
            more = facts.take(above, axis=1)
            facts[0] |= more[0]
            facts[1] += more[1] * np.uint64(factor)
            above, factor = above[above], factor * factor % 2**64
        self.sums, self.depths, lows = sums
        self.sums += tags.scores[SCORE, 0]
        self.lows = np.minimum(lows, lows[0])
        self.facts = facts[0] | facts[0, 0]
        """Bits of each element and those around it."""
        self.looks = facts[1]
        """Equal for elements with equal names and classes up to the body."""

    @cached_property
    def look_groups(self) -> Integers:
        """A number for each block, equal for blocks in elements that look the same up to the body."""
        numbers: dict[int, int] = {}
        looks = self.looks[self.holders].tolist()
        return np.array([numbers.setdefault(look, len(numbers)) for look in looks])

    @cached_property
    def twins(self) -> Integers:
        """Elements of the same name and class under the same parent, itself included."""
        keys = self.page.tags.looks ^ (self.parents * _LARGE_PRIME)
        order = keys.argsort()
        ordered = keys[order]
        groups = np.zeros(len(keys), np.int64)
        np.add.accumulate(ordered[1:] != ordered[:-1], out=groups[1:])
        twins = np.empty_like(groups)
        twins[order] = np.bincount(groups)[groups]
        return twins


def total(values: Floats) -> float:
    """The sum, one after the other: NumPy's own has another order for each length."""
    return float(np.add.accumulate(values, dtype=np.float64)[-1])


def running_sums(rows: list[Floats]) -> npt.NDArray[np.float64]:
    """For each row its sums up to each block, beginning with 0."""
    running = np.zeros((len(rows), len(rows[0]) + 1))
    np.add.accumulate(np.array(rows, np.float64), axis=1, out=running[:, 1:])
    return running


def ranges(running: npt.NDArray[np.float64], first: Integers, end: Integers) -> Floats:
    """Sums of the rows that `running` was made of from first to end, for many ranges."""
    return (running.take(end, axis=1) - running.take(first, axis=1)).astype(np.float32)


def group_means(groups: Integers, values: Floats, weights: Floats | None = None) -> npt.NDArray[np.float64]:
    """For each block the sum of values of its group ÷ the sum of weights, or ÷ the number of blocks."""
    means = np.bincount(groups, values) / np.bincount(groups, weights)
    return means[groups]


_WORTH = ((0.0, 0.22), (2.6, 0.6), (1.2, 0.0))
"""How many letters, and how many words, a character of each kind of `_DENSE` stands for beside what is counted anyway:
of Thai, Lao, Burmese and Khmer, of Chinese and Japanese, of Korean."""
_DENSE = (
    (0x0E00, 0x0F00, 1),
    (0x1000, 0x10A0, 1),
    (0x1780, 0x1800, 1),
    (0x3040, 0xA000, 2),
    (0xAC00, 0xD7A4, 3),
    (0xF900, 0xFB00, 2),
)
"""Characters of scripts that write no spaces or more than a letter at a time, by kind. A word takes 4.5 Thai, Burmese
or Khmer letters, 1.7 characters of Chinese or Japanese, and 2.5 syllables and a space of Korean."""


def _has_dense(codes: npt.NDArray[np.uint32]) -> bool:
    """Whether some of the characters may be in `_DENSE`: most pages have none, and need not look each one up."""
    first, last = _DENSE[0][0], _DENSE[2][1]
    return bool(codes.max() >= _DENSE[3][0] or (codes - np.uint32(first) < last - first).any())


def _kinds() -> npt.NDArray[np.uint8]:
    table = np.full(0x10000, _OTHER, np.uint8)
    for code in range(0x3000):
        char = chr(code)
        if char.isspace():
            table[code] = _SPACE
        elif char.isdigit():
            table[code] = _DIGIT
        elif char.isupper():
            table[code] = _UPPER
        elif char.isalpha():
            table[code] = _LOWER
    for start, stop, _ in _DENSE:
        table[start:stop] = _LOWER
    for char in ".!?\u2026\u3002\uff01\uff1f\u061f\u0964":
        table[ord(char)] = _END
    table[0xD800:0xE000] = _END  # no characters: one is written as a question mark
    for char in ",;:\uff0c\u3001\uff1b\uff1a\u060c":
        table[ord(char)] = _COMMA
    return table


_KIND_OF = _kinds()
_ONE_OF_KIND = np.zeros(len(_KIND_OF), np.int64)
"""A character as a 1 in the field of its kind: the sum over a block has all counts side by side in one number."""
for _place, _kind in enumerate((_SPACE, _UPPER, _DIGIT, _OTHER, _END, _COMMA)):
    _ONE_OF_KIND[_kind == _KIND_OF] = 1 << (_place * _FIELD_BITS)
_DENSE_OF = np.zeros(len(_KIND_OF), np.uint8)
for _start, _stop, _dense in _DENSE:
    _DENSE_OF[_start:_stop] = _dense
_ONE_OF_DENSE = np.where(_DENSE_OF > 0, 1 << (np.maximum(_DENSE_OF, 1).astype(np.int64) - 1) * _FIELD_BITS, 0)
_SHIFTS = (np.arange(6) * _FIELD_BITS)[:, None]
_LEVEL_OF = np.zeros(len(NAME_NUMBERS) + 1, np.float32)
for _level in range(1, 7):
    _LEVEL_OF[NAME_NUMBERS[f"h{_level}"]] = _level
_FLOATS = (
    *(
        "chars",
        "linked",
        "density",
        "sampled",
        "spaces",
        "upper",
        "digits",
        "others",
        "ends",
        "commas",
        "words",
        "links",
    ),
    *("first kind", "last kind", "heading", "running"),
)
"""Rows of the first of `Measures.compiled`."""
_COMPILED = twin("measures", (LEVELS, _SAMPLE, _FIELD_BITS, len(_WORTH), _FLOATS))
