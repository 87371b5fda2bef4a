"""The twin of `parse.text.features`: numbers about blocks, made of what `measures` counted.

Every operation is one that NumPy makes in the twin, on numbers of the same size and in the same order, so that both
give equal bits. Logarithms are NumPy's own: `write_raw` leaves what they are to be taken of in one array, and
`write_logs` puts them where they belong.
"""

import numpy as np

from libc.math cimport copysignf, fabsf
from libc.stdint cimport int64_t, uint64_t

from gossamer.compiled.layout cimport *

cdef float ONE = 1  # a literal would make the operation one of doubles

cdef enum:
    HELD = 11  # numbers about what an element holds
    COPIED = 8  # rows that are copied for each neighbour
    NEAR = 3
    ALIKE_CHARS = 200
    WORDS_CHARS = 80
cdef enum:  # where each part of the first model's rows begins
    OWN = 0
    WORD = 14
    PLACE = 23
    ELEMENT = 37
    LOOK = 108
    CENTRE = 112
    NEIGHBOUR = 119
    FACT = 151
    FIRST = 194
    SECOND = 39
cdef int[3] OFFSETS = [CENTRE, CENTRE + 1, CENTRE + 3]
cdef int[4] STEPS = [-2, -1, 1, 2]
cdef int[6] VERDICT_STEPS = [-3, -2, -1, 1, 2, 3]
cdef int[4] REACHES = [2, 5, 12, 30]

LAYOUT = ((OWN, WORD, PLACE, ELEMENT, LOOK, CENTRE, NEIGHBOUR, FACT, FIRST), SECOND, LEVELS, HELD, COPIED)
"""What the twin must agree in."""


def write_raw(float[:, ::1] rows, measured, list texts, str title, dict word_scores, tuple cut_off, const int64_t[::1] logs):
    """The rows up to the neighbours as they are counted; returns what logarithms are to be taken of: twins, characters
    and blocks of elements, three distances from the centre, the rows `logs`."""
    cdef float[:, ::1] floats = measured[0]
    cdef int64_t[:, ::1] around = measured[1], tree = measured[6]
    cdef int64_t[::1] groups = measured[2]
    cdef double[:, ::1] sums = measured[3], said = measured[4]
    cdef Py_ssize_t count = floats.shape[1], elements = tree.shape[1], block, row, element, at
    cdef double total = max(sums[SUM_CHARS, count], 1.0)
    if rows.shape[0] < FIRST or rows.shape[1] != count or len(texts) != count:
        raise ValueError("the rows are not those of the page")
    _write_own(rows, floats, count)
    _write_words(rows, texts, title, word_scores, cut_off)
    _write_place(rows, floats, sums, total, count)
    _write_look(rows, floats, groups, total, count)
    _write_centre(rows, floats, sums, said, tree, count, elements)
    logged = np.empty(3 * elements + (3 + logs.shape[0]) * count, np.float32)
    cdef float[::1] raw = logged
    for element in range(elements):
        raw[element] = <float>tree[TWINS, element]
        raw[elements + element] = <float>(sums[SUM_CHARS, tree[END, element]] - sums[SUM_CHARS, tree[BEGIN, element]])
        raw[2 * elements + element] = <float>max(tree[END, element] - tree[BEGIN, element], <int64_t>1)
    at = 3 * elements
    for row in range(3):
        for block in range(count):
            raw[at + block] = fabsf(rows[OFFSETS[row], block])
        at += count
    for row in range(logs.shape[0]):
        if not 0 <= logs[row] < NEIGHBOUR:
            raise ValueError("a logarithm of a row that is not there yet")
        for block in range(count):
            raw[at + block] = rows[logs[row], block]
        at += count
    return logged


def write_logs(
    float[:, ::1] rows, measured, tags, const float[::1] logged, const int64_t[::1] logs, const int64_t[::1] copied,
    const int64_t[::1] own_facts,
):
    """The logarithms, and what is made of them: what elements hold, neighbours; facts last."""
    cdef float[:, ::1] floats = measured[0]
    cdef int64_t[:, ::1] around = measured[1], tree = measured[6]
    cdef double[:, ::1] sums = measured[3], said = measured[4]
    cdef uint64_t[:, ::1] marks = measured[5]
    cdef const double[:, :] scores = tags.scores
    cdef const int64_t[::1] bits = tags.bits
    cdef Py_ssize_t count = floats.shape[1], elements = tree.shape[1], block, row, at = 3 * elements, step, other
    cdef uint64_t facts
    if logged.shape[0] != at + (3 + logs.shape[0]) * count or copied.shape[0] != COPIED:
        raise ValueError("these are not the logarithms")
    _write_elements(rows, sums, said, around, tree, scores, logged, count, elements)
    for row in range(3):
        for block in range(count):
            rows[OFFSETS[row], block] = copysignf(logged[at + block], rows[OFFSETS[row], block])
        at += count
    for row in range(logs.shape[0]):
        for block in range(count):
            rows[logs[row], block] = logged[at + block]
        at += count
    for step in range(4):
        for row in range(COPIED):
            _shift(&rows[NEIGHBOUR + step * COPIED + row, 0], &rows[copied[row], 0], STEPS[step], count)
    for block in range(count):
        facts = marks[0, around[0, block]]
        for row in range(FIRST - FACT - own_facts.shape[0]):
            rows[FACT + row, block] = <float>((facts >> row) & 1)
        facts = <uint64_t>bits[around[0, block]]
        for row in range(own_facts.shape[0]):
            rows[FIRST - own_facts.shape[0] + row, block] = <float>((facts >> own_facts[row]) & 1)


