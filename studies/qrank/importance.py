"""How well the importance of a page is told from its URL: on sites never seen, and on the rest of a site that is known.

Sites come as files in a folder:

    NAME.pages.tsv.gz        path, links to the page, links from it, PageRank × pages of the site; one site each
    NAME_url_pagerank.tsv    URL, links to it, links from it, PageRank; many hosts with few pages each
    further/                 the same; these sites are learnt from and not tested

The importance is PageRank in logarithmic steps, each site's least page 0, its greatest 1. The deviation is the mean
absolute one, as a share of that scale; the correlation is that of ranks, Spearman's.
"""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.errors import UsageError
from gossamer.priority.qrank.features import LISTED, features
from gossamer.priority.qrank.learning import Schooling, teach
from gossamer.priority.qrank.training import ALL_COLUMNS, Table, importances, site_mean, spearman

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MEAN, MEDIAN, SEED, OURS = "mean of others", "median of others", "seed's network", "ours"
OWN_MEDIAN, OWN = "own median", "own crawl"
UNSEEN = (MEAN, MEDIAN, SEED, OURS)
CONTESTANTS = (*UNSEEN, OWN_MEDIAN, OWN)
NETWORKS = (SEED, OURS, OWN)
_SEEDS_WAY = Schooling(steps=2000, decay=0.0, power=1.0, offsets=False)
_INDEX = "/index.html"
_HOST_FOLDS, _THIRDS = 5, 3
_ONE_SITE, _MANY_HOSTS = ".pages.tsv.gz", "_url_pagerank.tsv"


class Site(msgspec.Struct, frozen=True):
    """The pages of a site, or of many small ones."""

    name: str
    urls: list[str]
    ranks: NDArray[np.float64]
    folds: Ints
    """Rows that must be held out together have the same number: all of a site; of many sites, those of a host."""

    def sample(self, most: int, seed: int) -> Site:
        """At most so many of its pages, drawn by lot, held out together."""
        chosen = np.sort(np.random.default_rng(seed).permutation(len(self.urls))[:most])
        urls = [self.urls[row] for row in chosen.tolist()]
        return Site(self.name, urls, self.ranks[chosen], np.zeros(len(urls), np.int64))


class Prepared(msgspec.Struct, frozen=True):
    """A site with its features: as it is, and as it is learnt from."""

    site: Site
    rows: Floats
    learnt: Floats


class Score(msgspec.Struct, frozen=True):
    """How well the importance of a site's pages was told."""

    site: str
    pages: int
    deviations: dict[str, float]
    """Contestant → mean absolute deviation."""
    correlations: dict[str, float]
    """Network → rank correlation."""


def read_sites(folders: Sequence[Path]) -> list[Site]:
    """The sites of folders, by name; `UsageError` where there are none."""
    sites = []
    for folder in folders:
        sites += [_one_site(file) for file in sorted(folder.glob(f"*{_ONE_SITE}"))]
        sites += [_many_hosts(file) for file in sorted(folder.glob(f"*{_MANY_HOSTS}"))]
    if not sites:
        raise UsageError(f"no *{_ONE_SITE} or *{_MANY_HOSTS} in {', '.join(map(str, folders))}")
    return sites


def in_both_forms(urls: Sequence[str], seed: int) -> list[str]:
    """Half of the index pages, by lot, as the folders that live sites call them."""
    luck = random.Random(seed)
    return [url[: 1 - len(_INDEX)] if url.endswith(_INDEX) and luck.random() < 0.5 else url for url in urls]


def prepare(site: Site) -> Prepared:
    """The site with its features."""
    return Prepared(site, features(site.urls), features(in_both_forms(site.urls, 1)))


def score(held: Prepared, others: Sequence[Prepared], how: Schooling, thirds: int = _THIRDS) -> Score:
    """One site, told by models of the others, and so many of its thirds by models of the other two."""
    deviations, correlations = _score_unseen(held, others, how)
    own_deviations, own_correlation = _score_own(held, how, thirds)
    return Score(
        held.site.name,
        len(held.site.urls),
        deviations | own_deviations,
        correlations | {OWN: own_correlation},
    )


