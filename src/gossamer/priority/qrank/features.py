"""What a model is told about a URL: some dozens of numbers of 0…1, for many URLs at once.

`LISTED` are the features of S4.2: lengths, depth, digits, capitals, terms and words of the parts.
`ADDED` are those that help beside them on sites never seen (decision 11). Counts are scaled by the
logarithm, log(1 + n) / log(1 + most), and end at 1. An index page counts as its folder: `/news/index.html`
has the folders and the last segment of `/news/`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from gossamer.priority.qrank.batch import Batch, Places
from gossamer.priority.qrank.tokens import FOREIGN, Tokens
from gossamer.priority.qrank.words import ROLES, STEM, are_words, begin_words, role_sets, roles

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

LISTED = (
    "url length", "scheme length", "host length", "path length", "query length", "path depth",
    "url digits", "host digits", "path digits", "query digits",
    "url capitals", "path capitals", "query capitals",
    "url terms", "scheme terms", "host terms", "path terms", "query terms",
    "path words", "query words",
)  # fmt: skip
ADDED = (
    "folders", "ends with slash", "bare host", "segment length", "segment terms", "segment digits", "segment words",
    "first segment length", "folder digits", "parameters", "digit share", "mean term", "longest term",
    "numbers in path", "numbers in segment", "years in path", "year", "last number",
    *(f"{role} in path" for role in ROLES),
)  # fmt: skip
NAMES = LISTED + ADDED
_CHUNK = 2048
"""URLs counted together: what they need stays in the processor's cache."""
_FIRST_YEAR, _LAST_YEAR = 1990, 2029
_LEADING_DIGIT = np.log10(np.maximum(np.arange(10), 1))
_FIELD = np.uint64(0xFFFF)


def features(urls: Sequence[str]) -> Floats:
    """The features of URLs: a row for each URL, a column for each of `NAMES`."""
    columns = np.empty((len(NAMES), len(urls)), np.float32)
    for start in range(0, len(urls), _CHUNK):
        part = urls[start : start + _CHUNK]
        _Chunk(part).write(columns[:, start : start + len(part)])
    return columns.T


def _packed(*classes: bytes) -> NDArray[np.uint64]:
    """For each character a number that counts up to four classes of characters, in 16 bits each."""
    table = np.zeros(256, np.uint64)
    for place, chars in enumerate(classes):
        table[np.frombuffer(chars, np.uint8)] += np.uint64(1 << 16 * place)
    return table


_MARKS = _packed(b"0123456789", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"/", b"&;")
_FOREIGN = _packed(bytes(range(FOREIGN, 256)))


class _Counts:
    """Running sums of packed numbers: a difference of two tells how often each class occurs between."""

    def __init__(self, values: NDArray[np.uint64]) -> None:
        self._sums = np.zeros(len(values) + 1, np.uint64)
        np.cumsum(values, out=self._sums[1:])

    def between(self, start: Places, end: Places, fields: int = 4) -> list[Ints]:
        packed = self._sums[end] - self._sums[start]
        return [(packed >> np.uint64(16 * field) & _FIELD).view(np.int64) for field in range(fields)]


def _log(counts: NDArray[np.generic], most: float) -> Floats:
    scaled = np.log1p(counts, dtype=np.float32) * np.float32(1 / np.log1p(most))
    found: Floats = np.minimum(scaled, np.float32(1))
    return found


def _share(some: Ints, of: Ints, otherwise: float) -> Floats:
    return np.where(of > 0, some / np.maximum(of, 1), otherwise).astype(np.float32)