def write_second(float[:, ::1] rows, measured, const float[::1] verdicts, const int64_t[::1] order):
    """What the verdicts say about the surroundings of each block, up to the statistics of the page; returns these:
    what of the page they take, of what total, the best, the doubt, the sure words and blocks. `order`: by verdict."""
    cdef float[:, ::1] floats = measured[0]
    cdef int64_t[:, ::1] around = measured[1], tree = measured[6]
    cdef int64_t[::1] groups = measured[2]
    cdef Py_ssize_t count = floats.shape[1], elements = tree.shape[1], block, row, element, level, start, stop
    cdef double[:, ::1] running = np.empty((3, count + 1)), grouped = np.zeros((4, count))
    cdef float[:, ::1] per_element = np.empty((2, elements), np.float32)
    cdef double total, everything = 0, doubt = 0, sure = 0, best = 0
    cdef float weight, weighed, held, size, whole, so_far = 0
    cdef Py_ssize_t sure_blocks = 0, group
    if rows.shape[0] < SECOND or rows.shape[1] != count or verdicts.shape[0] != count or order.shape[0] != count:
        raise ValueError("the rows are not those of the page")
    running[0, 0] = running[1, 0] = running[2, 0] = 0
    for block in range(count):
        weight = floats[WORDS, block] + <float>0.5
        weighed = verdicts[block] * weight
        running[0, block + 1] = running[0, block] + weighed
        running[1, block + 1] = running[1, block] + weight
        running[2, block + 1] = running[2, block] + verdicts[block]
        doubt += verdicts[block] * (ONE - verdicts[block]) * weight
        if verdicts[block] > <float>0.5:
            sure += weight
            sure_blocks += 1
        best = max(best, <double>verdicts[block])
        group = groups[block]
        grouped[0, group] += weighed
        grouped[1, group] += weight
        grouped[2, group] += verdicts[block]
        grouped[3, group] += 1
    total = max(running[0, count], 1e-6)
    everything = running[1, count]
    whole = <float>total
    for block in range(count):
        rows[0, block] = verdicts[block]
    for row in range(6):
        _shift(&rows[1 + row, 0], &verdicts[0], VERDICT_STEPS[row], count)
    for row in range(4):
        for block in range(count):
            start, stop = max(block - REACHES[row], 0), min(block + REACHES[row] + 1, count)
            held = <float>(running[0, stop] - running[0, start])
            size = <float>(running[1, stop] - running[1, start])
            rows[7 + 2 * row, block] = held / size
            held = <float>(running[2, stop] - running[2, start])
            rows[8 + 2 * row, block] = <float>(<double>held / <double>(stop - start))
    for element in range(elements):
        start, stop = tree[BEGIN, element], tree[END, element]
        held = <float>(running[0, stop] - running[0, start])
        size = <float>(running[1, stop] - running[1, start])
        per_element[0, element] = held / max(size, <float>0.5)
        per_element[1, element] = held / whole
    for level in range(LEVELS + 1):
        for block in range(count):
            rows[15 + 2 * level, block] = per_element[0, around[level, block]]
            rows[16 + 2 * level, block] = per_element[1, around[level, block]]
    for block in range(count):
        group = groups[block]
        rows[29, block] = <float>(grouped[0, group] / grouped[1, group])
        rows[30, block] = <float>(grouped[2, group] / grouped[3, group])
        weighed = verdicts[block] * (floats[WORDS, block] + <float>0.5)
        so_far += weighed
        rows[31, block] = (so_far - weighed) / whole
        if not 0 <= order[block] < count:
            raise ValueError("this is no order of the blocks")
        rows[32, order[block]] = <float>(<double>block / <double>count)
    return total, everything, best, doubt, sure, sure_blocks


cdef void _shift(float *target, const float *source, int step, Py_ssize_t count) noexcept:
    """The values so many blocks further on; -1 beyond the ends."""
    cdef Py_ssize_t block
    for block in range(count):
        target[block] = source[block + step] if 0 <= block + step < count else -1


