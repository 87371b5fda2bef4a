"""Several strategies as one: scores multiply (S0.3), so `fit * opic` is a setting, not a class."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gossamer.errors import UsageError
from gossamer.model.records import Discovered
from gossamer.priority.strategy import Floats, LinkStrategy, Strategy


class Product:
    """The strategies of a crawl: any number that look at the URL, at most one that goes by links."""

    def __init__(
        self,
        static: Sequence[Strategy],
        links: LinkStrategy | None = None,
        *,
        names: Sequence[str] = (),
        links_name: str = "",
    ) -> None:
        self.static = tuple(static)
        self.links = links
        self.names = tuple(names) or tuple(type(strategy).__name__ for strategy in static)
        self.links_name = links_name or (type(links).__name__ if links is not None else "")
        if len(self.names) != len(self.static):
            raise ValueError("as many names as strategies")

    def scores(self, found: Sequence[Discovered]) -> Floats:
        """The product of the scores by URL, 1 where there are none; what links are worth comes on top."""
        product = np.ones(len(found))
        for strategy in self.static:
            product *= strategy.scores(found)
        return product

    def factors(self, found: Discovered) -> list[tuple[str, float]]:
        """The name and the score of each factor by URL."""
        return [
            (name, float(strategy.scores([found])[0])) for name, strategy in zip(self.names, self.static, strict=True)
        ]


def build(text: str, make: Callable[[str], Strategy | LinkStrategy]) -> Product:
    """Strategies from a setting such as `fit * opic`; `make` knows the names."""
    static: list[tuple[str, Strategy]] = []
    by_links: list[tuple[str, LinkStrategy]] = []
    for name in _names(text):
        strategy = make(name)
        if isinstance(strategy, LinkStrategy):
            by_links.append((name, strategy))
        else:
            static.append((name, strategy))
    if len(by_links) > 1:
        both = " and ".join(f"`{name}`" for name, _ in by_links)
        raise UsageError(f"the strategy {text!r} goes by links in more than one way: of {both} take one")
    links_name, links = by_links[0] if by_links else ("", None)
    return Product(
        [strategy for _, strategy in static], links, names=[name for name, _ in static], links_name=links_name
    )


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split("*")]
    if names == [""]:
        raise UsageError("the strategy is empty: name one, or several as in `fit * opic`")
    if "" in names:
        raise UsageError(f"the strategy {text!r} has a `*` with nothing beside it: write it as in `fit * opic`")
    for position, name in enumerate(names):
        if name in names[:position]:
            raise UsageError(f"the strategy {text!r} names `{name}` twice: once is enough")
    return names
