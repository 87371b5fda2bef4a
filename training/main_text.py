"""Makes `src/gossamer/parse/text/models/main_text.npz`, the model that tells main text from furniture.

    python training/main_text.py --data ../shared/data/extraction/wcxb-dev.tar.zst
    python training/main_text.py --check 5      also cross-validates the second model, in 5 folds

Needs catboost and rapidfuzz. One thread, fixed seeds: the same data give the same model. Only the
training part of WCXB's development set is read (`bench/_extraction_data.py` splits it by domain).

1. Each block gets the share of its words that is in the annotated text (`_labels.py`).
2. Words of classes and ids, and of the beginnings of blocks, get scores: how much more main text than
   elsewhere on the page stands in elements, or blocks, that carry them. A block is always shown scores
   that were made without its own fold of domains.
3. The first model learns the shares from the features of blocks. Its verdicts about a fold come from a
   model that did not see the fold.
4. The type model learns the type of the page; likewise.
5. The second model learns the shares from features, first verdicts and types.

A block weighs what its words mean for the page's F1, dampened: otherwise long pages decide everything.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import catboost
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "bench"), str(Path(__file__).parent)]

from _labels import block_shares  # noqa: E402

from _extraction_data import DATA, bucket, read_samples, word_scores  # noqa: E402
from gossamer.parse.charset import decode  # noqa: E402
from gossamer.parse.html import Tree  # noqa: E402
from gossamer.parse.structured import read_structured  # noqa: E402
from gossamer.parse.text import page_facts  # noqa: E402
from gossamer.parse.text.blocks import read_blocks  # noqa: E402
from gossamer.parse.text.features import WORDS_CHARS, write_first, write_second  # noqa: E402
from gossamer.parse.text.measures import Measures  # noqa: E402
from gossamer.parse.text.model import MAX_BLOCKS, Rows, chosen, type_matrix  # noqa: E402
from gossamer.parse.text.page_type import PAGE_TYPES, page_shape  # noqa: E402
from gossamer.parse.text.tags import TagReader, naming_tokens, words_of  # noqa: E402

FOLDS = 5
TAG_DOMAINS, WORD_DOMAINS = 4, 6
"""Domains a word must occur on to get a score."""
TAG_PRIOR, WORD_PRIOR = 2.0, 4.0
"""Pages without any effect that are added to those a word was seen on."""
LEAST = 0.02
"""Scores nearer to 0 are left out."""
LONGEST_WORD = 40
_SEED = 4


class Example:
    """A page of the training part."""

    def __init__(self, sample) -> None:
        self.truth, self.domain, self.page_type = sample.truth, sample.domain, sample.page_type
        self.fold = bucket(f"fold {sample.domain}", FOLDS)
        tree = Tree(decode(sample.html, "text/html", "").text, 1_000_000)
        self.facts = page_facts(tree, sample.url, read_structured(tree, sample.url).types)
        self.body = tree.lean_body()
        recorder = _Recorder()
        page = read_blocks(self.body, recorder, MAX_BLOCKS)
        self.texts = page.texts
        shares, sizes = block_shares(page.texts, sample.truth)
        self.shares, self.sizes = np.array(shares), np.array(sizes, float)
        self.size = float(sum(len(text.split()) for text in sample.truth.splitlines()))
        self.weights = ((self.sizes + 1) / (self.size + 80)) ** 0.7
        self.tag_effects = self._tag_effects(page, recorder.words)
        self.word_effects = self._word_effects()

    def _tag_effects(self, page, words) -> dict[str, float]:
        weights = np.minimum(self.sizes, 60)
        all_words = np.concatenate([[0], np.cumsum(weights)])
        main_words = np.concatenate([[0], np.cumsum(weights * self.shares)])
        held: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        for tag, first, end in zip(page.tags, page.first, page.end, strict=True):
            if end > first:
                for word in words.get(tag, ()):
                    held[word][0] += all_words[end] - all_words[first]
                    held[word][1] += main_words[end] - main_words[first]
        usual = main_words[-1] / max(all_words[-1], 1)
        return {word: main / total - usual for word, (total, main) in held.items() if total}

    def _word_effects(self) -> dict[str, float]:
        seen: dict[str, list[float]] = defaultdict(list)
        for text, share in zip(self.texts, self.shares, strict=True):
            for word in set(text[:WORDS_CHARS].lower().split()):
                seen[word].append(share)
        usual = float(self.shares.mean()) if len(self.shares) else 0.0
        return {word: float(np.mean(shares)) - usual for word, shares in seen.items()}


class _Recorder(TagReader):
    """Keeps the words of each tag."""

    def __init__(self) -> None:
        super().__init__({})
        self.words: dict = {}

    def _read(self, names):
        tag = super()._read(names)
        found = [word for token in naming_tokens(names) for word in words_of(token)]
        self.words[tag] = list(dict.fromkeys([f"<{names[0]}>", *found]))
        return tag


def scores_of(examples, effects: str, domains: int, prior: float) -> dict[str, float]:
    """Word → mean effect over pages, drawn towards 0."""
    sums: dict[str, float] = defaultdict(float)
    pages: dict[str, int] = defaultdict(int)
    where: dict[str, set[str]] = defaultdict(set)
    for example in examples:
        for word, effect in getattr(example, effects).items():
            sums[word] += effect
            pages[word] += 1
            where[word].add(example.domain)
    scores = {
        word: round(total / (pages[word] + prior), 3)
        for word, total in sums.items()
        if len(where[word]) >= domains and len(word) <= LONGEST_WORD and "\n" not in word
    }
    return {word: score for word, score in sorted(scores.items()) if abs(score) >= LEAST}


def vocabularies(examples) -> tuple[dict[str, float], dict[str, float]]:
    """The scores of words of tags and of texts."""
    tags = scores_of(examples, "tag_effects", TAG_DOMAINS, TAG_PRIOR)
    return tags, scores_of(examples, "word_effects", WORD_DOMAINS, WORD_PRIOR)


def fit_blocks(examples, attribute: str, trees: int, rate: float):
    """A model of the shares of blocks."""
    features = np.concatenate([getattr(e, attribute) for e in examples], axis=1).T
    weights = np.concatenate([e.weights for e in examples])
    pool = catboost.Pool(features, np.concatenate([e.shares for e in examples]), weight=weights / weights.mean())
    model = catboost.CatBoostClassifier(
        loss_function="CrossEntropy",
        iterations=trees,
        learning_rate=rate,
        depth=6,
        l2_leaf_reg=10,
        rsm=0.4,
        bootstrap_type="Bernoulli",
        subsample=0.7,
        border_count=48,
        score_function="L2",
        leaf_estimation_iterations=1,
        **_COMMON,
    )
    return model.fit(pool)


def fit_types(examples):
    """A model of page types."""
    model = catboost.CatBoostClassifier(
        loss_function="MultiClass",
        iterations=250,
        learning_rate=0.08,
        depth=4,
        l2_leaf_reg=5,
        rsm=0.3,
        leaf_estimation_iterations=1,
        **_COMMON,
    )
    features = np.concatenate([e.type_facts for e in examples], axis=1).T
    return model.fit(features, [PAGE_TYPES.index(e.page_type) for e in examples])


_COMMON = {"thread_count": 1, "random_seed": _SEED, "verbose": 0, "allow_writing_files": False}


def exported(model, name: str) -> dict[str, np.ndarray]:
    """The trees as arrays."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        data = json.loads(path.read_text())
    trees = data["oblivious_trees"]
    depth = max(len(tree["splits"] or ()) for tree in trees)
    scale, bias = data["scale_and_bias"]
    outputs = len(bias)
    features = np.zeros((len(trees), depth), np.uint16)
    borders = np.full((len(trees), depth), np.inf, np.float32)
    leaves = np.zeros((len(trees), 2**depth, outputs), np.float16)
    for number, tree in enumerate(trees):
        for level, split in enumerate(tree["splits"] or ()):
            features[number, level] = split["float_feature_index"]
            borders[number, level] = split["border"]
        values = np.array(tree["leaf_values"]).reshape(-1, outputs) * scale
        leaves[number, : len(values)] = values
    arrays = {"features": features, "borders": borders, "leaves": leaves, "bias": np.array(bias, np.float32)}
    return {f"{name}.{key}": value for key, value in arrays.items()}


