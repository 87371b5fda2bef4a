"""The twins of how a query's words are found in a text (`search/matching.py`) and of the choice of what a result shows of
it (`search/excerpt.py`)."""

from libc.stdlib cimport calloc, free

cdef extern from "Python.h":
    bint Py_UNICODE_ISALNUM(Py_UCS4)
    int PyUnicode_KIND(object)
    void *PyUnicode_DATA(object)
    Py_UCS4 PyUnicode_READ(int kind, void *data, Py_ssize_t at)
    Py_ssize_t PyUnicode_Find(object, object, Py_ssize_t, Py_ssize_t, int) except -2
    object PyUnicode_Substring(object, Py_ssize_t, Py_ssize_t)

cdef enum:
    MAX_OCCURRENCES = 8
    MAX_TRIES = 50
    MAX_ENDING = 64
    FIRST_MARK = 0x300

LAYOUT = (MAX_OCCURRENCES, MAX_TRIES, MAX_ENDING)
"""What the twins must agree in."""


def find(
    str prefix, str word, dict known, judged, joined, with_rest, str lower, str source, Py_ssize_t start,
    Py_ssize_t stop,
):
    """The matches of a word of writing with spaces, in order. `judged`, `joined`, `with_rest`: what the twin asks of a
    word, of the character before it, and of one that has marks behind it."""
    cdef list found = []
    cdef Py_ssize_t size = len(prefix), length = len(lower), at, end, limit, judged_length
    cdef int kind = PyUnicode_KIND(lower), tries
    cdef void *data = PyUnicode_DATA(lower)
    cdef Py_UCS4 char
    cdef bint begins
    at = PyUnicode_Find(source, prefix, start, stop, 1)
    for tries in range(MAX_TRIES):
        if at < 0:
            break
        end, begins = 0, True
        if at:
            char = PyUnicode_READ(kind, data, at - 1)
            begins = not Py_UNICODE_ISALNUM(char) if char < FIRST_MARK else not joined(chr(char))
        if begins:
            end = at + size
            limit = end + MAX_ENDING
            while end < limit and end < length:
                char = PyUnicode_READ(kind, data, end)
                if char == 95 or not Py_UNICODE_ISALNUM(char):
                    break
                end += 1
            if end < length and PyUnicode_READ(kind, data, end) >= FIRST_MARK:
                end = with_rest(lower, end, limit)
            part = PyUnicode_Substring(lower, at, end)
            told = known.get(part)
            if told is None:
                told = known[part] = judged(part) if end < limit else 0
            judged_length = told
            end = at + judged_length if judged_length else 0
        if end:
            found.append((at, end, PyUnicode_Substring(lower, at, end) == word))
            if len(found) == MAX_OCCURRENCES:
                break
            at = PyUnicode_Find(source, prefix, end, stop, 1)
        else:
            at = PyUnicode_Find(source, prefix, at + 1, stop, 1)
    return found


def best_window(list places, list worth, list bonus, Py_ssize_t budget):
    """The worth of the best window, and its first and last place."""
    cdef Py_ssize_t count = len(places), number = len(worth), left = 0, right, matcher, gone
    cdef Py_ssize_t best = -1, best_count = -1, best_left = 0, best_right = 0, total = 0, enough = 2 * number
    cdef Py_ssize_t *held = <Py_ssize_t *>calloc(2 * number + 1, sizeof(Py_ssize_t))
    cdef Py_ssize_t *exactly = held + number
    cdef tuple place, first
    if held == NULL:
        raise MemoryError
    try:
        for right in range(count):
            place = places[right]
            matcher = place[2]
            if not held[matcher]:
                total += <Py_ssize_t>worth[matcher]
            held[matcher] += 1
            if place[3]:
                if not exactly[matcher]:
                    total += <Py_ssize_t>bonus[matcher]
                exactly[matcher] += 1
            while left < right:
                first = places[left]
                if <Py_ssize_t>place[1] - <Py_ssize_t>first[0] <= budget:
                    break
                left += 1
                gone = first[2]
                held[gone] -= 1
                if not held[gone]:
                    total -= <Py_ssize_t>worth[gone]
                if first[3]:
                    exactly[gone] -= 1
                    if not exactly[gone]:
                        total -= <Py_ssize_t>bonus[gone]
            if total > best or (total == best and best_count < right - left and best_count < enough):
                best, best_count, best_left, best_right = total, right - left, left, right
    finally:
        free(held)
    return best, best_left, best_right
