"""Why a URL has its place: what each feature adds, compared with the start page of the same host.

The network's slope is followed from the features of the start page to those of the URL, and each feature gets its
part of the way (integrated gradients): the parts sum to the difference of the two places.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.priority.qrank.features import NAMES, features
from gossamer.priority.qrank.model import Model
from gossamer.priority.qrank.network import Network

_STEPS = 64
_LEAST = 1e-4


class Move(msgspec.Struct, frozen=True):
    """What a feature does to the place of a URL."""

    feature: str
    value: float
    """Of the URL, 0…1."""
    start: float
    """Of the start page."""
    effect: float
    """How far it moves the URL, in places: up where it is positive."""


class Explanation(msgspec.Struct, frozen=True):
    """What the model says of a URL, and why."""

    url: str
    place: float
    importance: float
    start: str
    start_place: float
    moves: tuple[Move, ...]
    """The strongest first."""


def explained(model: Model, url: str) -> Explanation:
    """The place of an absolute URL and what moved it there."""
    parts = urlsplit(url)
    start = f"{parts.scheme}://{parts.netloc}/"
    rows = features([url, start])
    here, there = (float(place) for place in model.network.predict(rows))
    effects = _effects(model.network, rows[1].astype(np.float64), rows[0].astype(np.float64))
    moves = [
        Move(NAMES[column], float(rows[0, column]), float(rows[1, column]), float(effect))
        for column, effect in zip(model.network.columns, effects, strict=True)
        if abs(effect) >= _LEAST
    ]
    moves.sort(key=lambda move: -abs(move.effect))
    return Explanation(url, here, float(model.scaled(np.array([here], np.float32))[0]), start, there, tuple(moves))


def _effects(network: Network, start: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
    """The part of each of the network's columns in the way from one row to another."""
    start, end = start[network.columns], end[network.columns]
    along = (np.arange(_STEPS)[:, None] + 0.5) / _STEPS
    layer = 1 / (1 + np.exp(-((start + along * (end - start)) @ network.hidden + network.hidden_bias)))
    places = 1 / (1 + np.exp(-(layer @ network.output + network.output_bias)))
    back = (places * (1 - places))[:, None] * layer * (1 - layer) * network.output
    slopes: NDArray[np.float64] = (back @ network.hidden.T).mean(axis=0)
    return slopes * (end - start)
