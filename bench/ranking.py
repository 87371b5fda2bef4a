"""Ranking on judged collections: Gossamer, BM25 as in Lucene, RM3 on top of it, and the bare library.

    python bench/ranking.py                        twelve collections; minutes
    python bench/ranking.py --quick                three of them, 40 queries each
    python bench/ranking.py --only med,xquad.hi    these
    python bench/ranking.py --set title=0.8        with other settings of `[search]`
    python bench/ranking.py --semantic 0.5         also with vectors (docs/semantic.md); on the English ones
    python bench/ranking.py --tune title=0.1,0.3,1  each setting that follows, chosen on all collections but one

nDCG@10 of each, the mean over collections, and whether Gossamer differs from BM25 by more than chance does: a paired
test that swaps the two at random, 10,000 times. `--tune` reports, for each collection, the settings that were best on
the mean of all others: what they have there is what an unseen collection may expect.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import numpy as np

from _data import SHARED
from _figures import Figure, add_usual, conclude, leave_out
from _lucene import LuceneRanker
from gossamer.evaluate.collections import load, sample
from gossamer.evaluate.rankers import BARE, BareRanker, SearchRanker, index_documents, make_vectors
from gossamer.evaluate.runs import Ranker, Run, run
from gossamer.evaluate.values import Collection
from gossamer.index.folder import IndexFolder
from gossamer.search.ranking import RankingConfig
from gossamer.search.searcher import Searcher

COLLECTIONS = {
    "cranfield": "classic.tar.zst:cranfield", "med": "classic.tar.zst:med", "lisa": "classic.tar.zst:lisa",
    "time": "classic.tar.zst:time", **{f"xquad.{lang}": f"xquad.{lang}.json.zst" for lang in
    ("en", "es", "de", "hi", "ar", "th", "zh")}, "cmrc": "cmrc2018-dev.json.zst",
}  # fmt: skip
ENGLISH = ("cranfield", "med", "lisa", "time", "xquad.en")
QUICK, QUICK_QUERIES = ("med", "time", "xquad.en"), 40
GOSSAMER, MEANING, LUCENE, RM3 = "gossamer", "gossamer + meaning", "BM25", "RM3"
DEPTH = 100
SWAPS = 10_000
SEED = 20_261_119
BETTER, BETTER_BY_MEANING = 1.02, 1.08
"""Mean ÷ that of BM25, the goals."""


class Row(msgspec.Struct, frozen=True):
    """One collection."""

    name: str
    documents: int
    queries: int
    ndcg: dict[str, float]
    recall: dict[str, float]
    """Of the first hundred."""
    milliseconds: dict[str, float]
    chance: float
    """Of a difference as large as that between Gossamer and BM25, if there is none."""

    @property
    def is_worse(self) -> bool:
        """Whether Gossamer is worse than BM25 by more than chance."""
        return self.chance < 0.05 and self.ndcg[GOSSAMER] < self.ndcg[LUCENE]


def main() -> None:
    """Measures what there is and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add_usual(parser, f"{', '.join(QUICK)}, {QUICK_QUERIES} queries each")
    add("--only", type=lambda text: text.split(","), help="names of collections, by comma")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of [search]")
    add("--semantic", type=float, default=0.0, metavar="WEIGHT", help="also with vectors, on the English collections")
    add("--tune", nargs="+", metavar="NAME=VALUES", help="values of settings, by comma, to choose from")
    add("--shared", type=Path, default=SHARED, help="folder with the real data ($GOSSAMER_SHARED)")
    options = parser.parse_args()
    collections = list(_collections(options))
    if not collections:
        raise SystemExit("none of the collections is there: name the folder of real data with --shared")
    config = _changed(RankingConfig(), dict(one.split("=") for one in options.set))
    if options.tune:
        _tune(collections, config, [one.split("=") for one in options.tune])
        return
    rows = [_measure(one, config, options.semantic) for one in collections]
    _print(rows)
    conclude(options, _figures(rows), rows)


def _collections(options: argparse.Namespace) -> Iterator[Collection]:
    names = options.only or (QUICK if options.quick else ENGLISH if options.semantic else COLLECTIONS)
    for name in names:
        file, _, part = COLLECTIONS[name].partition(":")
        path = options.shared / "data" / "ir" / file
        if not path.exists():
            leave_out(name, f"{path} is not there")
            continue
        one = msgspec.structs.replace(load(f"{path}:{part}" if part else str(path)), name=name)
        yield sample(one, QUICK_QUERIES) if options.quick else one


def _changed(config: RankingConfig, settings: Mapping[str, str]) -> RankingConfig:
    return msgspec.convert({**msgspec.structs.asdict(config), **settings}, RankingConfig, strict=False)