def exported_scores(scores: dict[str, float], name: str) -> dict[str, np.ndarray]:
    """A vocabulary as arrays."""
    text = np.frombuffer("\n".join(scores).encode(), np.uint8)
    return {f"{name}.words": text, f"{name}.scores": np.array(list(scores.values()), np.float16)}


def f1_of(example, probabilities) -> float:
    """Word F1 of what would be cut out."""
    measures = example.measures
    kept = chosen(measures.page, measures.words, probabilities)
    return word_scores("\n".join(example.texts[index] for index in kept), example.truth)[2]


def report(examples, results: list[float], what: str) -> None:
    """Means over all pages and per type."""
    by_type = defaultdict(list)
    for example, result in zip(examples, results, strict=True):
        by_type[example.page_type].append(result)
    parts = "  ".join(f"{name} {np.mean(values):.3f}" for name, values in sorted(by_type.items()))
    print(f"{what}: mean {np.mean(results):.4f}  {parts}", flush=True)


def main() -> None:
    """Trains, reports and writes the model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--check", type=int, default=0, help="folds in which the second model is validated")
    parser.add_argument("--first-trees", type=int, default=120)
    parser.add_argument("--second-trees", type=int, default=220)
    parser.add_argument("--out", type=Path, default=ROOT / "src/gossamer/parse/text/models/main_text.npz")
    options = parser.parse_args()
    began = time.monotonic()
    examples = [Example(sample) for sample in read_samples(options.data) if not sample.held_out]
    examples = [example for example in examples if example.texts]
    _say(began, f"{len(examples)} pages, {sum(len(e.texts) for e in examples)} blocks")

    for fold in range(FOLDS):
        tags, words = vocabularies([e for e in examples if e.fold != fold])
        reader = TagReader(tags)
        for example in (e for e in examples if e.fold == fold):
            example.measures = Measures(read_blocks(example.body, reader, MAX_BLOCKS))
            example.rows = Rows(example.measures.count)
            example.first, example.second = example.rows.first, example.rows.all
            write_first(example.first, example.measures, example.facts.title, words)
    _say(began, "features")
    learn_first(examples, options.first_trees)
    _say(began, "first verdicts")
    learn_types(examples)
    _say(began, "types")
    for fold in range(options.check):
        inside = [e for e in examples if e.fold != fold]
        outside = [e for e in examples if e.fold == fold]
        model = fit_blocks(inside, "second", options.second_trees, 0.1)
        for example in outside:
            example.verdicts = model.predict_proba(example.second.T)[:, 1]
        done = [e for e in examples if e.fold <= fold]
        report(done, [f1_of(e, e.alone) for e in done], f"first model, folds to {fold}")
        report(done, [f1_of(e, e.verdicts) for e in done], f"second model, folds to {fold}")
        _say(began, f"second model, fold {fold}")
    write(examples, options)
    _say(began, f"{options.out}, {options.out.stat().st_size / 1000:.0f} KB")


def learn_first(examples, trees: int) -> None:
    """First verdicts, and the features that follow from them, out of fold."""
    for fold in range(FOLDS):
        model = fit_blocks([e for e in examples if e.fold != fold], "first", trees, 0.15)
        for example in (e for e in examples if e.fold == fold):
            example.alone = model.predict_proba(example.first.T)[:, 1].astype(np.float32)
            write_second(example.rows.second, example.measures, example.alone)
            example.shape = page_shape(example.measures)
            example.type_facts = type_matrix(example.facts, example.shape, example.rows)
    report(examples, [f1_of(e, e.alone) for e in examples], "first model, out of fold")


def learn_types(examples) -> None:
    """Types, and the features of the second model, out of fold."""
    for fold in range(FOLDS):
        model = fit_types([e for e in examples if e.fold != fold])
        for example in (e for e in examples if e.fold == fold):
            example.types = model.predict_proba(example.type_facts.T)[0].astype(np.float32)
            example.rows.write_page(example.types, example.shape)
    hits = [PAGE_TYPES[int(e.types.argmax())] == e.page_type for e in examples]
    report(examples, [float(hit) for hit in hits], "types, out of fold")


def write(examples, options) -> None:
    """Trains on everything and writes the file."""
    tags, words = vocabularies(examples)
    arrays = {**exported_scores(tags, "tags"), **exported_scores(words, "words")}
    arrays |= exported(fit_blocks(examples, "first", options.first_trees, 0.15), "first")
    arrays |= exported(fit_types(examples), "type")
    arrays |= exported(fit_blocks(examples, "second", options.second_trees, 0.1), "second")
    options.out.parent.mkdir(exist_ok=True)
    np.savez_compressed(options.out, **arrays)


def _say(began: float, what: str) -> None:
    print(f"{time.monotonic() - began:6.0f} s  {what}", flush=True)


if __name__ == "__main__":
    main()
