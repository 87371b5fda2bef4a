"""The twins of how a query's words are found in a text (`search/matching.py`) and of the choice of what a result shows of
it (`search/excerpt.py`)."""

from libc.stdlib cimport calloc, free, malloc

cdef extern from "Python.h":
    bint Py_UNICODE_ISALNUM(Py_UCS4)
    int PyUnicode_KIND(object)
    void *PyUnicode_DATA(object)
    Py_UCS4 PyUnicode_READ(int kind, void *data, Py_ssize_t at)
    Py_ssize_t PyUnicode_Find(object, object, Py_ssize_t, Py_ssize_t, int) except -2
    object PyUnicode_Substring(object, Py_ssize_t, Py_ssize_t)
    object PyUnicode_FromKindAndData(int, const void *, Py_ssize_t)
    object PyUnicode_DecodeLatin1(const char *, Py_ssize_t, const char *)
    Py_UCS4 Py_UNICODE_TOLOWER(Py_UCS4)

cdef enum:
    MAX_OCCURRENCES = 8
    MAX_TRIES = 50
    MAX_ENDING = 64
    SAMPLE = 2000
    FIRST_MARK = 0x300
    SIGMA = 0x3a3  # its small letter depends on what follows
    YO = 0x451
    YE = 0x435

LAYOUT = ("Finder", MAX_OCCURRENCES, MAX_TRIES, MAX_ENDING, SAMPLE)
"""What the twins must agree in."""


def lower(str text):
    """A text that is not ASCII, made comparable; None where that takes the twin: Greek, Arabic."""
    cdef Py_ssize_t at, size = len(text)
    cdef int kind = PyUnicode_KIND(text)
    cdef void *data = PyUnicode_DATA(text)
    cdef unsigned int char
    cdef Py_UCS4 *made = <Py_UCS4 *>malloc((size + 1) * sizeof(Py_UCS4))
    if made == NULL:
        raise MemoryError
    try:
        for at in range(size):
            char = PyUnicode_READ(kind, data, at)
            if char < 128:
                if 65 <= char <= 90:
                    char += 32
            elif char == SIGMA or (0x622 <= char <= 0x6f9 and at < SAMPLE):
                return None
            elif not 0x2e80 <= char < 0xa640:  # Han and Kana have no capitals
                char = Py_UNICODE_TOLOWER(char)
                if char == YO:
                    char = YE
            made[at] = char
        return PyUnicode_FromKindAndData(4, made, size)
    finally:
        free(made)


def plain(str lower, const unsigned char[::1] latin):
    """The same without accents; None where that takes the twin: accents beyond Latin-1. `latin`: what stands for each
    of its characters."""
    cdef Py_ssize_t at, size = len(lower)
    cdef int kind = PyUnicode_KIND(lower)
    cdef void *data = PyUnicode_DATA(lower)
    cdef unsigned int char
    cdef char *made = <char *>malloc(size + 1)
    if made == NULL:
        raise MemoryError
    try:
        for at in range(size):
            char = PyUnicode_READ(kind, data, at)
            if char < 256:
                made[at] = <char>latin[char]
            elif at < SAMPLE and (char < 0x250 or 0x1e00 <= char < 0x1f00):
                return None
            else:
                made[at] = 63
        return PyUnicode_DecodeLatin1(made, size, NULL)
    finally:
        free(made)


cdef class Finder:
    """Finds a word of writing with spaces."""

    cdef str prefix, word
    cdef bint is_plain
    cdef dict known
    cdef object judged, joined, with_rest

    def __init__(self, str prefix, str word, bint is_plain, dict known, judged, joined, with_rest):
        """`is_plain`: it is looked for among letters without accents; `judged`, `joined`, `with_rest`: what the twin asks
        of a word, of the character before it, and of one that has marks behind it."""
        self.prefix, self.word, self.is_plain, self.known = prefix, word, is_plain, known
        self.judged, self.joined, self.with_rest = judged, joined, with_rest

    def matches(self, str lower, str source, Py_ssize_t start, Py_ssize_t stop):
        """The matches that begin between two places, in order."""
        return _find(self, lower, source, start, stop)


def places(list finders, text):
    """The matches of several words in a text: start, end, the number of the word, whether it is the very word."""
    cdef list found = []
    cdef str lower = text.lower
    cdef Finder finder
    cdef Py_ssize_t number, size = len(lower)
    for number in range(len(finders)):
        finder = finders[number]
        for start, end, exact in _find(finder, lower, <str>text.plain if finder.is_plain else lower, 0, size):
            found.append((start, end, number, exact))
    found.sort()
    return found


cdef list _find(Finder finder, str lower, str source, Py_ssize_t start, Py_ssize_t stop):
    cdef str prefix = finder.prefix, word = finder.word
    cdef dict known = finder.known
    cdef object judged = finder.judged, joined = finder.joined, with_rest = finder.with_rest
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
