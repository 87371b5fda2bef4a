"""Boosted decision trees, evaluated for many samples at once with NumPy.

The trees are symmetric: all nodes of a level ask the same question. So a tree of depth
six is six questions whose answers are the bits of a leaf's number, and all questions of
all trees are one comparison of two arrays, without a walk down any tree.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

_CHUNK = 512
"""Samples evaluated together: what they need in memory stays in the processor's cache."""


class Forest:
    """Trees with one or more outputs."""

    def __init__(self, arrays: Mapping[str, npt.NDArray[np.generic]], name: str) -> None:
        self._features = np.asarray(arrays[f"{name}.features"], np.int64)  # trees × depth
        self._borders = np.asarray(arrays[f"{name}.borders"], np.float32)  # trees × depth
        leaves = np.asarray(arrays[f"{name}.leaves"], np.float32)  # trees × 2^depth × outputs
        self._bias = np.asarray(arrays[f"{name}.bias"], np.float32)
        trees, self._depth = self._features.shape
        self._order = np.ascontiguousarray(self._features.T).ravel()
        self._limits = np.ascontiguousarray(self._borders.T).ravel()[:, None]
        self._starts = (np.arange(trees) * leaves.shape[1])[:, None]
        self._leaves = np.ascontiguousarray(leaves.reshape(-1, leaves.shape[2]))
        if leaves.shape[2] == 1:
            self._leaves = self._leaves[:, 0]

    def scores(self, rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Features × samples → samples, or samples × outputs."""
        parts = [self._chunk(rows[:, start : start + _CHUNK]) for start in range(0, rows.shape[1], _CHUNK)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _chunk(self, rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        answers = (rows[self._order] > self._limits).view(np.uint8).reshape(self._depth, -1, rows.shape[1])
        numbers = answers[0].astype(np.uint16)
        for level in range(1, self._depth):
            numbers |= answers[level].astype(np.uint16) << level
        found = self._leaves[numbers + self._starts]
        total: npt.NDArray[np.float32] = found.sum(axis=0, dtype=np.float32) + self._bias
        return total


def sigmoid(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Scores as probabilities."""
    return (1 / (1 + np.exp(-scores))).astype(np.float32)


def softmax(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Scores of outputs as probabilities that add up to 1."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares: npt.NDArray[np.float32] = powers / powers.sum(axis=-1, keepdims=True)
    return shares
