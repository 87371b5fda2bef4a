"""Makes a model from URLs with known ranks: what `gossamer qrank train` does.

Ranks are compared within a site, never across sites: PageRank counted in one crawl says nothing about pages of
another. A page's target is its place among the pages of its site. How good the model is on sites it has not seen
is measured with models that did not see them: hosts are dealt into folds, and each fold is predicted by a model of the
others. Pages are dealt in the same way, for a crawl goes on mostly on the sites it knows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.errors import UsageError
from gossamer.model.counts import counted
from gossamer.priority.qrank.features import NAMES, features
from gossamer.priority.qrank.learning import Schooling, teach
from gossamer.priority.qrank.model import Model
from gossamer.priority.qrank.network import Network

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

ALL_COLUMNS: Ints = np.arange(len(NAMES))
LEAST_PAGES = 30
"""Pages a site must have for its own figures; smaller ones are thrown together, as one site of small sites."""
MOST_PAGES = 4000
"""Pages of a site that are learnt from, drawn by lot."""
_FOLDS = 5
_PAGE_FOLDS = 3
_CALIBRATION_FOLDS = 3
_STEPS = 21
"""Entries of the table that turns places into importances."""


class SiteFigures(msgspec.Struct, frozen=True):
    """How well the ranks of one site were predicted."""

    site: str
    """Empty for the small sites together."""
    pages: int
    deviation: float
    """Mean absolute deviation of the importance (`importances`)."""
    correlation: float
    """Spearman's rank correlation; not a number where all ranks or all guesses are the same."""
    deviation_of_mean: float
    """Deviation of predicting the mean of the sites learnt from."""


class Figures(msgspec.Struct, frozen=True):
    """How well ranks were predicted by models that had not learnt from them; means over sites."""

    sites: int
    deviation: float
    correlation: float
    deviation_of_mean: float
    each: tuple[SiteFigures, ...]


class Trained(msgspec.Struct, frozen=True):
    """A model, and what is known of it."""

    model: bytes
    pages: int
    sites: int
    held_out: Figures | None
    """On sites that were not learnt from; None where there is only one."""
    other_pages: Figures
    """On pages that were not learnt from, of the same sites: what a crawl that goes on can expect."""


def train_from_rows(rows: Iterable[tuple[str, float]], seed: int = 1) -> Trained:
    """A model from URLs and their ranks, with figures from hosts and from pages held out."""
    urls, ranks = _checked(rows)
    names, sites = named_sites(urls)
    table, how = Table(features(urls), np.asarray(ranks, np.float64), sites), Schooling(seed=seed)
    luck = np.random.default_rng(seed)
    held_out = None
    if len(names) > 1:
        by_site = luck.permutation(len(names)) % min(_FOLDS, len(names))
        held_out = cross_validated(table, how, ALL_COLUMNS, by_site[sites], names)
    by_page = luck.permutation(len(urls)) % _PAGE_FOLDS
    other_pages = cross_validated(table, how, ALL_COLUMNS, by_page, names)
    return Trained(table.model(how, ALL_COLUMNS).dump(), len(urls), len(names), held_out, other_pages)


class Table:
    """Features, and ranks as targets: places and importances within the site."""

    def __init__(self, rows: Floats, ranks: NDArray[np.float64], sites: Ints) -> None:
        self.rows, self.ranks, self.sites = rows, ranks, sites
        self.places, self.importances = np.empty(len(ranks), np.float32), np.empty(len(ranks), np.float32)
        for members in _groups(sites):
            self.places[members] = places(ranks[members])
            self.importances[members] = importances(ranks[members])

    def without(self, chosen: NDArray[np.bool_]) -> Table:
        """The table without some rows; targets stay as they are."""
        rest = object.__new__(Table)
        rest.rows, rest.ranks, rest.places = self.rows[~chosen], self.ranks[~chosen], self.places[~chosen]
        rest.importances, rest.sites = self.importances[~chosen], self.sites[~chosen]
        return rest

    def model(self, how: Schooling, columns: Ints) -> Model:
        """A model of all rows."""
        luck = np.random.default_rng(how.seed)
        kept = np.concatenate([luck.permutation(members)[:MOST_PAGES] for members in _groups(self.sites)])
        rows, places, importances = self.rows[kept], self.places[kept], self.importances[kept]
        _, sites = np.unique(self.sites[kept], return_inverse=True)
        network = teach(rows, places, sites, columns, how)
        guessed = _guessed_unseen(rows, places, sites, columns, how) if sites.max() else network.predict(rows)
        return calibrated(network, guessed, importances)


def _guessed_unseen(rows: Floats, places: Floats, sites: Ints, columns: Ints, how: Schooling) -> Floats:
    """What networks say of sites that they did not see: of seen ones they are too sure."""
    guessed = np.empty(len(rows), np.float32)
    folds = sites % min(_CALIBRATION_FOLDS, int(sites.max()) + 1)
    for fold in range(folds.max() + 1):
        held = folds == fold
        _, others = np.unique(sites[~held], return_inverse=True)
        guessed[held] = teach(rows[~held], places[~held], others, columns, how).predict(rows[held])
    return guessed


