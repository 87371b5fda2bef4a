"""Scores multiply, and a setting says which."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import UsageError
from gossamer.model.records import Discovered
from gossamer.priority.backlinks import Backlinks
from gossamer.priority.breadth import BreadthFirst
from gossamer.priority.fica import Fica
from gossamer.priority.fit import Fit
from gossamer.priority.opic import Opic
from gossamer.priority.product import Product, build
from gossamer.priority.strategy import Context, Floats, LinkStrategy, Strategy

CONTEXT = Context(fits=lambda url: "news" in url)
KNOWN: dict[str, Strategy | LinkStrategy] = {
    "fit": Fit(CONTEXT),
    "breadth": BreadthFirst(),
    "opic": Opic(CONTEXT),
    "fica": Fica(),
    "backlinks": Backlinks(),
}


class Constant:
    def __init__(self, score: float) -> None:
        self.score = score

    def scores(self, found: Sequence[Discovered]) -> Floats:
        return np.full(len(found), self.score)


@given(st.lists(st.floats(0.001, 1), max_size=6), st.integers(0, 3))
def test_a_product_multiplies(scores: list[float], urls: int) -> None:
    product = Product([Constant(score) for score in scores], None)
    expected = float(np.prod(scores)) if scores else 1.0
    assert product.scores([Discovered("https://a.test/")] * urls).tolist() == pytest.approx([expected] * urls)


@pytest.mark.parametrize("text", ["fit * opic", "fit*opic", "  opic*fit ", "\tfit\n*opic"])
def test_a_setting_names_the_factors(text: str) -> None:
    product = build(text, KNOWN.__getitem__)
    assert (product.names, product.links_name) == (("fit",), "opic")
    assert product.static == (KNOWN["fit"],)
    assert product.links is KNOWN["opic"]


def test_without_links_there_is_no_strategy_that_goes_by_them() -> None:
    product = build("breadth", KNOWN.__getitem__)
    assert product.links is None
    assert product.links_name == ""


def test_by_links_alone_all_urls_score_the_same() -> None:
    product = build("fica", KNOWN.__getitem__)
    assert product.scores([Discovered("https://a.test/1"), Discovered("https://a.test/2", depth=9)]).tolist() == [1, 1]


def test_factors_are_told_by_name() -> None:
    product = build("breadth * fit * opic", KNOWN.__getitem__)
    found = Discovered("https://a.test/tags", depth=4)
    assert product.factors(found) == [("breadth", 0.125), ("fit", 2.0**-12)]
    assert product.scores([found]).tolist() == [2.0**-15]


def test_factors_that_nobody_named_are_called_by_their_class() -> None:
    assert Product([BreadthFirst()], Opic(CONTEXT)).factors(Discovered("https://a.test/")) == [("BreadthFirst", 1.0)]


def test_each_factor_needs_its_name() -> None:
    with pytest.raises(ValueError, match="as many names"):
        Product([BreadthFirst()], None, names=["fit", "breadth"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the strategy is empty"),
        ("  ", "the strategy is empty"),
        ("fit *", "nothing beside it"),
        ("* fit", "nothing beside it"),
        ("fit * * opic", "nothing beside it"),
        ("*", "nothing beside it"),
        ("fit * opic * fit", "names `fit` twice"),
        ("opic*opic", "names `opic` twice"),
        ("fit * opic * backlinks", "of `opic` and `backlinks` take one"),
        ("opic * fica * backlinks", "of `opic` and `fica` and `backlinks` take one"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        build(text, KNOWN.__getitem__)
    assert "\n" not in str(refused.value)


def test_a_name_that_nobody_knows_is_refused_by_who_makes_strategies() -> None:
    def make(name: str) -> Strategy:
        raise UsageError(f"there is no strategy called {name!r}")

    with pytest.raises(UsageError, match="'optic'"):
        build("optic", make)
