"""What is counted about the blocks of a page before features are made of it.

Characters are counted by kind for all blocks together, in one array of code points: a loop
over characters in Python would cost more than the rest of the extraction.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from gossamer.parse.blocks import Page

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

_SAMPLE = 600
"""Characters of a block that are counted by kind; the rest is taken to be like them."""
_LOWER, _UPPER, _DIGIT, _SPACE, _END, _COMMA, _WIDE, _OTHER = range(8)
_KINDS = 8
_LARGE_PRIME = 2_654_435_761
_WORDS_PER_WIDE_CHAR = 0.6
"""A Chinese or Japanese word takes 1.7 characters on average."""


class Measures:
    """Counts per block, and the arrays that place blocks in elements."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.texts = page.texts
        self.count = len(page.texts)
        self.holders = np.array(page.holders)
        self.parents = np.array(page.parents)
        self.first = np.array(page.first)
        self.end = np.array(page.end)
        self.depths = np.array(page.depths)
        self._count_chars()

    def _count_chars(self) -> None:
        page = self.page
        self.chars = np.array([len(text) for text in self.texts], np.float32)
        self.total = max(float(self.chars.sum()), 1.0)
        self.sampled = np.minimum(self.chars, _SAMPLE)
        sizes = self.sampled.astype(np.int64)
        joined = "".join([text[:_SAMPLE] for text in self.texts])
        codes = np.frombuffer(joined.encode("utf-32-le", "replace"), np.uint32)
        kinds = _KIND_OF[np.minimum(codes, len(_KIND_OF) - 1)]
        ends = np.cumsum(sizes)
        self.first_kind = kinds[ends - sizes].astype(np.float32)
        self.last_kind = kinds[ends - 1].astype(np.float32)
        owners = np.repeat(np.arange(self.count) * _KINDS, sizes)
        counts = np.bincount(owners + kinds, minlength=_KINDS * self.count).reshape(self.count, _KINDS)
        by_kind = counts.T.astype(np.float32)
        scale = self.chars / np.maximum(self.sampled, 1)
        self.spaces, self.upper, self.digits = by_kind[_SPACE], by_kind[_UPPER], by_kind[_DIGIT]
        self.others = by_kind[_OTHER]
        self.ends, self.commas = by_kind[_END] * scale, by_kind[_COMMA] * scale
        self.words = (self.spaces + 1 + by_kind[_WIDE] * np.float32(_WORDS_PER_WIDE_CHAR)) * scale
        self.linked = np.minimum(np.array(page.linked, np.float32), self.chars)
        self.links = np.array(page.links, np.float32)
        self.density = self.linked / np.maximum(self.chars, 1)

    @cached_property
    def running_words(self) -> Floats:
        """Words of each block that reads like sentences, 0 for the others."""
        running = (self.words >= 12) & (self.density < 0.35) & (self.ends >= 1)
        return np.where(running, self.words, np.float32(0))

    @cached_property
    def heading_levels(self) -> Floats:
        """1 to 6 for headings, 0 for other blocks."""
        tags = self.page.tags
        return np.array([_LEVEL_OF.get(tags[holder].name, 0) for holder in self.page.holders], np.float32)

    @cached_property
    def look_groups(self) -> Integers:
        """A number for each block, equal for blocks in elements that look the same up to the body."""
        looks = self.page.looks
        numbers: dict[int, int] = {}
        return np.array([numbers.setdefault(looks[holder], len(numbers)) for holder in self.page.holders])

    @cached_property
    def twins(self) -> Floats:
        """Elements of the same name and class under the same parent, itself included."""
        looks = np.array([tag.look for tag in self.page.tags])
        _, groups, counts = np.unique(looks ^ (self.parents * _LARGE_PRIME), return_inverse=True, return_counts=True)
        twins: Floats = counts[groups].astype(np.float32)
        return twins


def ranges(values: Floats, first: Integers, end: Integers) -> Floats:
    """Sums of `values[first:end]` for many ranges."""
    running = np.zeros(len(values) + 1)
    np.cumsum(values, out=running[1:])
    return (running[end] - running[first]).astype(np.float32)


def group_means(groups: Integers, values: Floats, weights: Floats) -> Floats:
    """For each block the sum of values of its group ÷ the sum of weights."""
    means = np.bincount(groups, values) / np.bincount(groups, weights)
    return means[groups].astype(np.float32)


def shifted(rows: Floats, step: int) -> Floats:
    """The values `step` blocks further on; -1 beyond the ends."""
    result = np.full(rows.shape, -1, np.float32)
    if abs(step) < rows.shape[-1]:
        if step > 0:
            result[..., :-step] = rows[..., step:]
        else:
            result[..., -step:] = rows[..., :step]
    return result


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
    for start, stop in ((0x3040, 0xA000), (0xAC00, 0xD7A4), (0xF900, 0xFB00)):
        table[start:stop] = _WIDE
    for char in ".!?\u2026\u3002\uff01\uff1f\u061f\u0964":
        table[ord(char)] = _END
    for char in ",;:\uff0c\u3001\uff1b\uff1a\u060c":
        table[ord(char)] = _COMMA
    return table


_KIND_OF = _kinds()
_LEVEL_OF = {f"h{level}": level for level in range(1, 7)}
