"""Teaches a network, with NumPy alone: Adam, cross entropy, sites that count by the power of their size.

A page's target is its place among the pages of its own site. Whole sites lie above or below what their
URLs suggest (all of a site's paths may be long), so each site has an offset of its own while the
network is taught, and the network learns what tells the pages of a site from each other.
The offsets are thrown away.
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.priority.qrank.network import HIDDEN, Network

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


class Schooling(msgspec.Struct, frozen=True):
    """How a network is taught."""

    steps: int = 400
    batch: int = 1024
    """Rows per step, a quarter of all at most."""
    rate: float = 0.003
    decay: float = 1.0
    """How much of each weight is lost per step, as a multiple of the rate."""
    power: float = 0.3
    """A site of n pages counts as n to this power."""
    offsets: bool = True
    seed: int = 1


def teach(rows: Floats, targets: Floats, sites: Ints, columns: Ints, how: Schooling) -> Network:
    """A network that predicts targets of 0…1 from columns of the rows; `sites` numbers the rows' sites from 0."""
    luck = np.random.default_rng(how.seed)
    inputs = rows[:, columns].astype(np.float32)
    mean = inputs.mean(axis=0)
    spread = inputs.std(axis=0) + np.float32(0.05)
    inputs -= mean
    inputs /= spread
    width, hidden = len(columns), HIDDEN * len(columns)
    weights = [
        luck.normal(0, 1 / np.sqrt(width), (width, hidden)).astype(np.float32),
        np.zeros(hidden, np.float32),
        luck.normal(0, 1 / np.sqrt(hidden), hidden).astype(np.float32),
        np.zeros(1, np.float32),
        np.zeros(sites.max() + 1, np.float32),
    ]
    decays = (how.decay, 0.0, how.decay, 0.0, how.decay)
    optimiser = _Adam(weights, how)
    chance = np.bincount(sites).astype(float)[sites] ** (how.power - 1)
    edges = np.cumsum(chance / chance.sum())
    size = min(how.batch, max(len(inputs) // 4, 32))
    for step in range(how.steps):
        picked = np.minimum(np.searchsorted(edges, luck.random(size)), len(inputs) - 1)
        slopes = _slopes(weights, inputs[picked], targets[picked], sites[picked], how.offsets)
        optimiser.step(slopes, decays, 1 - step / how.steps)
    first = weights[0] / spread[:, None]
    bias = weights[1] - (mean / spread) @ weights[0]
    return Network(columns, first, bias, weights[2], float(weights[3][0]))


def _slopes(weights: list[Floats], inputs: Floats, targets: Floats, sites: Ints, offsets: bool) -> list[Floats]:
    """The slopes of the mean cross entropy."""
    first, first_bias, second, second_bias, site_bias = weights
    layer = 1 / (1 + np.exp(-(inputs @ first + first_bias)))
    known = site_bias[sites] if offsets else np.float32(0)
    guesses = 1 / (1 + np.exp(-(layer @ second + second_bias + known)))
    error = ((guesses - targets) / len(targets)).astype(np.float32)
    back = error[:, None] * second * layer * (1 - layer)
    site_slopes = np.bincount(sites, error, len(site_bias)).astype(np.float32) if offsets else np.zeros_like(site_bias)
    return [inputs.T @ back, back.sum(axis=0), layer.T @ error, error.sum(keepdims=True), site_slopes]


class _Adam:
    """Steps along slopes, each weight at its own pace."""

    def __init__(self, weights: list[Floats], how: Schooling) -> None:
        self._weights, self._how = weights, how
        self._means = [np.zeros_like(weight) for weight in weights]
        self._squares = [np.zeros_like(weight) for weight in weights]
        self._count = 0

    def step(self, slopes: list[Floats], decays: tuple[float, ...], left: float) -> None:
        """One step, shorter the less is `left` of the lesson."""
        self._count += 1
        rate = self._how.rate * left
        parts = zip(self._weights, slopes, self._means, self._squares, decays, strict=True)
        for weight, slope, mean, square, decay in parts:
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope * slope - square)
            pace = np.sqrt(square / (1 - 0.999**self._count)) + 1e-8
            weight -= rate * (mean / (1 - 0.9**self._count) / pace + decay * weight)
