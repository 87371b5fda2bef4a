"""The twin of `parse.text.measures`: what is counted about the blocks of a page.

Every operation is one that NumPy makes in the twin, on numbers of the same size and in the same order, so that both
give equal bits.
"""

import numpy as np

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free

from gossamer.compiled.layout cimport *

cdef extern from "Python.h":
    int PyUnicode_KIND(object)
    void *PyUnicode_DATA(object)
    Py_UCS4 PyUnicode_READ(int kind, void *data, Py_ssize_t at)

cdef float ONE = 1  # a literal would make the operation one of doubles

cdef enum:
    SAMPLE = 600  # characters of a block that are counted by kind
    FIELD_BITS = 10
    FIELD = 1023
    DENSE = 3
LAYOUT = (LEVELS, SAMPLE, FIELD_BITS, DENSE, ("chars", "linked", "density", "sampled", "spaces", "upper", "digits",
          "others", "ends", "commas", "words", "links", "first kind", "last kind", "heading", "running"))
"""What the twin must agree in."""


def measure(
    page, const uint8_t[::1] kinds, const int64_t[::1] ones, const uint8_t[::1] dense, worth,
    const float[::1] level_of,
):
    """The arrays of `Measures`: floats, around, groups, sums, said, marks, tree.

    `kinds`, `ones`: of each character its kind, and a 1 in the field of that kind; `dense`: which row of `worth`, of
    letters and words, a character counts for beside that, 0 for none; `level_of`: names of elements as headings."""
    cdef list texts = page.texts, linked = page.linked, links = page.links
    cdef Py_ssize_t count = len(texts), elements = len(page.parents), block, level, at
    cdef int64_t[:, ::1] around, tree
    cdef float[:, ::1] floats
    cdef double[:, ::1] sums, said
    floats_array = np.empty((FLOATS, count), np.float32)
    around_array = np.empty((LEVELS + 1, count), np.int64)
    sums_array = np.empty((SUMS, count + 1))
    said_array = np.empty((SAID, elements))
    tree_array = np.empty((TREE, elements), np.int64)
    floats, around, sums, said, tree = floats_array, around_array, sums_array, said_array, tree_array
    tags = page.tags
    cdef const int64_t[::1] names = tags.names
    cdef const int64_t[::1] bits = tags.bits
    cdef const int64_t[::1] looks = tags.looks
    cdef const double[:, :] scores = tags.scores
    if len(links) != count or len(linked) != count or len(page.holders) != count or names.shape[0] != elements:
        raise ValueError("the page has blocks or elements of which something is missing")
    _take_tree(page.parents, page.first, page.end, tree, elements, count)
    cdef list holders = page.holders
    for block in range(count):
        at = holders[block]
        if not 0 <= at < elements:
            raise ValueError("a block is in no element")
        for level in range(LEVELS + 1):
            around[level, block] = at
            at = tree[PARENT, at]
    cdef bint is_dense = False
    for block in range(count):
        is_dense |= _count_text(texts[block], linked[block], links[block], block, floats, kinds, ones)
    if is_dense:
        _count_dense(texts, floats, dense, worth)
    for block in range(count):
        floats[HEADING, block] = level_of[names[around[0, block]]]
        floats[RUNNING, block] = 0
        if floats[WORDS, block] >= 12 and floats[DENSITY, block] < <float>0.35 and floats[ENDS, block] >= 1:
            floats[RUNNING, block] = floats[WORDS, block]
    _sum_up(floats, sums, count)
    marks_array = np.empty((2, elements), np.uint64)
    _follow_paths(tree, scores, bits, looks, said, marks_array, elements)
    _count_twins(tree, looks, elements)
    groups_array = np.empty(count, np.int64)
    _group(marks_array, around, groups_array, count)
    return floats_array, around_array, groups_array, sums_array, said_array, marks_array, tree_array


cdef int _take_tree(list parents, list first, list end, int64_t[:, ::1] tree, Py_ssize_t elements, Py_ssize_t count) except -1:
    cdef Py_ssize_t element
    if len(first) != elements or len(end) != elements:
        raise ValueError("an element has no range")
    for element in range(elements):
        tree[PARENT, element] = parents[element]
        tree[BEGIN, element] = first[element]
        tree[END, element] = end[element]
        if not (0 <= tree[PARENT, element] <= element and 0 <= tree[BEGIN, element] <= tree[END, element] <= count):
            raise ValueError("an element is not within the page")
    return 0