def _score_unseen(
    held: Prepared, others: Sequence[Prepared], how: Schooling
) -> tuple[dict[str, float], dict[str, float]]:
    guesses = {name: np.zeros(len(held.site.urls), np.float32) for name in UNSEEN}
    ranked = guesses[OURS].copy()
    for fold in np.unique(held.site.folds):
        chosen = held.site.folds == fold
        table = _table(others, held, ~chosen)
        guesses[MEAN][chosen] = site_mean(table)
        guesses[MEDIAN][chosen] = np.median(table.importances)
        guesses[SEED][chosen] = _seeds_guess(table, held.rows[chosen], how)
        model = table.model(how, ALL_COLUMNS)
        ranked[chosen] = model.network.predict(held.rows[chosen])
        guesses[OURS][chosen] = model.scaled(ranked[chosen])
    truth = importances(held.site.ranks)
    deviations = {name: _deviation(guess, truth) for name, guess in guesses.items()}
    return deviations, {SEED: spearman(guesses[SEED], held.site.ranks), OURS: spearman(ranked, held.site.ranks)}


def _seeds_guess(table: Table, rows: Floats, how: Schooling) -> Floats:
    """The network of S4.2 on the features listed there, taught the importance of all pages alike."""
    way = msgspec.structs.replace(_SEEDS_WAY, seed=how.seed, batch=how.batch)
    return teach(table.rows, table.importances, table.sites, np.arange(len(LISTED)), way).predict(rows)


def _score_own(held: Prepared, how: Schooling, thirds: int) -> tuple[dict[str, float], float]:
    """Two thirds of the pages, drawn by lot, are what a crawl has ranked; the rest is told from them."""
    ranks, count = held.site.ranks, len(held.site.urls)
    truth, one = importances(ranks), np.zeros(count, np.int64)
    parts = np.random.default_rng(how.seed).permutation(count) % _THIRDS
    deviations: dict[str, list[float]] = {OWN_MEDIAN: [], OWN: []}
    correlations = []
    for third in range(thirds):
        chosen = parts == third
        table = Table(held.rows[~chosen], ranks[~chosen], one[~chosen])
        model = table.model(how, ALL_COLUMNS)
        guessed = model.network.predict(held.rows[chosen])
        deviations[OWN].append(_deviation(model.scaled(guessed), truth[chosen]))
        deviations[OWN_MEDIAN].append(_deviation(np.median(table.importances), truth[chosen]))
        correlations.append(spearman(guessed, ranks[chosen]))
    return {name: float(np.mean(values)) for name, values in deviations.items()}, float(np.mean(correlations))


def mean_score(scores: Sequence[Score]) -> Score:
    """The mean over sites, each counting alike."""
    return Score(
        "all sites",
        sum(one.pages for one in scores),
        {name: float(np.mean([one.deviations[name] for one in scores])) for name in CONTESTANTS},
        {name: float(np.nanmean([one.correlations[name] for one in scores])) for name in NETWORKS},
    )


def _deviation(guess: Floats | np.floating, truth: Floats) -> float:
    return float(np.abs(guess - truth).mean())


def _table(others: Sequence[Prepared], held: Prepared, rest: Bools) -> Table:
    """All other sites, and the other hosts of a file of many."""
    parts = [(one.learnt, one.site.ranks) for one in others]
    if rest.any():
        parts.append((held.learnt[rest], held.site.ranks[rest]))
    numbers = np.concatenate([np.full(len(ranks), number) for number, (_, ranks) in enumerate(parts)])
    return Table(np.concatenate([rows for rows, _ in parts]), np.concatenate([ranks for _, ranks in parts]), numbers)


def _one_site(file: Path) -> Site:
    name = file.name.removesuffix(_ONE_SITE)
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    urls = [f"https://www.{name}.org{row[0]}" for row in rows]
    return Site(name, urls, _ranks(file, rows), np.zeros(len(rows), np.int64))


def _many_hosts(file: Path) -> Site:
    with file.open(encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    urls = [row[0] for row in rows]
    folds = np.array([zlib.crc32(urlsplit(url).netloc.encode()) % _HOST_FOLDS for url in urls])
    return Site(file.name.removesuffix(_MANY_HOSTS), urls, _ranks(file, rows), folds)


def _ranks(file: Path, rows: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    try:
        return np.array([float(row[3]) for row in rows])
    except (IndexError, ValueError) as error:
        raise UsageError(f"{file}: the fourth column of a line is no PageRank") from error
