"""Naive Bayes: how much each word speaks for each category.

Two ways to estimate it. *Multinomial*: how often the word stands in the category's pages. *Complement* (Rennie et
al. 2003): how seldom it stands in all the others, which is known better where a category has few examples. Which one,
with which smoothing, is decided by cross-validation.
"""

from __future__ import annotations

import msgspec
import numpy as np

from gossamer.categories.corpus import Floats, Ints


class Variant(msgspec.Struct, frozen=True):
    """One way of estimating."""

    complement: bool
    smoothing: float
    learnt_priors: bool


VARIANTS = tuple(
    Variant(complement, smoothing, priors)
    for complement in (False, True)
    for smoothing in (0.01, 0.1, 1.0)
    for priors in (False, True)
)


def sums(words: Ints, values: Floats, labels: Ints, size: int, classes: int) -> Floats:
    """[word, category]: what the pages of a category say of a word, together."""
    flat = np.bincount(words * classes + labels, values, minlength=size * classes)
    return np.asarray(flat.reshape(size, classes))


def weights(table: Floats, variant: Variant) -> Floats:
    """[word, category]: logarithms of likelihoods, of mean 0 for each word."""
    if variant.complement:
        table = table.sum(1, keepdims=True) - table
    table = table + variant.smoothing
    logs = np.log(table) - np.log(table.sum(0))
    if variant.complement:
        logs = -logs
        logs /= np.abs(logs).sum(0) / len(logs)  # else the category with the oddest complement draws everything
    return np.asarray(logs - logs.mean(1, keepdims=True))


def prior(labels: Ints, classes: int, variant: Variant) -> Floats:
    """Logarithm of how often a category is expected."""
    if not variant.learnt_priors:
        return np.zeros(classes)
    counts = np.bincount(labels, minlength=classes) + 1.0
    return np.asarray(np.log(counts / counts.sum()))


def evidence(pages: Ints, words: Ints, values: Floats, table: Floats, count: int) -> Floats:
    """[page, category]: what the words of each page say."""
    columns = [np.bincount(pages, values * column[words], minlength=count) for column in table.T]
    return np.stack(columns, axis=1)


def confidences(scores: Floats) -> Floats:
    """[page, category]: scores as probabilities."""
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(powers / powers.sum(1, keepdims=True))


def fit_sharpness(said: Floats, priors: Floats, labels: Ints) -> float:
    """How far evidence counts: the factor under which confidences fit how often the guess was right.

    Naive Bayes takes every word for a witness of its own and is always too sure; the likelihood of pages it did not
    learn from has one maximum over this factor, found by halving the interval.
    """
    scale = float(np.abs(said).max()) or 1.0
    low, high = np.log(0.01 / scale), np.log(10_000.0 / scale)
    for _ in range(40):
        third = (high - low) / 3.0
        if _surprise(said, priors, labels, low + third) < _surprise(said, priors, labels, high - third):
            high -= third
        else:
            low += third
    return float(np.exp((low + high) / 2.0))


def _surprise(said: Floats, priors: Floats, labels: Ints, log_factor: float) -> float:
    """How unlikely the true categories are held. Each is taken for true but for one case in as many as there are
    pages (Platt 1999): without that doubt, few pages that are all guessed right would prove the factor infinite."""
    scores = said * np.exp(log_factor) + priors
    top = scores.max(1, keepdims=True)
    logs = scores - top - np.log(np.exp(scores - top).sum(1, keepdims=True))
    pages, classes = logs.shape
    doubt = 1.0 / (pages + 2.0)
    own = logs[np.arange(pages), labels]
    others = (logs.sum(1) - own) / (classes - 1)
    return float(-((1.0 - doubt) * own + doubt * others).mean())
