"""Learns a model from examples, and measures it on what it did not learn from.

1. Deal the examples into folds: whole sites, where every category comes from several; else pages, those of each
   category evenly.
2. For every variant of the estimate: learn from all folds but one, words included, and judge that one.
3. Keep the variant with the best mean F1 over categories; scale its evidence so that confidence means frequency of
   being right; choose the confidence below which it is silent.
4. Learn once more, from everything.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
import xxhash
from numpy.typing import NDArray

from gossamer.categories import bayes
from gossamer.categories.bayes import VARIANTS, Variant
from gossamer.categories.corpus import MAX_WORDS, Corpus, Floats, Ints, choose_words, count, telling_words, vectors
from gossamer.categories.examples import Example, checked
from gossamer.categories.model import Model
from gossamer.categories.report import CategoryReport, Report

FOLDS = 5
PRECISION = 0.95
"""Share of answers that should be right; where it cannot be had, the best that still answers often."""
_ANSWERED = 0.25
"""Share of pages that must get an answer."""
_WORDS_SHOWN = 20


class Trial(msgspec.Struct, frozen=True):
    """What a variant says of pages it did not learn from."""

    variant: Variant
    sharpness: float
    confidence: Floats
    """[page, category]"""
    f1: float


def train(examples: Iterable[Example], *, precision: float = PRECISION, max_words: int = MAX_WORDS) -> Model:
    """A model with its report; `UsageError` where there is not enough to learn from."""
    usable, warnings = checked(examples)
    corpus = count(usable)
    fold, by = _folds(usable)
    warnings += _site_warnings(usable, by)
    trial = max(_trials(corpus, fold, max_words), key=lambda each: each.f1)
    threshold, found_warnings = _threshold(trial, corpus.label, precision)
    everything = np.ones(len(corpus.label), bool)
    vocabulary = choose_words(corpus, everything, max_words)
    table, priors = _learn(corpus, vocabulary, everything, [trial.variant])[0]
    report = _report(usable, corpus, vocabulary, trial, threshold, (int(fold.max()) + 1, by))
    return Model(
        categories=tuple(corpus.categories),
        stems=tuple(corpus.stems[number] for number in vocabulary),
        weights=(table * trial.sharpness).astype(np.float32),
        priors=priors.astype(np.float32),
        report=msgspec.structs.replace(report, warnings=(*warnings, *found_warnings)),
    )


def _folds(examples: Sequence[Example]) -> tuple[Ints, str]:
    """The fold of each example, and what was dealt."""
    sites: dict[str, set[str]] = defaultdict(set)
    for example in examples:
        sites[example.category].add(example.site)
    enough = all(len(names) > 1 and "" not in names for names in sites.values())
    return (_deal_sites(examples), "site") if enough else (_deal_pages(examples), "document")


def _deal_pages(examples: Sequence[Example]) -> Ints:
    """Examples come sorted by category and hash: round after round."""
    smallest = min(Counter(example.category for example in examples).values())
    return np.arange(len(examples)) % min(FOLDS, smallest)


def _deal_sites(examples: Sequence[Example]) -> Ints:
    """Largest site first, always to the smallest fold."""
    sizes = Counter(example.site for example in examples)
    folds = [0] * min(FOLDS, len(sizes))
    place = {}
    for site in sorted(sizes, key=lambda name: (-sizes[name], xxhash.xxh3_64_intdigest(name.encode()), name)):
        place[site] = folds.index(min(folds))
        folds[place[site]] += sizes[site]
    return np.array([place[example.site] for example in examples], np.int64)


def _site_warnings(examples: Sequence[Example], by: str) -> list[str]:
    if by == "site" or not any(example.site for example in examples):
        return []
    sites: dict[str, set[str]] = defaultdict(set)
    for example in examples:
        sites[example.category].add(example.site)
    alone = sorted(name for name, names in sites.items() if len(names) == 1)
    if len({example.site for example in examples}) == 1 or not alone:
        return []
    return [f"{name} comes from one site only: its words may be that site's" for name in alone]


def _trials(corpus: Corpus, fold: Ints, max_words: int) -> list[Trial]:
    shape = (len(corpus.label), len(corpus.categories))
    said = [np.zeros(shape) for _ in VARIANTS]
    expected = [np.zeros(shape) for _ in VARIANTS]
    for number in range(int(fold.max()) + 1):
        learning = fold != number
        vocabulary = choose_words(corpus, learning, max_words)
        learnt = _learn(corpus, vocabulary, learning, VARIANTS)
        judged = vectors(corpus.entries_of(~learning), vocabulary)
        for at, (table, priors) in enumerate(learnt):
            said[at][~learning] = bayes.evidence(*judged, table, len(corpus.label))[~learning]
            expected[at][~learning] = priors
    return [_trial(*each, corpus.label) for each in zip(VARIANTS, said, expected, strict=True)]


def _trial(variant: Variant, said: Floats, priors: Floats, labels: Ints) -> Trial:
    sharpness = bayes.fit_sharpness(said, priors, labels)
    confidence = bayes.confidences(said * sharpness + priors)
    precision, recall = _rates(_confusion(labels, confidence.argmax(1), confidence.shape[1]))
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-9)
    return Trial(variant, sharpness, confidence, float(f1.mean()))


def _learn(
    corpus: Corpus, vocabulary: Ints, learning: NDArray[np.bool_], variants: Sequence[Variant]
) -> list[tuple[Floats, Floats]]:
    """Weights and priors by each variant."""
    classes = len(corpus.categories)
    pages, words, values = vectors(corpus.entries_of(learning), vocabulary)
    table = bayes.sums(words, values, corpus.label[pages], len(vocabulary), classes)
    labels = corpus.label[learning]
    return [(bayes.weights(table, each), bayes.prior(labels, classes, each)) for each in variants]


def _confusion(labels: Ints, guesses: Ints, classes: int) -> Ints:
    return np.asarray(np.bincount(labels * classes + guesses, minlength=classes * classes).reshape(classes, classes))


def _rates(confusion: Ints) -> tuple[Floats, Floats]:
    right = confusion.diagonal()
    return right / np.maximum(confusion.sum(0), 1), right / np.maximum(confusion.sum(1), 1)


def _threshold(trial: Trial, labels: Ints, wanted: float) -> tuple[float, list[str]]:
    """The confidence above which enough answers are right, half-way to the first that is not sure enough; where all
    are, half-way to chance."""
    best = trial.confidence.max(1)
    order = np.argsort(-best, kind="stable")
    answers = np.arange(1, len(order) + 1)
    precision = np.cumsum(trial.confidence.argmax(1)[order] == labels[order]) / answers
    enough = np.flatnonzero(answers >= max(1.0, _ANSWERED * len(order)))
    reached = enough[precision[enough] >= wanted]
    at = int(reached[-1] if len(reached) else enough[precision[enough].argmax()])
    below = [*best[order], 1.0 / trial.confidence.shape[1]][at + 1]
    warning = (
        f"only {precision[at]:.0%} of the answers are right, not {wanted:.0%}: "
        "the categories overlap, or need more examples"
    )
    return float((best[order[at]] + below) / 2.0), [] if len(reached) else [warning]


def _report(
    examples: Sequence[Example], corpus: Corpus, vocabulary: Ints, trial: Trial, threshold: float,
    folds: tuple[int, str],
) -> Report:  # fmt: skip
    guesses, best = trial.confidence.argmax(1), trial.confidence.max(1)
    confusion = _confusion(corpus.label, guesses, len(corpus.categories))
    precision, recall = _rates(confusion)
    sure, right = best >= threshold, guesses == corpus.label
    categories = [
        CategoryReport(name, int(confusion[at].sum()), _sites(examples, name), float(precision[at]), float(recall[at]),
                       telling_words(corpus, vocabulary, at, _WORDS_SHOWN))
        for at, name in enumerate(corpus.categories)
    ]  # fmt: skip
    return Report(
        examples=len(examples), words=len(vocabulary),
        method="complement" if trial.variant.complement else "multinomial",
        priors="learnt" if trial.variant.learnt_priors else "uniform", smoothing=trial.variant.smoothing,
        folds=folds[0], folds_by=folds[1], accuracy=float(right.mean()), threshold=threshold,
        answered=float(sure.mean()), precision=float(right[sure].mean()) if sure.any() else 0.0,
        categories=tuple(categories), confusion=tuple(tuple(map(int, row)) for row in confusion),
    )  # fmt: skip


def _sites(examples: Sequence[Example], category: str) -> int:
    return len({example.site for example in examples if example.category == category and example.site})
