"""Precision and recall of the seven near-duplicate methods, and documents per second.

    apt-get install installation-guide-amd64 installation-guide-i386 libboost1.74-doc libboost1.81-doc
    python bench/duplicates.py --plot near.svg
    python bench/duplicates.py --guides A B --boost C D     where the pages lie elsewhere
    python bench/duplicates.py --quick                      a third of the pages

Three collections:

- `guides`: the installation guide of Debian for two machines, in 20 or so languages;
- `boost`: the documentation of Boost in two versions: reference pages, many of them short and alike;
- `altered`: pages of both, of which 0 to 30 % of the words are replaced, deleted, inserted, or moved in blocks.

Counting. Exact copies (`content_hash`) are taken out first, as the crawler does, and so are texts that are too short to
compare. The truth is the Jaccard overlap of the sets of four-word runs, for every pair of pages of a collection that
reaches .9, wherever it lies. A pair is *found* when two fingerprints share a key and are similar enough. Of the pairs
of an overlap of .9 or more, recall is the share that is found, and "judged" the share that is similar enough, keys
apart. Precision is the share of found pairs whose overlap is at least .8; strictly, at least .9. Wrong candidates are
pairs that share a key and overlap less than .5, per million pairs of pages.

Documents per second are fingerprints of pages cut to 400 words, per second of processor time, the best of five rounds.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np

from gossamer.dedup.exact import content_hash
from gossamer.dedup.near.contract import OVERLAP, NearMethod, same
from gossamer.dedup.near.minhash import multipliers, odd_sketch, smallest
from gossamer.dedup.near.registry import DEFAULT, METHODS, near_method
from gossamer.dedup.near.runs import Numbers, jaccard, runs
from gossamer.dedup.near.statistics import gather
from gossamer.dedup.words import tokens
from gossamer.parse.html import Tree, rendered

DOCS = Path("/usr/share/doc")
ALMOST = 0.8
"""Overlap below which calling two texts the same is wrong without doubt."""
UNRELATED = 0.5
SHARES = (0.0, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3)
WAYS = ("replaced", "deleted", "inserted", "moved")
BLOCK = 20
"""Words in a block that is moved."""
ALTERED_WORDS = 200
"""Words a page must have to be altered: half a percent of it is one."""
SPEED_WORDS = 400
Pair = tuple[int, int]


class Texts(msgspec.Struct):
    """Texts to compare, with their sets of runs."""

    name: str
    files: int
    texts: list[str]
    runs: list[Numbers]

    @classmethod
    def of(cls, name: str, texts: Iterable[str]) -> Texts:
        """Different texts that are long enough to compare."""
        files, found = 0, {}
        for text in texts:
            files += 1
            found.setdefault(content_hash(text), text)
        kept = [(text, sets) for text in found.values() if len(sets := runs(text))]
        return cls(name, files, [text for text, _ in kept], [sets for _, sets in kept])

    def overlap(self, pair: Pair) -> float:
        return jaccard(self.runs[pair[0]], self.runs[pair[1]])


class Result(msgspec.Struct):
    """What one method did on one collection."""

    method: str
    collection: str
    pairs: int
    recall: float
    judged: float
    precision: float
    strict: float
    wrong_candidates: float


class Curve(msgspec.Struct):
    """What one method did on pages altered in one way: share of words → share of pairs called the same."""

    method: str
    way: str
    found: dict[float, float]
    overlaps: list[tuple[float, bool]]
    """Of every pair: its overlap, and whether it was found."""


def page_text(path: Path) -> str:
    """All that a reader sees of a page: the one place where the parser is asked."""
    body = Tree(path.read_bytes().decode("utf-8", "replace"), max_tags=200_000).body
    if body is None:
        return ""
    for element in list(body.iter_elements(("script", "style", "noscript"))):
        element.extract()
    return rendered(body)


def read(name: str, folders: Sequence[Path], every: int) -> Texts:
    paths = [path for folder in folders for path in sorted(folder.rglob("*.html"))]
    if not paths:
        raise SystemExit(f"no pages in {' and '.join(map(str, folders))}: see --help for the packages")
    chosen = {path.name + path.parent.name for path in paths}
    kept = set(sorted(chosen)[::every])  # the same pages of both folders
    return Texts.of(name, (page_text(path) for path in paths if path.name + path.parent.name in kept))


def true_pairs(texts: Texts) -> set[Pair]:
    """All pairs that overlap by .9 or more: they share one of the rarest tenth of their runs, for certain."""
    every, counts = np.unique(np.concatenate(texts.runs), return_counts=True)
    rarity = np.empty(len(every), np.int64)
    rarity[np.lexsort((every, counts))] = np.arange(len(every))
    rare = [np.sort(rarity[np.searchsorted(every, one)])[: len(one) // 10 + 1].tolist() for one in texts.runs]
    return {pair for pair in sharing(rare) if texts.overlap(pair) >= OVERLAP}


def sharing(keys: Iterable[Iterable[int]]) -> set[Pair]:
    """Pairs of places whose keys have one in common."""
    holders: dict[int, list[int]] = defaultdict(list)
    for place, own in enumerate(keys):
        for key in own:
            holders[key].append(place)
    return {pair for held in holders.values() if len(held) > 1 for pair in combinations(held, 2)}


def judge(method: NearMethod, texts: Texts, truth: set[Pair]) -> Result:
    prints = [method.fingerprint(text) for text in texts.texts]
    candidates = sharing(map(method.keys, prints))
    found = {(a, b) for a, b in candidates if same(method, prints[a], prints[b])}
    judged = sum(same(method, prints[a], prints[b]) for a, b in truth)
    overlaps = np.array([texts.overlap(pair) for pair in found])
    unrelated = sum(texts.overlap(pair) < UNRELATED for pair in candidates)
    return Result(
        method.name, texts.name, len(truth),
        recall=len(found & truth) / len(truth),
        judged=judged / len(truth),
        precision=float(np.mean(overlaps >= ALMOST)) if found else 1.0,
        strict=float(np.mean(overlaps >= OVERLAP)) if found else 1.0,
        wrong_candidates=1e6 * unrelated / (len(prints) * (len(prints) - 1) / 2),
    )  # fmt: skip


def altered(words: list[str], others: list[str], way: str, share: float, dice: Random) -> list[str]:
    """A page of which a share of the words is changed in one way."""
    number = round(share * len(words))
    if way == "moved":
        return _moved(words, round(number / BLOCK + dice.random() - 0.5), dice)
    places = set(dice.sample(range(len(words)), number))
    if way == "deleted":
        return [word for place, word in enumerate(words) if place not in places]
    if way == "replaced":
        return [dice.choice(others) if place in places else word for place, word in enumerate(words)]
    return [part for place, word in enumerate(words) for part in ([dice.choice(others)] * (place in places) + [word])]


def _moved(words: list[str], blocks: int, dice: Random) -> list[str]:
    left = list(words)
    for _ in range(blocks):
        start, target = dice.randrange(len(left) - BLOCK), dice.randrange(len(left) - BLOCK)
        block = left[start : start + BLOCK]
        del left[start : start + BLOCK]
        left[target:target] = block
    return left


def alter_and_judge(methods: list[NearMethod], pages: list[list[str]], way: str) -> list[Curve]:
    """The pages against their altered selves."""
    curves = {method.name: Curve(method.name, way, dict.fromkeys(SHARES, 0.0), []) for method in methods}
    dice = Random(way)
    for place, words in enumerate(pages):
        page = " ".join(words)
        prints = [method.fingerprint(page) for method in methods]
        for share in SHARES:
            changed = " ".join(altered(words, pages[place - 1], way, share, dice))
            overlap = jaccard(runs(page), runs(changed))
            for method, left in zip(methods, prints, strict=True):
                found = _found(method, left, method.fingerprint(changed))
                curves[method.name].found[share] += found / len(pages)
                curves[method.name].overlaps.append((overlap, found))
    return list(curves.values())


def _found(method: NearMethod, left: bytes, right: bytes) -> bool:
    return not set(method.keys(left)).isdisjoint(method.keys(right)) and same(method, left, right)


def per_second(method: NearMethod, pages: list[str]) -> float:
    """Fingerprints a second of processor time."""
    best = 0.0
    for _ in range(6):  # the first fills the tables
        start = time.process_time()
        for page in pages:
            method.fingerprint(page)
        best = max(best, len(pages) / (time.process_time() - start))
    return best


ESTIMATORS = ("64 smallest values, 32 bits", "256, 8 bits", "2,048, 1 bit", "bottom 64, 32 bits", "odd sketch")


def estimator_errors(pages: list[list[str]]) -> dict[str, float]:
    """Standard errors of five estimates of the overlap by 256 bytes, on pairs that overlap by .85 to .95."""
    dice, errors = Random(1), defaultdict(list)
    for place, words in enumerate(pages):
        left = runs(" ".join(words))
        right = runs(" ".join(altered(words, pages[place - 1], "replaced", dice.uniform(0.006, 0.02), dice)))
        truth = jaccard(left, right)
        if 0.85 <= truth <= 0.95:
            for name, estimate in zip(ESTIMATORS, _estimates(left, right), strict=True):
                errors[name].append(estimate - truth)
    return {name: float(np.sqrt(np.mean(np.square(values)))) for name, values in errors.items()}


def _estimates(left: Numbers, right: Numbers) -> list[float]:
    a, b = (smallest(one, multipliers(2048)) >> np.uint64(16) for one in (left, right))
    few = np.mean(a[:64] == b[:64])
    byte = (np.mean(a[:256] & 255 == b[:256] & 255) - 1 / 256) / (1 - 1 / 256)
    bit = 2 * np.mean(a & 1 == b & 1) - 1
    least = np.union1d(left, right)[:64]
    bottom = np.mean(np.isin(least, left) & np.isin(least, right))
    ones = (int.from_bytes(odd_sketch(left)) ^ int.from_bytes(odd_sketch(right))).bit_count()
    different = -1024 * np.log(1 - ones / 1024)
    both = len(left) + len(right)
    return [float(value) for value in (few, byte, bit, bottom, (both - different) / (both + different))]


def main() -> None:
    """Measures, prints the tables and draws the plot."""
    options = _options()
    every = 3 if options.quick else 1
    collections = [read("guides", options.guides, every), read("boost", options.boost, every)]
    results = []
    for texts in collections:
        truth, statistics = true_pairs(texts), gather(texts.texts)
        print(
            f"{texts.name}: {texts.files} pages, {len(texts.texts)} different texts, {len(truth)} pairs of .9 or more"
        )
        results += [judge(near_method(name, statistics), texts, truth) for name in options.only]
    everything = [text for texts in collections for text in texts.texts]
    statistics = gather(everything)
    long = [words for words in map(tokens, everything) if len(words) >= ALTERED_WORDS]
    pages = Random(1).sample(long, min(options.altered, len(long)))
    short = [" ".join(words[:SPEED_WORDS]) for words in long if len(words) >= SPEED_WORDS][:1000]
    methods = [near_method(name, statistics) for name in options.only]
    speeds = {method.name: per_second(method, short) for method in methods}
    curves = [curve for way in WAYS for curve in alter_and_judge(methods, pages, way)]
    _print(results, curves, speeds)
    print("\nStandard error of the overlap near .9, by 256 bytes:\n")
    for name, error in estimator_errors(pages).items():
        print(f"- {name}: {error:.4f}")
    if options.plot:
        _plot(curves, options.plot)
    if options.json:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode([results, curves, speeds])))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    guides = [DOCS / "installation-guide-amd64", DOCS / "installation-guide-i386"]
    boost = [DOCS / "libboost1.74-doc", DOCS / "libboost1.81-doc"]
    add: Callable[..., argparse.Action] = parser.add_argument
    add("--guides", nargs=2, type=Path, default=guides, metavar="FOLDER", help="two versions of the guide")
    add("--boost", nargs=2, type=Path, default=boost, metavar="FOLDER", help="two versions of the documentation")
    add("--only", type=lambda text: tuple(text.split(",")), default=METHODS, help=f"of {','.join(METHODS)}")
    add("--altered", type=int, default=300, help="pages that are altered (300)")
    add("--quick", action="store_true", help="a third of the pages")
    add("--plot", type=Path, metavar="FILE.svg", help="pairs found against share of altered words, and overlap")
    add("--json", type=Path, metavar="FILE", help="the figures for programs")
    return parser.parse_args()


def _print(results: list[Result], curves: list[Curve], speeds: dict[str, float]) -> None:
    collections = list(dict.fromkeys(result.collection for result in results))
    for collection in collections:
        print(f"\n{collection}:\n\n| | recall | judged | precision | strictly | wrong candidates per million |")
        print("|---|---:|---:|---:|---:|---:|")
        for r in (r for r in results if r.collection == collection):
            figures = (_share(value) for value in (r.recall, r.judged, r.precision, r.strict))
            print(f"| {r.method} | {' | '.join(figures)} | {r.wrong_candidates:.1f} |")
    print("\naltered, all ways:\n\n| | recall | precision | strictly | documents a second |\n|---|---:|---:|---:|---:|")
    for method, speed in speeds.items():
        pairs = np.array([pair for curve in curves if curve.method == method for pair in curve.overlaps])
        overlap, found = pairs[:, 0], pairs[:, 1] > 0
        figures = [
            found[overlap >= OVERLAP].mean(),
            (overlap >= ALMOST)[found].mean(),
            (overlap >= OVERLAP)[found].mean(),
        ]
        print(f"| {method} | {' | '.join(map(_share, figures))} | {speed:,.0f} |")
    for way in WAYS:
        print(f"\nFound, share of words {way}:\n\n| |" + "".join(f" {100 * share:g} % |" for share in SHARES))
        print("|---|" + "---:|" * len(SHARES))
        for curve in (curve for curve in curves if curve.way == way):
            print(f"| {curve.method} |" + "".join(f" {_share(curve.found[share])} |" for share in SHARES))


def _share(value: float) -> str:
    """Three decimals, rounded towards what is worse."""
    return f"{int(1000 * value + 1e-9) / 1000:.3f}".removeprefix("0")


def _plot(curves: list[Curve], path: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 3, figsize=(11, 6.5), layout="constrained", sharey=True)
    places = dict(zip(WAYS, (axes[0, 0], axes[0, 1], axes[1, 0], axes[1, 1]), strict=True))
    for curve in curves:
        shares = [100 * share for share in curve.found]
        places[curve.way].plot(shares, list(curve.found.values()), **_line(curve.method))
    for way, place in places.items():
        place.set_xscale("function", functions=(lambda x: np.sqrt(np.maximum(x, 0)), np.square))
        place.set(xlabel=f"% of words {way}", xlim=(0, 30), ylim=(-0.03, 1.03), xticks=(0, 0.25, 1, 2, 5, 10, 20, 30))
        place.set_xticklabels(("0", ".25", "1", "2", "5", "10", "20", "30"))
    edges = np.arange(0.5, 1.0001, 0.02)
    for method in dict.fromkeys(curve.method for curve in curves):
        pairs = np.array([pair for curve in curves if curve.method == method for pair in curve.overlaps])
        overlap, found = pairs[:, 0], pairs[:, 1]
        inside = [found[(overlap >= low) & (overlap < low + 0.02)] for low in edges[:-1]]
        means = [values.mean() if len(values) >= 5 else np.nan for values in inside]
        axes[0, 2].plot(edges[:-1] + 0.01, means, **_line(method))
    axes[0, 2].axvline(OVERLAP, color="grey", linestyle=":")
    axes[0, 2].set(xlabel="true overlap, all ways")
    for place in (axes[0, 0], axes[1, 0]):
        place.set(ylabel="share of pairs found")
    for place in axes.flat[:5]:
        place.grid(alpha=0.3)
    axes[1, 2].axis("off")
    axes[1, 2].legend(*axes[0, 2].get_legend_handles_labels(), loc="center", frameon=False)
    figure.savefig(path, metadata={"Date": None})


def _line(method: str) -> dict[str, Any]:
    """The default stands out."""
    width, height = (3, 5) if method == DEFAULT else (1.2, 2)
    return {"marker": ".", "label": method, "linewidth": width, "zorder": height}


if __name__ == "__main__":
    main()
