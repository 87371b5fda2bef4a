"""What pages cost over the sizes of a URL table, and the seed's model of a cycle fitted to it.

The seed's c₂ is all of a page's work, so the model is fitted twice: for the calls on the frontier alone, which is the
harder test, and with the reading of the page in c₂.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import msgspec

from studies.growth.cycle_model import Fit, Growth, fit_cycle, fit_logarithm
from studies.growth.page_reading import reading_cost
from studies.growth.table_growth import Measured, Work, fitting, measure
from studies.study import Options


class Findings(msgspec.Struct, frozen=True):
    """All that was measured."""

    measured: list[Measured]
    left_out: list[int]
    """Sizes for which the disk had no room."""
    reading: float
    """Microseconds of processor time to read a page."""
    frontier: Fit
    """Of the calls on the frontier alone."""
    page: Fit
    """With the reading of the page."""
    logarithm: Growth
    memory: int
    """Bytes of the machine."""


def find(options: Options, sizes: Sequence[int], pages: int, read: int) -> Findings:
    """Measure so many pages at each size, and the reading of so many."""
    store = options.cache / "growth"
    kept = fitting(store, sizes)
    measured = measure(store, kept, Work(pages=pages, seed=options.seed), options.tell)
    options.tell(f"reading {read} pages")
    reading = reading_cost(read, options.seed)
    urls, costs = [one.urls for one in measured], [one.cpu for one in measured]
    return Findings(
        measured,
        [size for size in sizes if size not in kept],
        reading,
        fit_cycle(urls, costs, options.seed),
        fit_cycle(urls, costs, options.seed, besides=reading),
        fit_logarithm(urls, [one.cost for one in measured]),
        os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    )
