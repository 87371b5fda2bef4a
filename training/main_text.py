"""Makes `src/gossamer/parse/text/models/main_text.npz`, the model that tells main text from furniture.

    python training/main_text.py --data ../shared/data/extraction/wcxb-dev.tar.zst
    python training/main_text.py --check 3      also cross-validates the second model, in 3 folds

Needs catboost and rapidfuzz. One thread a model, fixed seeds: the same data give the same model. Only the
training parts of WCXB's development set and of the news are read (`bench/_extraction_data.py` splits them by domain
and by publisher).

1. Each block gets the share of its words that is in the annotated text (`_labels.py`).
2. Words of classes and ids, and of the beginnings of blocks, get scores: how much more main text than
   elsewhere on the page stands in elements, or blocks, that carry them. A block is always shown scores
   that were made without its own fold of domains.
3. The first model learns the shares from the features of blocks. Its verdicts about a fold come from a
   model that did not see the fold.
4. The type model learns the type of the page; likewise.
5. The second model learns the shares from features, first verdicts and types.

Pages of news count more, since they are few, and many pages are shown once more with only a few of their
paragraphs: else the models take a short text among many teasers for one of the teasers.

A block weighs what its words mean for the page's F1, dampened: otherwise long pages decide everything.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import zipfile
from collections import defaultdict
from multiprocessing import get_context
from pathlib import Path

import catboost
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "bench"), str(Path(__file__).parent)]

from _labels import block_shares  # noqa: E402

from _data import NEWS, WCXB  # noqa: E402
from _extraction_data import bucket, read_news, read_samples, word_scores  # noqa: E402
from _extraction_data import words as split_words  # noqa: E402
from gossamer.parse.charset import decode  # noqa: E402
from gossamer.parse.html import Tree  # noqa: E402
from gossamer.parse.structured import read_structured  # noqa: E402
from gossamer.parse.text import page_facts  # noqa: E402
from gossamer.parse.text.blocks import read_blocks  # noqa: E402
from gossamer.parse.text.features import WORDS_CHARS, write_first, write_second  # noqa: E402
from gossamer.parse.text.forest import sigmoid  # noqa: E402
from gossamer.parse.text.measures import Measures  # noqa: E402
from gossamer.parse.text.model import MAX_BLOCKS, Rows, chosen, leaned, type_matrix  # noqa: E402
from gossamer.parse.text.page_type import PAGE_TYPES, page_shape  # noqa: E402
from gossamer.parse.text.tags import TagReader, naming_tokens, words_of  # noqa: E402
from gossamer.parse.title import letters  # noqa: E402

FOLDS = 3
TAG_DOMAINS, WORD_DOMAINS = 4, 6
"""Domains a word must occur on to get a score."""
TAG_PRIOR, WORD_PRIOR = 2.0, 4.0
"""Pages without any effect that are added to those a word was seen on."""
LEAST = 0.02
"""Scores nearer to 0 are left out."""
LONGEST_WORD = 40
NEWS_WEIGHT = 3
"""Of a page of news, which are few."""
SHORTENED = 3
"""One of so many articles, forum and service pages, and all news and documentation, are shown once more with only a few
of their paragraphs."""
SHORTENED_WEIGHT = 0.45
"""More of it helps news and costs documentation and lists."""
MOST_BLOCKS = 250
"""Of a page."""
LINE = 40
"""Characters of a paragraph that is more than a line."""
_SEED = 4


class Example:
    """A page of the training part; `shortened`: with only a few of its paragraphs."""

    def __init__(self, sample, shortened: bool = False) -> None:
        self.truth, self.domain, self.page_type = sample.truth, sample.domain, sample.page_type
        self.shortened, self.is_news = shortened, bool(sample.publisher)
        self.fold = bucket(f"fold {sample.publisher or sample.domain}", FOLDS)
        tree = Tree(decode(sample.html, "text/html", "").text, 1_000_000)
        structured = read_structured(tree, sample.url)
        self.facts = page_facts(tree, sample.url, structured.types, "" if shortened else structured.body)
        self.body = tree.lean_body()
        if shortened:
            _shorten(self.body, sample)
        recorder = _Recorder()
        page = read_blocks(self.body, recorder, MAX_BLOCKS)
        self.texts = page.texts
        shares, sizes = block_shares(page.texts, sample.truth)
        self.shares, self.sizes = np.array(shares), np.array(sizes, float)
        self.size = float((self.sizes * self.shares).sum() if shortened else len(split_words(sample.truth)))
        self.weights = ((self.sizes + 1) / (self.size + 80)) ** 0.7
        self.weights *= (NEWS_WEIGHT if sample.publisher else 1) * (SHORTENED_WEIGHT if shortened else 1)
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


def _shorten(body, sample) -> None:
    """Take all paragraphs of the main text out but for the first few."""
    truth = letters(sample.truth)
    wanted = [p for p in body.iter_elements(("p",)) if len(p.text) > LINE and letters(p.text) in truth]
    for paragraph in wanted[1 + bucket(f"short {sample.name}", 3) :]:
        paragraph.extract()


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
    examples = [example for example in examples if not example.shortened]
    tags = scores_of(examples, "tag_effects", TAG_DOMAINS, TAG_PRIOR)
    return tags, scores_of(examples, "word_effects", WORD_DOMAINS, WORD_PRIOR)


def fit_blocks(examples, attribute: str, trees: int, rate: float):
    """A model of the shares of blocks."""
    picked = [_picked(len(e.texts)) for e in examples]
    features = np.concatenate([getattr(e, attribute)[:, p] for e, p in zip(examples, picked, strict=True)], axis=1).T
    shares = np.concatenate([e.shares[p] for e, p in zip(examples, picked, strict=True)])
    scales = [len(e.texts) / len(p) for e, p in zip(examples, picked, strict=True)]
    weights = np.concatenate([e.weights[p] * k for e, p, k in zip(examples, picked, scales, strict=True)])
    pool = catboost.Pool(features, shares, weight=weights / weights.mean())
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


def _picked(blocks: int) -> np.ndarray:
    """The blocks of a page that are learnt from: of a long page as many as of others, drawn by chance."""
    if blocks <= MOST_BLOCKS:
        return np.arange(blocks)
    return np.sort(np.random.default_rng(_SEED).choice(blocks, MOST_BLOCKS, replace=False))


def fit_types(examples, attribute: str):
    """A model of page types; a page that lost most of its paragraphs is no example of its type."""
    examples = [example for example in examples if not example.shortened]
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
    features = np.concatenate([getattr(e, attribute) for e in examples], axis=1).T
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
    """Means over the pages as they are: WCXB, each of its types, news."""
    groups = defaultdict(list)
    for example, result in zip(examples, results, strict=True):
        if not example.shortened:
            for group in ("news",) if example.is_news else ("WCXB", example.page_type):
                groups[group].append(float(result))
    print(
        f"{what}: " + "  ".join(f"{name} {np.mean(values):.4f}" for name, values in sorted(groups.items())), flush=True
    )


def read_examples(data: Path, news: Path) -> list[Example]:
    """The pages of the training parts that have text, and the shortened ones."""
    samples = [sample for sample in (*read_samples(data), *read_news(news)) if not sample.held_out]
    shortened = [sample for sample in samples if _is_shortened(sample)]
    examples = [*map(Example, samples), *(Example(sample, shortened=True) for sample in shortened)]
    return [example for example in examples if example.texts]


def _is_shortened(sample) -> bool:
    if sample.publisher or sample.page_type == "documentation":
        return True
    return sample.page_type in ("article", "forum", "service") and not bucket(f"shorten {sample.name}", SHORTENED)


def main() -> None:
    """Trains, reports and writes the model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=WCXB, help="wcxb-dev.tar.zst")
    parser.add_argument("--news", type=Path, default=NEWS, help="news-dev.tar.zst")
    parser.add_argument("--check", type=int, default=0, help="folds in which the second model is validated")
    parser.add_argument("--threads", type=int, default=1, help="of each model; several give other last digits")
    parser.add_argument("--first-trees", type=int, default=120)
    parser.add_argument("--second-trees", type=int, default=208)
    parser.add_argument("--out", type=Path, default=ROOT / "src/gossamer/parse/text/models/main_text.npz")
    options = parser.parse_args()
    _COMMON["thread_count"] = options.threads
    began = time.monotonic()
    examples = read_examples(options.data, options.news)
    _say(began, f"{len(examples)} pages, {sum(len(e.texts) for e in examples)} blocks")

    for fold in range(FOLDS):
        tags, words = vocabularies([e for e in examples if e.fold != fold])
        reader = TagReader(tags)
        for example in (e for e in examples if e.fold == fold):
            example.measures = Measures(read_blocks(example.body, reader, MAX_BLOCKS))
            example.rows = Rows(example.measures.count)
            example.first, example.second = example.rows.first, example.rows.all
            write_first(example.first, example.measures, example.facts.title, words, example.facts.stated)
    _say(began, "features")
    arrays = learn_first(examples, options.first_trees)
    _say(began, "first verdicts")
    arrays |= learn_types(examples)
    _say(began, "types")
    arrays |= learn_second(examples, options.second_trees, options.check)
    tags, words = vocabularies(examples)
    arrays |= {**exported_scores(tags, "tags"), **exported_scores(words, "words")}
    save(arrays, options.out)
    _say(began, f"{options.out}, {options.out.stat().st_size / 1000:.0f} KB")