class _Chunk:
    """URLs that are counted together."""

    def __init__(self, urls: Sequence[str]) -> None:
        self.batch = batch = Batch(urls)
        self.marks = _Counts(_MARKS[batch.chars])
        self.tokens = tokens = Tokens(batch.chars, batch.starts)
        self.lengths = tokens.ends - tokens.starts
        hashes = tokens.hashes()
        self.numbers = self.marks.between(tokens.starts, tokens.ends, 1)[0] == self.lengths
        self.words = are_words(hashes)
        long = np.flatnonzero(self.lengths > STEM)
        self.words[long] |= begin_words(tokens.beginnings(long, STEM))
        self.words &= ~self.numbers
        if batch.chars.max() >= FOREIGN:
            self.words |= _Counts(_FOREIGN[batch.chars]).between(tokens.starts, tokens.ends, 1)[0] > 0
        self.roles = roles(hashes)
        self.token_of = {
            name: tokens.before(getattr(batch, name))
            for name in ("starts", "scheme_end", "host", "path", "path_end", "query", "query_end", "segment")
        }

    def write(self, columns: Floats) -> None:
        """Writes features × URLs."""
        values: Mapping[str, NDArray[np.generic]] = {
            **self._listed(),
            **self._segments(),
            **self._numbers(),
            **self._roles(),
        }
        for name, column in zip(NAMES, columns, strict=True):
            column[:] = values[name]

    def _listed(self) -> dict[str, Floats]:
        b, t = self.batch, self.token_of
        url_digits, url_capitals = self.marks.between(b.starts, b.query_end, 2)
        (host_digits,) = self.marks.between(b.host, b.path, 1)
        path_digits, path_capitals, depth = self.marks.between(b.path, b.path_end, 3)
        query_digits, query_capitals, _, ampersands = self.marks.between(b.query, b.query_end)
        path_terms, query_terms = t["path_end"] - t["path"], t["query_end"] - t["query"]
        words = _Counts(self.words.astype(np.uint64))
        path_words = words.between(t["path"], t["path_end"], 1)[0]
        query_words = words.between(t["query"], t["query_end"], 1)[0]
        segment_words = words.between(t["segment"], t["path_end"], 1)[0]
        path_length, query_length = b.path_end - b.path, b.query_end - b.query
        return {
            "url length": _log(b.query_end - b.starts, 650),
            "scheme length": _log(b.scheme_end - b.starts, 5),
            "host length": _log(b.path - b.host, 50),
            "path length": _log(path_length, 300),
            "query length": _log(query_length, 300),
            "path depth": _log(depth, 20),
            "url digits": _log(url_digits, 100),
            "host digits": _log(host_digits, 50),
            "path digits": _log(path_digits, 100),
            "query digits": _log(query_digits, 100),
            "url capitals": _log(url_capitals, 100),
            "path capitals": _log(path_capitals, 100),
            "query capitals": _log(query_capitals, 100),
            "url terms": _log(t["query_end"] - t["starts"], 100),
            "scheme terms": _log(t["scheme_end"] - t["starts"], 1),
            "host terms": _log(t["path"] - t["host"], 10),
            "path terms": _log(path_terms, 50),
            "query terms": _log(query_terms, 50),
            "path words": _share(path_words, path_terms, 1),
            "query words": _share(query_words, query_terms, 1),
            "segment words": _share(segment_words, t["path_end"] - t["segment"], 1),
            "parameters": _log(np.where(query_length > 0, ampersands + 1, 0), 10),
            "digit share": _share(path_digits, path_length, 0),
            "mean term": _log(_share(path_length - depth, path_terms, 0), 20),
        }

    def _segments(self) -> dict[str, Floats]:
        b, t = self.batch, self.token_of
        segment_terms = t["path_end"] - t["segment"]
        starts_index = np.append(_is_index()[self.roles], False)[t["segment"]]
        is_index = starts_index & (segment_terms > 0) & (segment_terms <= 2)
        length = np.where(is_index, 0, b.path_end - b.segment)
        digits, _, slashes = self.marks.between(b.path, b.segment, 3)
        first_end = np.minimum(self.batch.slashes[np.searchsorted(b.slashes, b.path + 1)], b.path_end)
        first = np.maximum(first_end - b.path - 1, 0)
        return {
            "folders": _log(np.maximum(slashes - 1, 0) + (length > 0), 20),
            "ends with slash": (length == 0).astype(np.float32),
            "segment length": _log(length, 100),
            "segment terms": _log(np.where(is_index, 0, segment_terms), 20),
            "segment digits": _log(self.marks.between(b.segment, b.path_end, 1)[0], 20),
            "folder digits": _log(digits, 20),
            "first segment length": _log(first, 50),
            "bare host": ((length == 0) & (slashes <= 1) & (b.query_end <= b.path_end + 1)).astype(np.float32),
        }

    def _numbers(self) -> dict[str, Floats]:
        t, chars = self.token_of, self.batch.chars
        numbers = np.flatnonzero(self.numbers)
        starts, lengths = self.tokens.starts[numbers], self.lengths[numbers]
        digits = [chars[np.minimum(starts + place, len(chars) - 1)].astype(np.int64) - ord("0") for place in range(4)]
        year = digits[0] * 1000 + digits[1] * 100 + digits[2] * 10 + digits[3]
        is_year = (lengths == 4) & (year >= _FIRST_YEAR) & (year <= _LAST_YEAR)
        years = numbers[is_year]
        recent = (year[is_year] - _FIRST_YEAR + 1) / (_LAST_YEAR - _FIRST_YEAR + 1)
        size = np.clip((lengths - 1 + _LEADING_DIGIT[digits[0]]) / 6, 0.01, 1)
        in_path, _ = _last_between(numbers, size, t["path"], t["path_end"])
        in_segment, last = _last_between(numbers, size, t["segment"], t["path_end"])
        years_in_path, last_year = _last_between(years, recent, t["path"], t["path_end"])
        return {
            "numbers in path": _log(in_path, 8),
            "numbers in segment": _log(in_segment, 4),
            "years in path": _log(years_in_path, 2),
            "year": last_year,
            "last number": last,
            "longest term": _log(self._longest(), 30),
        }

    def _longest(self) -> Ints:
        """The length of the longest term of each path."""
        start, end = self.token_of["path"], self.token_of["path_end"]
        borders = np.empty(2 * len(start), np.int64)
        borders[0::2], borders[1::2] = start, end
        longest = np.maximum.reduceat(np.append(self.lengths, 0), borders)[0::2]
        return np.where(end > start, longest, 0)

    def _roles(self) -> dict[str, NDArray[np.bool_]]:
        t = self.token_of
        found: dict[str, NDArray[np.bool_]] = {}
        for names, packed in _role_counts():
            counts = _Counts(packed[self.roles])
            per_role = counts.between(t["path"], t["path_end"], len(names))
            found |= {f"{role} in path": count > 0 for role, count in zip(names, per_role, strict=True)}
        return found


@cache
def _role_counts() -> list[tuple[list[str], NDArray[np.uint64]]]:
    """The roles by fours, and for each set of roles a number that counts the four in 16 bits each."""
    names = list(ROLES)
    fours = [names[start : start + 4] for start in range(0, len(names), 4)]
    return [
        (
            four,
            np.array(
                [sum(1 << 16 * place for place, role in enumerate(four) if role in some) for some in role_sets()],
                np.uint64,
            ),
        )
        for four in fours
    ]


@cache
def _is_index() -> NDArray[np.bool_]:
    return np.array(["index" in some for some in role_sets()])


def _last_between(places: Places, values: NDArray[np.float64], start: Places, end: Places) -> tuple[Ints, Floats]:
    """How many of some places lie in each stretch, and the value of the last of them, 0 where there is none."""
    before, behind = np.searchsorted(places, start), np.searchsorted(places, end)
    values = np.append(values, 0.0)
    return behind - before, np.where(behind > before, values[behind - 1], 0.0).astype(np.float32)