cdef void _write_own(float[:, ::1] rows, float[:, ::1] floats, Py_ssize_t count) noexcept:
    cdef Py_ssize_t block
    cdef float words, sampled
    for block in range(count):
        words, sampled = floats[WORDS, block], floats[SAMPLED, block]
        rows[OWN, block] = floats[CHARS, block]
        rows[OWN + 1, block] = words
        rows[OWN + 2, block] = floats[DENSITY, block]
        rows[OWN + 3, block] = floats[LINKS, block]
        rows[OWN + 4, block] = words * (ONE - floats[DENSITY, block])
        rows[OWN + 5, block] = floats[CHARS, block] / words
        rows[OWN + 6, block] = floats[UPPER, block] / sampled
        rows[OWN + 7, block] = floats[DIGITS, block] / sampled
        rows[OWN + 8, block] = floats[OTHERS, block] / sampled
        rows[OWN + 9, block] = floats[ENDS, block]
        rows[OWN + 10, block] = floats[ENDS, block] / max(words, <float>1)
        rows[OWN + 11, block] = floats[COMMAS, block]
        rows[OWN + 12, block] = floats[LAST_KIND, block]
        rows[OWN + 13, block] = floats[FIRST_KIND, block]


cdef int _write_words(float[:, ::1] rows, list texts, str title, dict scores, tuple cut_off) except -1:
    """What the first words of each block say; the last of these rows is not written."""
    cdef str text, lowered, named = " ".join(title[:300].lower().split()), key
    cdef frozenset titled = frozenset(title[:300].lower().split())
    cdef str ends = "".join([end[-1] for end in cut_off])
    cdef list words
    cdef dict before = {}
    cdef double score, least, total
    cdef Py_ssize_t block, common, title_words = max(len(titled), 1), size, times, at
    cdef bint is_titled
    for block in range(len(texts)):
        text = texts[block]
        lowered = text[:WORDS_CHARS].lower()
        words = lowered.split()
        size = len(words)
        total = least = 0
        is_titled = False
        for at in range(size):
            word = words[at]
            found = scores.get(word)
            score = 0.0 if found is None else <double>found
            total += score
            if at == 0 or score < least:
                least = score
            is_titled |= word in titled
        common = len(titled.intersection(words)) if is_titled else 0
        rows[WORD, block] = <float>(total / size)
        rows[WORD + 1, block] = <float>least
        rows[WORD + 2, block] = <float>(<double>common / size)
        rows[WORD + 3, block] = <float>(<double>common / title_words)
        key = text if len(text) <= ALIKE_CHARS else text[:ALIKE_CHARS]
        times = before.get(key, 0)
        rows[WORD + 4, block] = times
        before[key] = times + 1
        rows[WORD + 6, block] = len(lowered) <= len(named) and lowered in named
        rows[WORD + 7, block] = text[len(text) - 1] in ends and text.endswith(cut_off)
    for block in range(len(texts)):
        text = texts[block]
        rows[WORD + 5, block] = <Py_ssize_t>before[text if len(text) <= ALIKE_CHARS else text[:ALIKE_CHARS]]
    return 0


cdef void _write_place(
    float[:, ::1] rows, float[:, ::1] floats, double[:, ::1] sums, double total, Py_ssize_t count
) noexcept:
    cdef Py_ssize_t block, last = -1, first = -1, headings = 0, top = 0
    cdef float chars = 0, whole = <float>total
    for block in range(count):
        if floats[HEADING, block] == 1:
            first = block
            break
    for block in range(count):
        chars += floats[CHARS, block]
        if floats[HEADING, block] > 0:
            last = block
            headings += 1
            top += floats[HEADING, block] == 1
        rows[PLACE, block] = block
        rows[PLACE + 1, block] = <float>(<double>block / <double>count)
        rows[PLACE + 2, block] = count - 1 - block
        rows[PLACE + 3, block] = (chars - floats[CHARS, block]) / whole
        rows[PLACE + 4, block] = floats[HEADING, block]
        rows[PLACE + 5, block] = -1 if last < 0 else block - last
        rows[PLACE + 6, block] = 7 if last < 0 else floats[HEADING, last]
        rows[PLACE + 7, block] = <float>(<double>(block - first) / <double>count) if first >= 0 else -2
        rows[PLACE + 8, block] = top
        rows[PLACE + 9, block] = headings
        rows[PLACE + 11, block] = count
        rows[PLACE + 12, block] = whole
        rows[PLACE + 13, block] = <float>(sums[SUM_LINKED, count] / total)
    for block in range(count):
        rows[PLACE + 10, block] = headings