def save(arrays: dict[str, np.ndarray], path: Path) -> None:
    """Write what `np.load` reads, packed as tightly as it goes."""
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, values in arrays.items():
            with archive.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, values)


def learn_first(examples, trees: int) -> dict[str, np.ndarray]:
    """The first model; its verdicts, and the features that follow from them, out of fold."""
    arrays, verdicts = fitted(examples, "first", FOLDS, fit_blocks, "first", trees, 0.15)
    for example, found in zip(examples, verdicts, strict=True):
        example.alone = found[:, 1].astype(np.float32)
        write_second(example.rows.second, example.measures, example.alone)
        example.shape = page_shape(example.measures)
        example.type_facts = type_matrix(example.facts, example.shape, example.rows)
    report(examples, [f1_of(e, e.alone) for e in examples], "first model, out of fold")
    return arrays


def learn_types(examples) -> dict[str, np.ndarray]:
    """The model of types; types, and the features of the second model, out of fold."""
    arrays, types = fitted(examples, "type", FOLDS, fit_types, "type_facts")
    for example, found in zip(examples, types, strict=True):
        example.types = found[0].astype(np.float32)
        example.rows.write_page(example.types, example.shape)
    report(examples, [PAGE_TYPES[int(e.types.argmax())] == e.page_type for e in examples], "types, out of fold")
    return arrays


