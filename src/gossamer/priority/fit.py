"""Useful pages first (S0.3): what fits a document rule of its domain before what does not.

Rules are looked up by domain and each new URL is judged once, when it enters the table: the cost
does not grow with the number of domains, nor with the links that lead to known URLs. A domain without
rules is not held against its pages.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gossamer.model.records import Discovered
from gossamer.priority.strategy import Context, Floats


class Fit:
    """`fit` for URLs that fit a rule or have none to fit, `unfit` for the others; multiplies well."""

    def __init__(self, context: Context) -> None:
        self._fits = context.fits
        self._fit = context.config.fit
        self._unfit = context.config.unfit

    def scores(self, found: Sequence[Discovered]) -> Floats:
        """One of two scores for each URL."""
        return np.fromiter(
            (self._unfit if self._fits(one.url) is False else self._fit for one in found), np.float64, len(found)
        )
