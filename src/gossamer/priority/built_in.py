"""The strategies that come with Gossamer, by the names that `crawl.strategy` gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gossamer.priority.backlinks import Backlinks
from gossamer.priority.breadth import BreadthFirst
from gossamer.priority.chance import RandomOrder
from gossamer.priority.earlier import earlier
from gossamer.priority.fica import Fica
from gossamer.priority.fit import Fit
from gossamer.priority.opic import Opic
from gossamer.priority.strategy import Context, LinkStrategy, Strategy


def _qrank(context: Context) -> Strategy:
    from gossamer.priority.qrank.strategy import Network  # its word lists are read only where it is used

    return Network(context)


def _qrank_links(context: Context) -> LinkStrategy:
    from gossamer.priority.qrank.strategy import NetworkAndGraph

    return NetworkAndGraph(context)


STRATEGIES: Mapping[str, Callable[[Context], Strategy | LinkStrategy]] = {
    "breadth": lambda _context: BreadthFirst(),
    "random": lambda _context: RandomOrder(),
    "fit": Fit,
    "backlinks": lambda _context: Backlinks(),
    "opic": Opic,
    "fica": lambda _context: Fica(),
    "earlier": earlier,
    "qrank": _qrank,
    "qrank-links": _qrank_links,
}
