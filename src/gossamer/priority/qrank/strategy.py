"""The strategies that go by QRank: the URL alone (S4.2), and the URL with the links that lead to it (S4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gossamer.model.records import Discovered
from gossamer.priority.qrank.model import Model, default_model, load_model
from gossamer.priority.strategy import Context, Floats, Standing

_OCTAVES = 12.0
"""Halvings of the score from the best URL to the worst: as many as between URLs that fit a rule and that do not."""


def spread(places: Floats | NDArray[np.float32]) -> Floats:
    """Scores of (0, 1] for places of 0…1: equal steps between places are equal factors between scores."""
    return np.exp2(-_OCTAVES * (1.0 - np.clip(np.asarray(places, np.float64), 0.0, 1.0)))


def _model(context: Context) -> Model:
    return load_model(context.model) if context.model else default_model()


class Network:
    """Scores a URL once, by what the network says of it."""

    def __init__(self, context: Context) -> None:
        self._model = _model(context)

    def scores(self, found: Sequence[Discovered]) -> Floats:
        """A score of (0, 1] for each URL."""
        return spread(self._model.place([one.url for one in found]))


class NetworkAndGraph:
    """Each page hands its QRank out to its links in equal parts.

    The cash of a standing is the page's QRank: what the network says at first, and then what pages that
    link to it add, each once. History and time are not used.
    """

    joins: Literal["sum", "min"] = "sum"
    again = False

    def __init__(self, context: Context) -> None:
        self._model = _model(context)

    def start(self, found: Sequence[Discovered], now: float) -> Standing:
        """What the network says of new URLs."""
        places = self._model.place([one.url for one in found]).astype(np.float64)
        return Standing(places, np.zeros(len(found)), np.full(len(found), now))

    def give(self, pages: Standing, links: Floats, now: float) -> tuple[Floats, Standing]:
        """A page's QRank over the number of its links; the page keeps its own."""
        return pages.cash / np.maximum(links, 1.0), pages

    def gain(self, targets: Standing, gifts: Floats) -> Standing:
        """Gifts add to the QRank."""
        return targets._replace(cash=targets.cash + gifts)

    def values(self, standings: Standing) -> Floats:
        """QRanks have no end: 1 is half way, and what links add beyond that closes in on the best score."""
        return spread(standings.cash / (1.0 + standings.cash))