def calibrated(network: Network, guessed: Floats, importances: Floats) -> Model:
    """The network with a table from places it guessed to the importances that deviate least from the true ones, all
    pages counting alike: medians of stretches of places, made ascending."""
    stretches = [part for part in np.array_split(np.argsort(guessed), _STEPS) if len(part)]
    middles = np.array([guessed[part].mean() for part in stretches], np.float32)
    medians = np.array([np.median(importances[part]) for part in stretches], np.float32)
    return Model(network, middles, np.maximum.accumulate(medians))


def cross_validated(table: Table, how: Schooling, columns: Ints, folds: Ints, names: Sequence[str] = ()) -> Figures:
    """Figures on rows that the model which predicts them has not seen: those with the same number in `folds`."""
    guessed, scaled, means = (np.empty(len(folds), np.float32) for _ in range(3))
    for fold in np.unique(folds):
        held = folds == fold
        rest = table.without(held)
        model = rest.model(how, columns)
        guessed[held] = model.network.predict(table.rows[held])
        scaled[held] = model.scaled(guessed[held])
        means[held] = site_mean(rest)
    each = []
    for members in _groups(table.sites):
        number, truth = int(table.sites[members[0]]), table.importances[members]
        deviations = (float(np.abs(guess[members] - truth).mean()) for guess in (scaled, means))
        deviation, of_mean = deviations
        correlation = spearman(guessed[members], table.ranks[members])
        name = names[number] if names else str(number)
        each.append(SiteFigures(name, len(members), deviation, correlation, of_mean))
    return _mean_figures(each)


def _mean_figures(each: Sequence[SiteFigures]) -> Figures:
    correlations = [one.correlation for one in each if not math.isnan(one.correlation)]
    return Figures(
        len(each),
        float(np.mean([one.deviation for one in each])),
        float(np.mean(correlations)) if correlations else math.nan,
        float(np.mean([one.deviation_of_mean for one in each])),
        tuple(each),
    )


def site_mean(table: Table) -> float:
    """The mean importance of a page, each site counting alike."""
    return float(np.mean([table.importances[members].mean() for members in _groups(table.sites)]))


def places(ranks: NDArray[np.float64]) -> Floats:
    """Places of 0…1 by rank, ties in the middle of theirs."""
    _, which, counts = np.unique(ranks, return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - counts / 2
    found: Floats = (middles[which] / len(ranks)).astype(np.float32)
    return found


def importances(ranks: NDArray[np.float64]) -> Floats:
    """Ranks in logarithmic steps, the least 0, the greatest 1."""
    logs = np.log(ranks)
    least, greatest = logs.min(), logs.max()
    found: Floats = ((logs - least) / ((greatest - least) or 1.0)).astype(np.float32)
    return found


def spearman(one: NDArray[np.floating], other: NDArray[np.floating]) -> float:
    """The correlation of ranks, ties in the middle; not a number where either is the same for all."""
    a, b = (places(np.asarray(values, np.float64)).astype(np.float64) for values in (one, other))
    a, b = a - a.mean(), b - b.mean()
    size = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / size if size else math.nan


def named_sites(urls: Sequence[str]) -> tuple[list[str], Ints]:
    """Hosts, and which of them each URL is of; hosts with few pages count as one, with an empty name."""
    hosts = np.array([_host(url) for url in urls], dtype=object).astype(str)
    names, numbers, counts = np.unique(hosts, return_inverse=True, return_counts=True)
    names[counts < LEAST_PAGES] = ""
    kept, renamed = np.unique(names[numbers], return_inverse=True)
    return [str(name) for name in kept], renamed.astype(np.int64)


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc
    except ValueError as error:
        raise UsageError(f"not a URL: {url[:80]!r}") from error


def _checked(rows: Iterable[tuple[str, float]]) -> tuple[list[str], list[float]]:
    urls, ranks = [], []
    for number, (url, rank) in enumerate(rows, 1):
        if not (math.isfinite(rank) and rank > 0):
            raise UsageError(f"row {number}: the rank of {url[:80]!r} is {rank}; ranks must be numbers above 0")
        if "://" not in url:
            raise UsageError(f"row {number}: {url[:80]!r} is not an absolute URL")
        urls.append(url)
        ranks.append(rank)
    if len(urls) < LEAST_PAGES:
        raise UsageError(
            f"{counted(urls, 'URL is', 'URLs are')} too few to learn from; at least {LEAST_PAGES} are needed"
        )
    if min(ranks) == max(ranks):
        raise UsageError("all ranks are the same: there is nothing to learn")
    return urls, ranks


def _groups(sites: Ints) -> list[Ints]:
    """The rows of each site."""
    order = np.argsort(sites, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(sites[order])) + 1)
