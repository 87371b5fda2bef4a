"""Clicks of readers as a factor: how much it helps readers who are made up, and what it takes to deceive it.

    python bench/clicks.py                       four judged collections; a minute
    python bench/clicks.py --quick               40 questions of another
    python bench/clicks.py --readers 5 --days 60

Readers look at a place with the chance 1/place^0.7, which the program does not know, and open what they look at with
the chance .6 if it is relevant and .15 if it is not. Each query has so many readers a day. nDCG@10 is that of the order
which the last day leaves. *Uncorrected* takes shares of clicks as they are. *Liars*: so many addresses open, every day,
the last of the first ten results that nobody judged relevant; how many places it gains by that on the average.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec
import numpy as np

from _data import SHARED
from _figures import Figure, add_usual, conclude, leave_out
from gossamer.evaluate.collections import load, sample
from gossamer.evaluate.metrics import ndcg
from gossamer.evaluate.rankers import index_documents
from gossamer.evaluate.values import Collection
from gossamer.index.folder import IndexFolder
from gossamer.search.clicks.drafting import drafted, sign_test
from gossamer.search.clicks.estimating import Sum, estimated
from gossamer.search.clicks.evidence import PLACES, PRIOR, Counted, Model, chosen, gain
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher

COLLECTIONS = {name: f"classic.tar.zst:{name}" for name in ("cranfield", "med", "lisa", "time")}
QUICK, QUICK_QUERIES = {"xquad.en": "xquad.en.json.zst"}, 40
LOOKS = np.array([1 / place**0.7 for place in range(1, PLACES + 1)])
OPENS, OPENS_OTHERS = 0.6, 0.15
WEIGHTS = (0.05, 0.1, 0.2, 0.5)
LIARS = (1, 2, 3, 5, 10)
SEED = 20_261_120
FLAT = Model(tuple([1.0] * PLACES), 0.15)


class Asked(NamedTuple):
    """A query, what the index finds, and what is right."""

    text: str
    scores: list[float]
    names: list[str]
    judged: Mapping[str, int]


class Row(msgspec.Struct, frozen=True):
    """One collection."""

    name: str
    queries: int
    before: float
    by_weight: dict[str, float]
    uncorrected: float
    looks: list[float]
    """What was learned of the places."""
    wins: int
    losses: int
    deceived: dict[str, float]


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_usual(parser, f"{', '.join(QUICK)}, {QUICK_QUERIES} queries")
    parser.add_argument("--readers", type=int, default=10, help="of a query and day")
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--shared", type=Path, default=SHARED, help="folder with the real data ($GOSSAMER_SHARED)")
    options = parser.parse_args()
    rows = [_measure(one, options.readers, options.days) for one in _collections(options)]
    if not rows:
        raise SystemExit("none of the collections is there: name the folder of real data with --shared")
    _print(rows)
    conclude(options, _figures(rows), rows)


def _collections(options: argparse.Namespace) -> Iterator[Collection]:
    for name, place in (QUICK if options.quick else COLLECTIONS).items():
        file, _, part = place.partition(":")
        path = options.shared / "data" / "ir" / file
        if not path.exists():
            leave_out(name, f"{path} is not there")
            continue
        one = msgspec.structs.replace(load(f"{path}:{part}" if part else str(path)), name=name)
        yield sample(one, QUICK_QUERIES) if options.quick else one


def _measure(collection: Collection, readers: int, days: int) -> Row:
    asked = list(_asked(collection))
    orders = {weight: _lived(asked, RankingConfig(clicks=weight), readers, days) for weight in WEIGHTS}
    usual = orders[0.1]
    naive = _lived(asked, RankingConfig(clicks=0.1), readers, days, FLAT)
    wins, losses = _trial(asked, usual, readers)
    row = Row(
        collection.name, len(asked), _quality(asked, [one.names for one in asked]),
        {f"{weight:g}": _quality(asked, one.orders) for weight, one in orders.items()},
        _quality(asked, naive.orders), list(usual.model.places), wins, losses,
        {str(liars): _deceived(asked, readers, days, liars) for liars in LIARS},
    )  # fmt: skip
    print(f"{row.name}: {row.before:.4f} → {row.by_weight['0.1']:.4f}", flush=True)
    return row


def _asked(collection: Collection) -> Iterator[Asked]:
    with TemporaryDirectory(prefix="clicks-") as place:
        folder = IndexFolder(Path(place) / "index")
        ids = index_documents(folder, collection.documents)
        searcher = Searcher(folder, RankingConfig())
        for query, text in collection.queries.items():
            judged = collection.judgements.get(query, {})
            hits = searcher.search(Request(query=text, size=50, similar=True, facets=False)).hits
            if any(grade > 0 for grade in judged.values()) and len(hits) > 1:
                yield Asked(text, [hit.score for hit in hits], [ids[hit.url] for hit in hits], judged)


class Life(NamedTuple):
    """What became of the orders."""

    orders: list[list[str]]
    model: Model


def _lived(asked: Sequence[Asked], config: RankingConfig, readers: int, days: int, fixed: Model | None = None) -> Life:
    """Readers come and go; the order of each day follows from the clicks of those before."""
    dice = np.random.default_rng(SEED)
    model = fixed or PRIOR
    counts: list[list[Counted]] = [[] for _ in asked]
    orders = [list(range(len(one.names))) for one in asked]
    for day in range(days):
        for one, order, rows in zip(asked, orders, counts, strict=True):
            rows += _day(one, order, day, readers, dice)
        if fixed is None:
            model = estimated([
                Sum(row.page, number, row.place, row.shown, row.opened)
                for number, rows in enumerate(counts) for row in rows[-20 * PLACES :]
            ])  # fmt: skip
        orders = [_order(one, rows, model, config, day + 1) for one, rows in zip(asked, counts, strict=True)]
    return Life([[one.names[at] for at in order] for one, order in zip(asked, orders, strict=True)], model)


def _day(one: Asked, order: Sequence[int], day: int, readers: int, dice: np.random.Generator) -> list[Counted]:
    likes = np.array([_likes(one, at) for at in order[:PLACES]])
    opened = dice.binomial(readers, LOOKS[: len(likes)] * likes)
    return [
        Counted(at, day, place, readers, int(clicks))
        for place, (at, clicks) in enumerate(zip(order[:PLACES], opened, strict=True), 1)
    ]


def _likes(one: Asked, at: int) -> float:
    return OPENS if one.judged.get(one.names[at], 0) > 0 else OPENS_OTHERS


def _order(one: Asked, rows: Sequence[Counted], model: Model, config: RankingConfig, day: int) -> list[int]:
    found = chosen(rows, model, config, day)
    lifts = [found[at].lift if at in found else 0.0 for at in range(len(one.names))]
    scores = [score + gain(score, lift, config) for score, lift in zip(one.scores, lifts, strict=True)]
    return sorted(range(len(scores)), key=lambda at: -scores[at])


def _quality(asked: Sequence[Asked], orders: Sequence[Sequence[str]]) -> float:
    if not asked:
        return 0.0
    return float(np.mean([ndcg(order, one.judged) for one, order in zip(asked, orders, strict=True)]))


def _trial(asked: Sequence[Asked], life: Life, readers: int) -> tuple[int, int]:
    """Whom readers prefer: each of them gets an interleaved page of one query."""
    dice = np.random.default_rng(SEED)
    wins = losses = 0
    for one, order in zip(asked, life.orders, strict=True):
        place_of = {name: at for at, name in enumerate(one.names)}
        with_clicks = [place_of[name] for name in order]
        for _ in range(readers):
            shown, teams = drafted(with_clicks, range(len(order)), int(dice.integers(1, 2**63)))
            likes = np.array([_likes(one, at) for at in shown[:PLACES]])
            opened = dice.random(len(likes)) < LOOKS[: len(likes)] * likes
            sums = [
                sum(bool(yes) and teams.get(at) == team for at, yes in zip(shown, opened, strict=False))
                for team in ("with", "without")
            ]
            wins, losses = wins + (sums[0] > sums[1]), losses + (sums[0] < sums[1])
    return wins, losses


def _deceived(asked: Sequence[Asked], readers: int, days: int, liars: int) -> float:
    """How many places a page gains that liars open, beyond those that it gains by itself."""
    dice = np.random.default_rng(SEED)
    config, gained = RankingConfig(), []
    for one in asked:
        targets = [at for at in range(min(PLACES, len(one.names))) if one.judged.get(one.names[at], 0) <= 0]
        if not targets:
            continue
        places = []
        for lies in (0, liars):
            order, rows = list(range(len(one.names))), list[Counted]()
            for day in range(days):
                for row in _day(one, order, day, readers, dice):
                    more = lies if row.page == targets[-1] else 0
                    rows.append(row._replace(shown=row.shown + lies, opened=row.opened + more))
                order = _order(one, rows, PRIOR, config, day + 1)
            places.append(order.index(targets[-1]))
        gained.append(places[0] - places[1])
    return float(np.mean(gained)) if gained else 0.0


def _print(rows: Sequence[Row]) -> None:
    weights = " | ".join(f"{weight:g}" for weight in WEIGHTS)
    print(f"\n| collection | queries | without | {weights} | uncorrected |")
    print("|---|---:|" + "---:|" * (len(WEIGHTS) + 2))
    for row in rows:
        cells = " | ".join(f"{value:.3f}" for value in row.by_weight.values())
        print(f"| {row.name} | {row.queries} | {row.before:.3f} | {cells} | {row.uncorrected:.3f} |")
    print("\n| collection | looks, learned | wins | losses | p | " + " | ".join(f"{n} liars" for n in LIARS) + " |")
    print("|---|---|---:|---:|---:|" + "---:|" * len(LIARS))
    for row in rows:
        looks = " ".join(f"{one:.2f}" for one in row.looks)
        lies = " | ".join(f"{value:+.2f}" for value in row.deceived.values())
        p = sign_test(row.wins, row.losses)
        print(f"| {row.name} | {looks} | {row.wins} | {row.losses} | {p:.3f} | {lies} |")
    print("looks, the truth:", " ".join(f"{one:.2f}" for one in LOOKS))


def _figures(rows: Sequence[Row]) -> list[Figure]:
    def mean(values: Sequence[float]) -> float:
        return sum(values) / len(values)

    before = mean([row.before for row in rows])
    return [
        Figure(
            "mean nDCG@10 after a month of clicks, weight 0.1", mean([row.by_weight["0.1"] for row in rows]),
            goal=before, most=1,
            beside={"without clicks": before, "uncorrected": mean([row.uncorrected for row in rows])},
        ),
        Figure("places that one liar gains", mean([row.deceived["1"] for row in rows]), "", 0.0, True, least=-50),
    ]  # fmt: skip


if __name__ == "__main__":
    main()