def _measure(collection: Collection, config: RankingConfig, weight: float) -> Row:
    lang = Counter(one.lang for one in collection.documents).most_common(1)[0][0]
    with _indexed(collection) as (folder, ids):
        rankers: dict[str, Ranker] = {
            GOSSAMER: SearchRanker(Searcher(folder, config), "web", ids),
            LUCENE: LuceneRanker(collection.documents, lang),
            RM3: LuceneRanker(collection.documents, lang, feedback=True),
            BARE: BareRanker(collection.documents),
        }
        if weight and lang == "en":
            mixed = msgspec.structs.replace(config, semantic=weight)
            make_vectors(folder, mixed)
            rankers[MEANING] = SearchRanker(Searcher(folder, mixed), "web", ids)
        runs, took = {}, {}
        for name, ranker in rankers.items():
            began = time.perf_counter()
            runs[name] = run(name, ranker, collection, depth=DEPTH)
            took[name] = 1000 * (time.perf_counter() - began) / max(1, len(collection.queries))
    row = Row(
        collection.name, len(collection.documents), runs[GOSSAMER].mean.queries,
        {name: one.mean.scores.ndcg for name, one in runs.items()},
        {name: one.mean.scores.recall for name, one in runs.items()}, took, _chance(runs[GOSSAMER], runs[LUCENE]),
    )  # fmt: skip
    print(f"{row.name}: {', '.join(f'{name} {value:.3f}' for name, value in row.ndcg.items())}", flush=True)
    return row


@contextmanager
def _indexed(collection: Collection) -> Iterator[tuple[IndexFolder, dict[str, str]]]:
    with TemporaryDirectory(prefix="ranking-") as place:
        folder = IndexFolder(Path(place) / "index")
        yield folder, index_documents(folder, collection.documents)


def _chance(this: Run, other: Run) -> float:
    """How often two equal rankings would differ as much: a paired randomization test."""
    gains = np.array([one.ndcg - other.scores[query].ndcg for query, one in this.scores.items()])
    draw = np.random.default_rng(SEED)
    signs = draw.integers(0, 2, (SWAPS, len(gains)), dtype=np.int8) * 2 - 1
    return float((np.abs(signs @ gains) >= abs(gains.sum()) - 1e-12).mean())


def _tune(collections: Sequence[Collection], config: RankingConfig, choices: Sequence[Sequence[str]]) -> None:
    names = [name for name, _ in choices]
    settings = [dict(zip(names, values, strict=True)) for values in product(*(one.split(",") for _, one in choices))]
    found = np.zeros((len(settings), len(collections)))
    for column, collection in enumerate(collections):
        with _indexed(collection) as (folder, ids):
            for line, setting in enumerate(settings):
                ranker = SearchRanker(Searcher(folder, _changed(config, setting)), "web", ids)
                found[line, column] = run(GOSSAMER, ranker, collection, depth=10).mean.scores.ndcg
        print(collection.name, *(f"{value:.4f}" for value in found[:, column]), flush=True)
    for line in np.argsort(-found.mean(axis=1))[:12]:
        print(f"{found[line].mean():.4f}", settings[line], *(f"{value:.3f}" for value in found[line]))
    left = []
    for column, collection in enumerate(collections):
        others = np.delete(found, column, axis=1).mean(axis=1)
        best = int(np.argmax(others))
        left.append(found[best, column])
        print(f"{collection.name}: {left[-1]:.4f} by the settings of the others, {settings[best]}")
    print(f"mean of collections left out: {np.mean(left):.4f}; best of all: {found.mean(axis=1).max():.4f}")


def _print(rows: Sequence[Row]) -> None:
    rankers = [*rows[0].ndcg]
    print("\nnDCG@10\n\n| collection | documents | queries |", *(f"{name} |" for name in rankers), "chance |")
    print("|---|---:|---:|" + "---:|" * (len(rankers) + 1))
    for row in rows:
        cells = "".join(f" {row.ndcg[name]:.3f} |" for name in rankers)
        print(f"| {row.name} | {row.documents:,} | {row.queries:,} |{cells} {row.chance:.3f} |")
    for title, kind in (("mean", "ndcg"), ("recall@100", "recall"), ("ms a query", "milliseconds")):
        print(f"| {title} | | |", *(f"{_mean(rows, kind, name):.3f} |" for name in rankers), "|")


def _mean(rows: Sequence[Row], kind: str, name: str) -> float:
    values: list[float] = [getattr(row, kind)[name] for row in rows]
    return sum(values) / len(values)


def _figures(rows: Sequence[Row]) -> list[Figure]:
    means = {name: _mean(rows, "ndcg", name) for name in rows[0].ndcg}
    beside = {name: value for name, value in means.items() if name != GOSSAMER}
    took = {name: _mean(rows, "milliseconds", name) for name in rows[0].ndcg}
    found = []
    if MEANING in means:
        name = f"mean nDCG@10 ÷ BM25, {MEANING}"
        found.append(Figure(name, means[MEANING] / means[LUCENE], "×", BETTER_BY_MEANING, most=100))
    return [
        *found,
        Figure("mean nDCG@10", means[GOSSAMER], beside=beside, most=1),
        Figure("mean nDCG@10 ÷ BM25", means[GOSSAMER] / means[LUCENE], "×", BETTER, most=100),
        Figure("collections significantly worse than BM25", sum(row.is_worse for row in rows), "", 0, True),
        Figure("a query", took.pop(GOSSAMER), "ms", beside=took, by_clock=True),
    ]


if __name__ == "__main__":
    main()
