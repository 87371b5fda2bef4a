"""The twins of what fingerprints are made of: short lines with numbers, words, runs of words and the smallest of their
permutations. Arrays are made by who calls: a server loads this, and no NumPy."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint64_t

cdef extern from "least.h":
    void least_products(
        const uint64_t *factors, size_t number, const uint64_t *runs, size_t count, uint64_t *least
    ) nogil
cdef extern from "Python.h":
    bint Py_UNICODE_ISDECIMAL(Py_UCS4)
    int PyUnicode_KIND(object)
    void *PyUnicode_DATA(object)
    Py_UCS4 PyUnicode_READ(int kind, void *data, Py_ssize_t at)

cdef enum:
    BEFORE = 50  # characters of a line before its first number, and after it
    AFTER = 70
    LENGTH = 4
    SKETCH_BITS = 2048
    SKETCH_BYTES = 256

LAYOUT = (BEFORE, AFTER, LENGTH, SKETCH_BITS)
"""What the twins must agree in."""


def numbered(str text, Py_ssize_t most):
    """Where the short lines with a number begin and end, at most so many."""
    cdef Py_ssize_t at, start = 0, number = -1, size = len(text)
    cdef int kind = PyUnicode_KIND(text)
    cdef void *data = PyUnicode_DATA(text)
    cdef Py_UCS4 char
    cdef list found = []
    for at in range(size + 1):
        char = PyUnicode_READ(kind, data, at) if at < size else 10
        if char == 10:
            if number >= 0 and number - start <= BEFORE and at - number - 1 <= AFTER:
                found.append((start, at))
                if len(found) >= most:
                    break
            start, number = at + 1, -1
        elif number < 0 and (48 <= char <= 57 or (char > 127 and Py_UNICODE_ISDECIMAL(char))):
            number = at
    return found


def hash_runs(const uint64_t[::1] words, const uint64_t[::1] factors, uint64_t mix, uint64_t[::1] hashes):
    """Writes a 64-bit hash of each run of four in a row of word hashes."""
    cdef Py_ssize_t count = max(words.shape[0] - LENGTH + 1, 0), at
    cdef uint64_t mixed
    if factors.shape[0] != LENGTH or hashes.shape[0] != count:
        raise ValueError("a factor for each place of a run, and room for each run")
    for at in range(count):
        mixed = words[at] * factors[0] + words[at + 1] * factors[1] + words[at + 2] * factors[2] + words[at + 3] * factors[3]
        mixed ^= mixed >> 32
        mixed *= mix
        hashes[at] = mixed ^ (mixed >> 32)


def smallest(const uint64_t[::1] numbers, const uint64_t[::1] permutations, uint64_t[::1] least):
    """Writes the smallest value of each permutation on a set of numbers."""
    if not numbers.shape[0] or not permutations.shape[0] or least.shape[0] != permutations.shape[0]:
        raise ValueError("no numbers have no smallest, and each permutation needs room")
    least_products(&permutations[0], permutations.shape[0], &numbers[0], numbers.shape[0], &least[0])


def odd_sketch(const uint64_t[::1] numbers):
    """One bit per place: whether an odd number of the numbers falls on it."""
    cdef uint8_t sketch[SKETCH_BYTES]
    cdef Py_ssize_t at, place
    for at in range(SKETCH_BYTES):
        sketch[at] = 0
    for at in range(numbers.shape[0]):
        place = numbers[at] & (SKETCH_BITS - 1)
        sketch[place >> 3] ^= <uint8_t>(128 >> (place & 7))
    return PyBytes_FromStringAndSize(<char *>sketch, SKETCH_BYTES)


def cut(str piece, uint8_t[::1] classes, classify):
    """The plain words of a piece of text; None if characters vanish from it. `classes`: of characters, as `classify`
    gives them: 1 part of a word, 2 between words, 3 vanishes, 4 a word by itself; 0 if it was not asked yet."""
    cdef Py_ssize_t at, start = -1
    cdef Py_UCS4 char
    cdef int kind, width = PyUnicode_KIND(piece)
    cdef void *data = PyUnicode_DATA(piece)
    cdef list found = []
    for at in range(len(piece)):
        char = PyUnicode_READ(width, data, at)
        if char < classes.shape[0]:
            kind = classes[char]
            if not kind:
                kind = classes[char] = classify(<int>char)
        else:
            kind = classify(<int>char)
        if kind == 1:
            if start < 0:
                start = at
            continue
        if kind == 3:
            return None
        if start >= 0:
            found.append(piece[start:at])
            start = -1
        if kind == 4:
            found.append(piece[at : at + 1])
    if start >= 0:
        found.append(piece if not start else piece[start:])
    return found
