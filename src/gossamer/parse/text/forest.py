"""Boosted decision trees, evaluated for many samples at once with NumPy.

The trees are symmetric: all nodes of a level ask the same question. So a tree of depth
six is six questions whose answers are the bits of a leaf's number, and all questions of
all trees are one comparison of two arrays, without a walk down any tree. A third of the
questions is asked by several trees, and answered once.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from gossamer.compiled import twin

_COMPILED = twin("forest")
_CHUNK = 512
"""Samples evaluated together: what they need in memory stays in the processor's cache."""


class Forest:
    """Trees with one or more outputs, of a depth of at most eight: the number of a leaf is a byte."""

    def __init__(self, arrays: Mapping[str, npt.NDArray[np.generic]], name: str) -> None:
        features = np.asarray(arrays[f"{name}.features"], np.int64)  # trees × depth
        borders = np.asarray(arrays[f"{name}.borders"], np.float32)  # trees × depth
        leaves = np.asarray(arrays[f"{name}.leaves"], np.float32)  # trees × 2^depth × outputs
        self._bias = np.asarray(arrays[f"{name}.bias"], np.float32)
        trees, self._depth = features.shape
        self._trees = features.astype(np.int32), borders, leaves, self._bias
        questions = list(zip(features.T.ravel().tolist(), borders.T.ravel().tolist(), strict=True))
        asked = sorted(set(questions))
        numbers = {question: number for number, question in enumerate(asked)}
        self._asked_of = np.array([feature for feature, _ in asked])
        self._limits = np.array([limit for _, limit in asked], np.float32)[:, None]
        self._numbers = np.array([numbers[question] for question in questions])
        self._starts = (np.arange(trees) * leaves.shape[1])[:, None]
        self._leaves = np.ascontiguousarray(leaves.reshape(-1, leaves.shape[2]))
        if leaves.shape[2] == 1:
            self._leaves = self._leaves[:, 0]

    def scores(self, rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Features × samples → samples, or samples × outputs."""
        if _COMPILED is not None:
            found: npt.NDArray[np.float32] = _COMPILED.scores(np.ascontiguousarray(rows), *self._trees)
            return found[:, 0] if found.shape[1] == 1 else found
        if rows.shape[1] <= _CHUNK:
            return self._chunk(rows)
        # in equal parts, since NumPy would add up the trees of a part with one sample in another order
        parts = np.array_split(rows, -(-rows.shape[1] // _CHUNK), axis=1)
        return np.concatenate(list(map(self._chunk, parts)))

    def _chunk(self, rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        answers = (rows.take(self._asked_of, axis=0) > self._limits).view(np.uint8)
        levels = answers.take(self._numbers, axis=0).reshape(self._depth, -1, rows.shape[1])
        leaf = levels[-1]
        for level in range(self._depth - 2, -1, -1):
            leaf += leaf
            leaf |= levels[level]
        places = leaf.astype(np.int64)
        places += self._starts
        total: npt.NDArray[np.float32] = np.add.reduce(self._leaves.take(places, axis=0), axis=0) + self._bias
        return total


def sigmoid(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Scores as probabilities."""
    return (1 / (1 + np.exp(-scores))).astype(np.float32)


def softmax(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Scores of outputs as probabilities that add up to 1."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares: npt.NDArray[np.float32] = powers / powers.sum(axis=-1, keepdims=True)
    return shares