cdef bint _count_text(
    str text, Py_ssize_t linked, Py_ssize_t links, Py_ssize_t block, float[:, ::1] floats, const uint8_t[::1] kinds,
    const int64_t[::1] ones,
) except -1:
    """Characters of a block by kind; whether some may be of a script that says more with each."""
    cdef Py_ssize_t size = len(text), sampled = min(size, <Py_ssize_t>SAMPLE), at
    cdef Py_UCS4 char, last = kinds.shape[0] - 1
    cdef int64_t packed = 0
    cdef bint is_dense = False
    cdef float chars, scale
    if not size:
        raise ValueError("a block is empty")
    cdef int width = PyUnicode_KIND(text)
    cdef void *data = PyUnicode_DATA(text)
    for at in range(sampled):
        char = PyUnicode_READ(width, data, at)
        if char > last:
            char = last
        packed += ones[char]
        is_dense |= char >= 0x3040 or 0x0E00 <= char < 0x1800
    chars = <float>size
    floats[CHARS, block] = chars
    floats[LINKED, block] = min(<float>linked, chars)
    floats[DENSITY, block] = floats[LINKED, block] / chars
    floats[SAMPLED, block] = <float>sampled
    scale = chars / <float>sampled
    floats[SPACES, block] = <float>(packed & FIELD)
    floats[UPPER, block] = <float>((packed >> FIELD_BITS) & FIELD)
    floats[DIGITS, block] = <float>((packed >> 2 * FIELD_BITS) & FIELD)
    floats[OTHERS, block] = <float>((packed >> 3 * FIELD_BITS) & FIELD)
    floats[ENDS, block] = <float>((packed >> 4 * FIELD_BITS) & FIELD) * scale
    floats[COMMAS, block] = <float>((packed >> 5 * FIELD_BITS) & FIELD) * scale
    floats[WORDS, block] = (floats[SPACES, block] + ONE) * scale
    floats[LINKS, block] = <float>links
    floats[FIRST_KIND, block] = kinds[min(<Py_UCS4>text[0], last)]
    floats[LAST_KIND, block] = kinds[min(<Py_UCS4>text[sampled - 1], last)]
    return is_dense


cdef int _count_dense(list texts, float[:, ::1] floats, const uint8_t[::1] dense, worth) except -1:
    """Letters and words that characters stand for beside themselves."""
    cdef Py_ssize_t block, at, kind
    cdef Py_UCS4 char, last = dense.shape[0] - 1
    cdef float letters[DENSE], words[DENSE], more, scale
    cdef Py_ssize_t counts[DENSE + 1]
    cdef str text
    for kind in range(DENSE):
        letters[kind], words[kind] = worth[kind]
    for block in range(len(texts)):
        text = texts[block]
        for kind in range(DENSE + 1):
            counts[kind] = 0
        for at in range(min(len(text), <Py_ssize_t>SAMPLE)):
            char = text[at]
            counts[dense[min(char, last)]] += 1
        scale = floats[CHARS, block] / floats[SAMPLED, block]
        more = <float>counts[1] * letters[0] + <float>counts[2] * letters[1] + <float>counts[3] * letters[2]
        floats[CHARS, block] += more * scale
        more = <float>counts[1] * words[0] + <float>counts[2] * words[1] + <float>counts[3] * words[2]
        floats[WORDS, block] += more * scale
        floats[LINKED, block] = floats[DENSITY, block] * floats[CHARS, block]
    return 0


cdef void _sum_up(float[:, ::1] floats, double[:, ::1] sums, Py_ssize_t count) noexcept:
    """Running sums over the blocks, beginning with 0."""
    cdef Py_ssize_t block, row
    cdef bint headline
    for row in range(SUMS):
        sums[row, 0] = 0
    for block in range(count):
        headline = floats[WORDS, block] >= 4 and floats[DENSITY, block] > <float>0.7
        sums[SUM_CHARS, block + 1] = sums[SUM_CHARS, block] + floats[CHARS, block]
        sums[SUM_LINKED, block + 1] = sums[SUM_LINKED, block] + floats[LINKED, block]
        sums[SUM_WORDS, block + 1] = sums[SUM_WORDS, block] + floats[WORDS, block]
        sums[SUM_ENDS, block + 1] = sums[SUM_ENDS, block] + floats[ENDS, block]
        sums[SUM_HEADLINES, block + 1] = sums[SUM_HEADLINES, block] + headline
        sums[SUM_RUNNING, block + 1] = sums[SUM_RUNNING, block] + floats[RUNNING, block]


