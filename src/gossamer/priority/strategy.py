"""What a strategy is: it says how good a URL is, and so what is fetched first.

A score is a number of (0, 1], 1 being the best. Scores of several strategies multiply
(`fit * opic`), and `levels` cuts the product into the 32 levels of the queue. Strategies are pure
and work on batches: the live frontier calls them in the transaction that enters new URLs, a
simulator calls the same objects.

Most strategies look at the URL alone, once, when it enters the table (`Strategy`). Others go by links
(`LinkStrategy`): each URL has a *standing*, a page that was fetched gives something to the pages it
links to, and what these gain may raise them in the queue. Of those a crawl can follow one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.model.records import Discovered
from gossamer.priority.config import PriorityConfig

Floats = NDArray[np.float64]


class Strategy(Protocol):
    """Scores new URLs by what is known when they enter the table."""

    def scores(self, found: Sequence[Discovered]) -> Floats:
        """A score of (0, 1] for each URL."""
        ...


class Standing(NamedTuple):
    """What a strategy that goes by links keeps of each URL: three numbers, whatever they mean to it."""

    cash: Floats
    history: Floats
    at: Floats


@runtime_checkable
class LinkStrategy(Protocol):
    """Scores URLs by the links that lead to them."""

    joins: Literal["sum", "min"]
    """How the gifts of several links to one URL become one."""
    again: bool
    """Whether a page gives something at each visit, not only at its first."""

    def start(self, found: Sequence[Discovered], now: float) -> Standing:
        """The standings of URLs that enter the table, before the links that led to them count."""
        ...

    def give(self, pages: Standing, links: Floats, now: float) -> tuple[Floats, Standing]:
        """What each fetched page gives to each of its links (`links`: how many it has, at least 1), and
        the pages' standings after that."""
        ...

    def gain(self, targets: Standing, gifts: Floats) -> Standing:
        """The standings of URLs that were given something."""
        ...

    def values(self, standings: Standing) -> Floats:
        """The scores of (0, 1] that standings mean."""
        ...


class Context(msgspec.Struct, frozen=True):
    """What strategies may be built from."""

    config: PriorityConfig = PriorityConfig()
    fits: Callable[[str], bool | None] = lambda _url: None
    """Whether a URL fits a document rule; None where its domain has no rules."""
    ranks: Mapping[int, float] = {}
    """Ranks of an earlier crawl by `key64` of the URL."""
    model: bytes = b""
    """The QRank model in the settings, `b""` for the one that comes with Gossamer."""