def learn_second(examples, trees: int, check: int) -> dict[str, np.ndarray]:
    """The second model; a report on the pages of the folds in which it is checked."""
    arrays, verdicts = fitted(examples, "second", check, fit_blocks, "second", trees, 0.1)
    done = [(e, found[:, 1]) for e, found in zip(examples, verdicts, strict=True) if found is not None]
    if done:
        scores = [np.log(found / (1 - found)) for _, found in done]
        leaning = [sigmoid(leaned(score, e.types)) for (e, _), score in zip(done, scores, strict=True)]
        pages = [example for example, _ in done]
        report(pages, [f1_of(e, found) for e, found in done], "second model, out of fold")
        report(pages, [f1_of(e, found) for e, found in zip(pages, leaning, strict=True)], "the same, leaning")
    return arrays


_shared: list = []
"""The examples, for the processes that are forked from this one."""


def fitted(examples, name: str, folds: int, fit, attribute: str, *settings):
    """The model of all examples as arrays, and for each example what the model says that did not see its fold.

    Each model is trained in a process of its own, by one thread.
    """
    _shared[:] = examples
    jobs = [(None, name, fit, attribute, settings), *((fold, name, fit, attribute, settings) for fold in range(folds))]
    with get_context("fork").Pool(len(jobs)) as pool:
        arrays, *parts = pool.map(_fit, jobs, chunksize=1)
    said = {number: found for part in parts for number, found in part.items()}
    return arrays, [said.get(number) for number in range(len(examples))]


def _fit(job):
    fold, name, fit, attribute, settings = job
    model = fit([e for e in _shared if e.fold != fold], attribute, *settings)
    if fold is None:
        return exported(model, name)
    return {n: model.predict_proba(getattr(e, attribute).T) for n, e in enumerate(_shared) if e.fold == fold}


def _say(began: float, what: str) -> None:
    print(f"{time.monotonic() - began:6.0f} s  {what}", flush=True)


if __name__ == "__main__":
    main()
