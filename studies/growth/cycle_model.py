"""The seed's model of a cycle, fitted to what pages cost: t = n_urls · c₁ + n_fetched · c₂.

c₁ is what each known URL costs in every cycle, c₂ what each fetched page costs. Divided by the pages of a cycle, a page
costs c₂ + c₁ · n_urls / n_fetched: a straight line over the size of the table. Intervals come from drawing the rounds
anew (bootstrap): in a round every size did one batch, so that a round in which the machine was busy is drawn for all
sizes or for none. They hold the noise of measuring, not the error of the model: see `Fit.misfit`.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

CYCLE = 20_000
"""Pages of a cycle in the seed."""
SEED_RATIO = 0.0013
"""The seed's c₁ / c₂."""
_DRAWS = 1000
Floats = npt.NDArray[np.float64]
Interval = tuple[float, float]


class Fit(msgspec.Struct, frozen=True):
    """Constants of the model in microseconds, each with the interval that holds it in 95 of 100 cases."""

    per_url: float
    """c₁."""
    per_url_interval: Interval
    per_page: float
    """c₂."""
    per_page_interval: Interval
    ratio: float
    """c₁ / c₂."""
    ratio_interval: Interval
    misfit: float
    """The greatest deviation of the line from a measured cost, as a share of it."""

    def cost(self, urls: float) -> float:
        """Microseconds per page."""
        return self.per_page + self.per_url * urls / CYCLE

    def share(self, urls: float) -> float:
        """Share of a cycle that goes into the table."""
        return table_share(self.ratio, urls)


def table_share(ratio: float, urls: float, fetched: int = CYCLE) -> float:
    """Share of a cycle that goes into the table where c₁ / c₂ is as given."""
    return ratio * urls / (ratio * urls + fetched)


def fit_cycle(urls: Sequence[float], costs: Sequence[Sequence[float]], seed: int, besides: float = 0.0) -> Fit:
    """Least squares over the mean costs; `costs` has a list per size with the microseconds per page of every round.

    `besides` is what a page costs whatever the table: it goes into c₂.
    """
    sizes, rounds = np.asarray(urls, float) / CYCLE, np.asarray(costs, float) + besides
    means = rounds.mean(axis=1)
    slope, start = (float(one) for one in _line(sizes, means))
    slopes, starts = _line(sizes, _redrawn(rounds, seed))
    return Fit(
        slope, _interval(slopes), start, _interval(starts), slope / start, _interval(slopes / starts),
        misfit=float(np.max(np.abs(start + slope * sizes - means) / means)),
    )  # fmt: skip


class Growth(msgspec.Struct, frozen=True):
    """A cost that grows with the logarithm of the table, as the depth of a search tree does."""

    start: float
    """Microseconds per page with one URL."""
    per_decade: float
    """More for each tenfold table."""
    misfit: float

    def cost(self, urls: float) -> float:
        """Microseconds per page."""
        return float(self.start + self.per_decade * np.log10(urls))


def fit_logarithm(urls: Sequence[float], costs: Sequence[float]) -> Growth:
    """Least squares on the logarithm of the size."""
    sizes, means = np.log10(np.asarray(urls, float)), np.asarray(costs, float)
    slope, start = (float(one) for one in _line(sizes, means))
    return Growth(start, slope, float(np.max(np.abs(start + slope * sizes - means) / means)))


def _line(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Slope and start of the line of least squares, for one row of values or for many."""
    middle = x - x.mean()
    slope: Floats = y @ middle / (middle @ middle)
    return slope, y.mean(axis=-1) - slope * x.mean()


def _redrawn(rounds: Floats, seed: int) -> Floats:
    """Mean costs of the sizes, one row for each drawing of the rounds."""
    number = rounds.shape[1]
    drawn = np.random.default_rng(seed).integers(0, number, (_DRAWS, number))
    means: Floats = rounds[:, drawn].mean(axis=2).T
    return means


def _interval(drawn: Floats) -> Interval:
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)
