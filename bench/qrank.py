"""QRank on sites never seen in training: deviation and rank correlation; and URLs per second.

    python bench/qrank.py --data ../shared/data/graph
    python bench/qrank.py --data ../shared/data/graph --more ROWS   learn from what `training/qrank.py rows` made, too

Each site of the data is predicted by models that learnt from all other sites (a file of many hosts: by models that
learnt from the other hosts, too). Contestants:

- `mean`: the mean importance of the sites learnt from;
- `seed`: the network of S4.2 on the features listed there, trained on the importance of all pages alike;
- `ours`: what ships: all features, trained on places within the site (`gossamer.priority.qrank.learning`).

The importance is PageRank in logarithmic steps, each site's least page 0, its greatest 1, as the seed's (0 to 10) was
scaled. The deviation is the mean absolute one, in percent of that scale; the correlation is Spearman's. "Places" is our
deviation in places, the rank of a page among those of its site as 0…1, where the mean deviates by 25.

How a network is taught, and most of its features, were chosen by cross-validation among further sites (decision 11).
URLs per second are of processor time, one thread, the best of five rounds over the URLs of the data in a random order.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "training"))

from _qrank_sites import Site, in_both_forms, read_sites  # noqa: E402

from gossamer.priority.qrank.features import LISTED, features  # noqa: E402
from gossamer.priority.qrank.learning import Schooling, teach  # noqa: E402
from gossamer.priority.qrank.model import default_model  # noqa: E402
from gossamer.priority.qrank.training import (  # noqa: E402
    ALL_COLUMNS,
    Table,
    importances,
    places,
    site_mean,
    spearman,
)

SEED = Schooling(steps=2000, decay=0.0, power=1.0, offsets=False)


class Score(msgspec.Struct, frozen=True):
    """Of one site: deviations in percent and rank correlations."""

    pages: int
    mean: float
    seed: float
    ours: float
    ours_places: float
    seed_correlation: float
    ours_correlation: float


class Prepared(msgspec.Struct, frozen=True):
    """A site with its features: as it is, and as it is learnt from."""

    site: Site
    rows: np.ndarray
    learnt: np.ndarray


def score(held: Prepared, others: Sequence[Prepared]) -> Score:
    """One site, predicted by models of the others."""
    count = len(held.site.urls)
    mean, seed, ours, ranked = (np.zeros(count, np.float32) for _ in range(4))
    for fold in np.unique(held.site.folds):
        chosen = held.site.folds == fold
        table = _table(others, held, ~chosen)
        mean[chosen] = site_mean(table)
        columns = np.arange(len(LISTED))
        network = teach(table.rows, table.importances, table.sites, columns, SEED)
        seed[chosen] = network.predict(held.rows[chosen])
        model = table.model(Schooling(), ALL_COLUMNS)
        ranked[chosen] = model.network.predict(held.rows[chosen])
        ours[chosen] = model.scaled(ranked[chosen])
    truth = importances(held.site.ranks)
    return Score(
        count,
        *(100 * float(np.abs(guess - truth).mean()) for guess in (mean, seed, ours)),
        100 * float(np.abs(ranked - places(held.site.ranks)).mean()),
        spearman(seed, held.site.ranks),
        spearman(ranked, held.site.ranks),
    )


def _table(others: Sequence[Prepared], held: Prepared, rest: np.ndarray) -> Table:
    """All other sites, and the other hosts of a file of many."""
    parts = [(one.learnt, one.site.ranks) for one in others]
    if rest.any():
        parts.append((held.learnt[rest], held.site.ranks[rest]))
    numbers = np.concatenate([np.full(len(ranks), number) for number, (_, ranks) in enumerate(parts)])
    return Table(np.concatenate([rows for rows, _ in parts]), np.concatenate([ranks for _, ranks in parts]), numbers)


def print_scores(sites: Sequence[Prepared], more: Sequence[Prepared]) -> None:
    print(f"\n{len(sites)} sites, each predicted by models of the other {len(sites) - 1 + len(more)}\n")
    print(f"{'':30}{'deviation, %':>28}{'':9}{'correlation':>14}")
    print(f"{'':22}{'pages':>8}{'mean':>9}{'seed':>9}{'ours':>9}{'places':>9}{'seed':>7}{'ours':>7}")
    scores = []
    for number, held in enumerate(sites):
        scores.append(score(held, [*sites[:number], *sites[number + 1 :], *more]))
        print(_line(held.site.name, scores[-1]), flush=True)
    fields = Score.__struct_fields__
    means = {field: float(np.nanmean([getattr(one, field) for one in scores])) for field in fields}
    print(_line("mean", Score(**{**means, "pages": sum(one.pages for one in scores)})))


def _line(name: str, s: Score) -> str:
    deviations = "".join(f"{value:9.1f}" for value in (s.mean, s.seed, s.ours, s.ours_places))
    return f"{name[:22]:22}{s.pages:8}{deviations}{s.seed_correlation:7.2f}{s.ours_correlation:7.2f}"


def print_speed(sites: Sequence[Prepared]) -> None:
    urls = [url for one in sites for url in one.site.urls]
    random.Random(1).shuffle(urls)
    model = default_model()
    rows = features(urls)
    steps = {
        "features": lambda: features(urls),
        "network": lambda: model.network.predict(rows),
        "both": lambda: model.place(urls),
    }
    print(f"\n{len(urls)} URLs of {sum(map(len, urls)) / len(urls):.0f} characters; URLs per second of one core")
    for name, step in steps.items():
        best = min(_seconds(step) for _ in range(5))
        print(f"{name:22}{len(urls) / best:10.0f}")


def _seconds(step) -> float:
    start = time.process_time()
    step()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/graph"))
    parser.add_argument("--more", type=Path, nargs="*", default=[])
    parser.add_argument("--speed", action="store_true", help="only URLs per second")
    parser.add_argument("--each", action="store_true", help="hold out each of the further sites, too")
    args = parser.parse_args()
    sites, more = (
        [Prepared(site, features(site.urls), features(in_both_forms(site.urls, 1))) for site in found]
        for found in (read_sites([args.data]), read_sites(args.more) if args.more else [])
    )
    print_speed(sites)
    if not args.speed:
        print_scores(sites, more)
    if args.each:
        for number, held in enumerate(more):
            print(_line(held.site.name, score(held, [*more[:number], *more[number + 1 :], *sites])), flush=True)


if __name__ == "__main__":
    main()
