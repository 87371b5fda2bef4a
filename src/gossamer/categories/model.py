"""A trained classifier: what category a page is of, how sure that is, and by which words.

It travels as bytes: a mark, a checksum, and msgpack. Nothing of it is ever executed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import msgspec
import numpy as np
import xxhash
from numpy.typing import NDArray

from gossamer.categories.report import Report
from gossamer.categories.tokens import page_words, stem
from gossamer.errors import CorruptError

SOURCE = "bayes"
"""What `category_source` says of a category that this model gave."""
MIN_WORDS = 5
"""Distinct known words below which a page gets no category."""
_MARK = b"gossamer categories 1\n"
_REMEMBERED = 200_000
_WAY_OUT = "delete it, or train again with `gossamer categories train`"
Floats = NDArray[np.float32]


class Guess(NamedTuple):
    """What is said of a page."""

    category: str
    """`""`: unsure."""
    confidence: float
    """0…1: how often such a guess is right."""


class Opinion(msgspec.Struct, frozen=True):
    """A guess with its grounds."""

    category: str
    confidence: float
    best: str
    """The likeliest category, also where it is not sure enough to be the answer."""
    confidences: dict[str, float]
    """Of all categories, likeliest first."""
    known: int
    """Distinct words that the model knows."""
    words: tuple[tuple[str, float], ...]
    """Those that spoke for the likeliest category most, with what they added."""
    against: tuple[tuple[str, float], ...]
    """Those that spoke against it."""


class _Stored(msgspec.Struct, frozen=True):
    categories: tuple[str, ...]
    stems: str
    weights: bytes
    priors: bytes
    report: Report


class _Numbers(dict[str, int]):
    """Word as written → number of its stem. Unknown stems get the numbers after the vocabulary, so that they can be
    told apart; forgotten when there are too many."""

    def __init__(self, stems: tuple[str, ...]) -> None:
        super().__init__()
        self._vocabulary = {word: number for number, word in enumerate(stems)}
        self._strangers: dict[str, int] = {}

    def __missing__(self, word: str) -> int:
        root = stem(word)
        number = self._vocabulary.get(root)
        if number is None:
            number = self._strangers.setdefault(root, len(self._vocabulary) + len(self._strangers))
        self[word] = number
        return number

    def forget(self) -> None:
        """Make room, between two pages: inside one the numbers must stay."""
        if len(self) > _REMEMBERED:
            self.clear()
            self._strangers.clear()


class Model:
    """Naive Bayes with fixed weights."""

    def __init__(
        self, *, categories: tuple[str, ...], stems: tuple[str, ...], weights: Floats, priors: Floats,
        report: Report,
    ) -> None:  # fmt: skip
        self.categories, self.report = categories, report
        self._stems, self._weights, self._priors = stems, weights, priors
        self._numbers = _Numbers(stems)

    def predict(self, title: str, text: str) -> Guess:
        """The category of a page and how sure that is; no category where it is not sure enough."""
        words, values = self._vector(page_words(title, text))
        if len(words) < MIN_WORDS:
            return Guess("", 0.0)
        confidences = self._confidences(values @ self._weights[words])
        best = int(confidences.argmax())
        confidence = float(confidences[best])
        return Guess(self.categories[best] if confidence >= self.report.threshold else "", confidence)

    def explain(self, title: str, text: str, shown: int = 10) -> Opinion:
        """The same with the words that made the difference."""
        page = page_words(title, text)
        words, values = self._vector(page)
        confidences = self._confidences(values @ self._weights[words])
        best = int(confidences.argmax())
        added = values * self._weights[words, best]
        written: dict[int, str] = {}
        for word in page:
            written.setdefault(self._numbers[word], word)
        spoken = sorted((float(value), written[int(number)]) for number, value in zip(words, added, strict=True))
        guess = self.predict(title, text)
        order = np.argsort(-confidences, kind="stable")
        return Opinion(
            guess.category, guess.confidence, self.categories[best],
            {self.categories[at]: float(confidences[at]) for at in order}, len(words),
            tuple((word, value) for value, word in reversed(spoken[-shown:]) if value > 0),
            tuple((word, value) for value, word in spoken[:shown] if value < 0),
        )  # fmt: skip

    def _vector(self, page: list[str]) -> tuple[NDArray[np.int64], Floats]:
        """The known words and their values; see `corpus`, which does the same for many pages."""
        self._numbers.forget()
        numbers = np.fromiter(map(self._numbers.__getitem__, page), np.int64, len(page))
        found, times = np.unique(numbers, return_counts=True)
        values = 1.0 + np.log(times, dtype=np.float32)
        values /= float(values @ values) ** 0.5 or 1.0
        known = int(np.searchsorted(found, len(self._stems)))
        return found[:known], np.asarray(values[:known], np.float32)

    def _confidences(self, evidence: Floats) -> Floats:
        scores = evidence + self._priors
        powers = np.exp(scores - scores.max())
        return np.asarray(powers / powers.sum())

    def to_bytes(self) -> bytes:
        """The model as it is stored."""
        payload = msgspec.msgpack.encode(
            _Stored(
                self.categories, "\n".join(self._stems), self._weights.tobytes(), self._priors.tobytes(),
                self.report,
            )
        )  # fmt: skip
        return _MARK + xxhash.xxh3_64_digest(payload) + payload

    @staticmethod
    def from_bytes(data: bytes) -> Model:
        """A stored model; `CorruptError` where the bytes are not what was written."""
        if not data.startswith(_MARK):
            raise CorruptError(f"the model of categories is of another version, or none: {_WAY_OUT}")
        payload = data[len(_MARK) + 8 :]
        if xxhash.xxh3_64_digest(payload) != data[len(_MARK) : len(_MARK) + 8]:
            raise CorruptError(f"the model of categories is damaged: {_WAY_OUT}")
        stored = msgspec.msgpack.decode(payload, type=_Stored)
        stems = tuple(stored.stems.split("\n")) if stored.stems else ()
        return Model(
            categories=stored.categories, stems=stems,
            weights=_floats(stored.weights).reshape(len(stems), len(stored.categories)),
            priors=_floats(stored.priors), report=stored.report,
        )  # fmt: skip


@lru_cache(maxsize=2)
def model_of(data: bytes) -> Model | None:
    """The model of these bytes, read once; None where there are none."""
    return Model.from_bytes(data) if data else None


def _floats(data: bytes) -> Floats:
    return np.frombuffer(data, "<f4")