cdef int _follow_paths(
    int64_t[:, ::1] tree, const double[:, :] scores, const int64_t[::1] bits, const int64_t[::1] looks,
    double[:, ::1] said, uint64_t[:, ::1] marks, Py_ssize_t elements,
) except -1:
    """What each element says together with all around it: each step doubles the elements that are followed."""
    cdef double[:, ::1] before = np.empty((SAID, elements))
    cdef uint64_t[:, ::1] marked = np.empty((2, elements), np.uint64)
    cdef int64_t[::1] above = np.empty(elements, np.int64), further = np.empty(elements, np.int64)
    cdef Py_ssize_t element, at
    cdef uint64_t factor = 2654435761, body_bits
    cdef double body_score = scores[0, 0], body_low
    cdef bint more = False
    for element in range(elements):
        said[SCORE, element] = scores[0, element]
        said[DEPTH, element] = 1
        said[LOW, element] = scores[1, element]
        marks[0, element] = <uint64_t>bits[element]
        marks[1, element] = <uint64_t>looks[element]
        above[element] = tree[PARENT, element]
        more |= above[element] != 0
    said[SCORE, 0] = said[DEPTH, 0] = 0
    marks[1, 0] = 0
    while more:
        before[:] = said
        marked[:] = marks
        more = False
        for element in range(elements):
            at = above[element]
            said[SCORE, element] += before[SCORE, at]
            said[DEPTH, element] += before[DEPTH, at]
            if before[LOW, at] < said[LOW, element]:
                said[LOW, element] = before[LOW, at]
            marks[0, element] |= marked[0, at]
            marks[1, element] += marked[1, at] * factor
            further[element] = above[at]
            more |= further[element] != 0
        above[:] = further
        factor *= factor
    body_low, body_bits = said[LOW, 0], marks[0, 0]
    for element in range(elements):
        said[SCORE, element] += body_score
        if body_low < said[LOW, element]:
            said[LOW, element] = body_low
        marks[0, element] |= body_bits
    return 0


cdef class Numbers:
    """64-bit keys → 0, 1, 2 … in the order in which they are first asked for."""

    cdef uint64_t *keys
    cdef int64_t *values
    cdef uint64_t mask
    cdef int64_t size

    def __cinit__(self, Py_ssize_t most):
        cdef uint64_t room = 8
        while room < <uint64_t>(2 * most):
            room *= 2
        self.mask = room - 1
        self.keys = <uint64_t *>calloc(room, sizeof(uint64_t))
        self.values = <int64_t *>calloc(room, sizeof(int64_t))  # 0 for none, else one more than the number
        if self.keys == NULL or self.values == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.keys)
        free(self.values)

    cdef int64_t of(self, uint64_t key) noexcept:
        cdef uint64_t at = (key ^ (key >> 29)) * <uint64_t>0x9E3779B97F4A7C15
        at = (at >> 32) & self.mask
        while self.values[at]:
            if self.keys[at] == key:
                return self.values[at] - 1
            at = (at + 1) & self.mask
        self.keys[at] = key
        self.size += 1
        self.values[at] = self.size
        return self.size - 1


cdef int _count_twins(int64_t[:, ::1] tree, const int64_t[::1] looks, Py_ssize_t elements) except -1:
    """Elements of the same name and class under the same parent."""
    cdef Numbers numbers = Numbers(elements)
    cdef int64_t[::1] counts = np.zeros(elements, np.int64), group = np.empty(elements, np.int64)
    cdef Py_ssize_t element
    for element in range(elements):
        group[element] = numbers.of(<uint64_t>(looks[element] ^ (tree[PARENT, element] * 2654435761)))
        counts[group[element]] += 1
    for element in range(elements):
        tree[TWINS, element] = counts[group[element]]
    return 0


cdef int _group(uint64_t[:, ::1] marks, int64_t[:, ::1] around, int64_t[::1] groups, Py_ssize_t count) except -1:
    """A number for each block, equal for blocks in elements that look the same up to the body."""
    cdef Numbers numbers = Numbers(count)
    cdef Py_ssize_t block
    for block in range(count):
        groups[block] = numbers.of(marks[1, around[0, block]])
    return 0


def shape(
    measured, list texts, const int64_t[::1] names, Py_ssize_t kinds, Py_ssize_t paragraph, Py_ssize_t item,
    Py_ssize_t price_chars, float long_words,
):
    """What `parse.text.page_type.page_shape` counts: elements by name, then links, prices, words of long blocks, long
    blocks, most words, characters of paragraphs and of items."""
    cdef float[:, ::1] floats = measured[0]
    cdef int64_t[:, ::1] around = measured[1]
    cdef Py_ssize_t count = floats.shape[1], block, element, prices = 0, long_blocks = 0, name
    cdef double links = 0, words = 0, most = 0, paragraphs = 0, items = 0
    cdef list counts = [0] * kinds
    cdef int64_t[::1] numbers = np.zeros(kinds, np.int64)
    cdef str text
    if len(texts) != count:
        raise ValueError("the texts are not those of the page")
    for element in range(names.shape[0]):
        if not 0 <= names[element] < kinds:
            raise ValueError("an element has an unknown name")
        numbers[names[element]] += 1
    for name in range(kinds):
        counts[name] = numbers[name]
    for block in range(count):
        links += floats[LINKS, block]
        if floats[WORDS, block] > long_words:
            words += floats[WORDS, block]
            long_blocks += 1
        most = max(most, <double>floats[WORDS, block])
        name = names[around[0, block]]
        if name == paragraph:
            paragraphs += floats[CHARS, block]
        elif name == item:
            items += floats[CHARS, block]
        text = texts[block]
        if len(text) < price_chars and ("$" in text or "€" in text or "£" in text):
            prices += 1
    return counts, links, prices, words, long_blocks, most, paragraphs, items
