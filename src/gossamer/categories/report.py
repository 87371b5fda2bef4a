"""How good a classifier is, measured on pages it did not learn from."""

from __future__ import annotations

import msgspec


class CategoryReport(msgspec.Struct, frozen=True):
    """One category."""

    name: str
    examples: int
    sites: int
    """Sites its examples come from; 0 where that is not known."""
    precision: float
    """Of the pages it was given to, the part that belongs there."""
    recall: float
    """Of the pages that belong there, the part it was given to."""
    words: tuple[str, ...]
    """The words that speak for it most."""


class Report(msgspec.Struct, frozen=True):
    """What training found out. Precision, recall and confusion count the best guess, sure or not."""

    examples: int
    words: int
    """Size of the vocabulary."""
    method: str
    """`multinomial` or `complement`."""
    priors: str
    """`uniform`, or `learnt` where a frequent category is expected more often."""
    smoothing: float
    folds: int
    folds_by: str
    """`site`: no site was learnt from and tested at once; `document`: there are too few sites for that."""
    accuracy: float
    """Share of right guesses."""
    threshold: float
    """Confidence below which there is no answer."""
    answered: float
    """Share of pages that get an answer."""
    precision: float
    """Share of the answers that are right."""
    categories: tuple[CategoryReport, ...]
    confusion: tuple[tuple[int, ...], ...]
    """Row: the true category; column: the guess."""
    warnings: tuple[str, ...] = ()