cdef int _write_look(
    float[:, ::1] rows, float[:, ::1] floats, int64_t[::1] groups, double total, Py_ssize_t count
) except -1:
    """Blocks in elements that look the same up to the body."""
    cdef double[:, ::1] held = np.zeros((4, count))
    cdef Py_ssize_t block, group
    for block in range(count):
        group = groups[block]
        held[0, group] += 1
        held[1, group] += floats[CHARS, block]
        held[2, group] += floats[WORDS, block]
        held[3, group] += floats[LINKED, block]
    for block in range(count):
        group = groups[block]
        rows[LOOK, block] = <float>held[0, group]
        rows[LOOK + 1, block] = <float>(held[2, group] / held[0, group])
        rows[LOOK + 2, block] = <float>(held[3, group] / max(held[1, group], 1.0))
        rows[LOOK + 3, block] = <float>(held[1, group] / total)
    return 0


cdef void _write_centre(
    float[:, ::1] rows, float[:, ::1] floats, double[:, ::1] sums, double[:, ::1] said, int64_t[:, ::1] tree,
    Py_ssize_t count, Py_ssize_t elements,
) noexcept:
    """Where a block lies to the smallest elements that hold much, or nearly all, of the running text."""
    cdef double total = sums[SUM_RUNNING, count], size, smallest
    cdef double[3] shares = [0.4, 0.7, 0.9]
    cdef Py_ssize_t share, element, block, best, begin, end
    cdef float least, held, so_far = 0, divisor = <float>max(total, 1.0)
    for share in range(3):
        least = <float>(shares[share] * total - 1e-3)
        best = 0
        smallest = float("inf")
        for element in range(elements):
            begin, end = tree[BEGIN, element], tree[END, element]
            held = <float>(sums[SUM_RUNNING, end] - sums[SUM_RUNNING, begin])
            if held >= least:
                size = (end - begin) * 1000 - min(said[DEPTH, element], 999.0)
                if size < smallest:
                    best, smallest = element, size
        begin, end = tree[BEGIN, best], tree[END, best]
        for block in range(count):
            rows[OFFSETS[share], block] = min(block - begin, 0) + max(block - end + 1, 0)
            if share == 1:
                rows[CENTRE + 2, block] = <float>(<double>(end - begin) / <double>count)
    for block in range(count):
        so_far += floats[RUNNING, block]
        rows[CENTRE + 4, block] = <float>total
        rows[CENTRE + 5, block] = (so_far - floats[RUNNING, block]) / divisor
        begin, end = max(block - NEAR, 0), min(block + NEAR + 1, count)
        rows[CENTRE + 6, block] = <float>(sums[SUM_RUNNING, end] - sums[SUM_RUNNING, begin])


cdef int _write_elements(
    float[:, ::1] rows, double[:, ::1] sums, double[:, ::1] said, int64_t[:, ::1] around, int64_t[:, ::1] tree,
    const double[:, :] scores, const float[::1] logged, Py_ssize_t count, Py_ssize_t elements,
) except -1:
    """What the elements around a block hold and are called."""
    cdef float[:, ::1] table = np.empty((elements, HELD), np.float32)
    cdef Py_ssize_t element, level, block, at, row
    cdef int64_t begin, end
    cdef float chars, words, blocks, total = <float>max(sums[SUM_CHARS, count], 1.0)
    for element in range(elements):
        begin, end = tree[BEGIN, element], tree[END, element]
        chars = <float>(sums[SUM_CHARS, end] - sums[SUM_CHARS, begin])
        words = <float>(sums[SUM_WORDS, end] - sums[SUM_WORDS, begin])
        blocks = <float>max(end - begin, <int64_t>1)
        for row in range(3):
            table[element, row] = <float>scores[row, element]
        table[element, 3] = logged[element]
        table[element, 4] = logged[elements + element]
        table[element, 5] = chars / total
        table[element, 6] = <float>(sums[SUM_LINKED, end] - sums[SUM_LINKED, begin]) / max(chars, <float>1)
        table[element, 7] = logged[2 * elements + element]
        table[element, 8] = words / blocks
        table[element, 9] = <float>(sums[SUM_ENDS, end] - sums[SUM_ENDS, begin]) / max(words, <float>1)
        table[element, 10] = <float>(sums[SUM_HEADLINES, end] - sums[SUM_HEADLINES, begin]) / blocks
    for block in range(count):
        element = around[0, block]
        rows[ELEMENT, block] = <float>said[DEPTH, element]
        rows[ELEMENT + 1, block] = <float>said[LOW, element]
        rows[ELEMENT + 2, block] = <float>said[SCORE, element]
        rows[ELEMENT + 3 + 3 * HELD, block] = <float>said[SCORE, around[3, block]]
        rows[LOOK - 1, block] = <float>said[SCORE, around[LEVELS, block]]
    for level in range(LEVELS):
        at = ELEMENT + 3 + level * HELD + (level >= 3)
        for block in range(count):
            element = around[level, block]
            for row in range(HELD):
                rows[at + row, block] = table[element, row]
    return 0
