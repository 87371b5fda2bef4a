"""The strategies that go by QRank keep the contract of strategies."""

from __future__ import annotations

import numpy as np
import pytest

from gossamer.errors import UsageError
from gossamer.model.records import Discovered
from gossamer.priority.qrank.model import default_model
from gossamer.priority.qrank.strategy import Network, NetworkAndGraph, spread
from gossamer.priority.strategy import Context, LinkStrategy, Standing

FOUND = [
    Discovered("https://example.com/"),
    Discovered("https://example.com/news/"),
    Discovered("https://example.com/a/b/c/d/view.php?id=4711&session=abcdef0123456789&page=40"),
]


def standing(cash: list[float]) -> Standing:
    return Standing(np.array(cash), np.zeros(len(cash)), np.zeros(len(cash)))


def test_scores_are_above_0_up_to_1_and_follow_the_model() -> None:
    scores = Network(Context()).scores(FOUND)
    assert ((scores > 0) & (scores <= 1)).all()
    places = default_model().place([one.url for one in FOUND])
    assert (np.argsort(scores) == np.argsort(places)).all()


def test_scores_are_spread_over_many_levels() -> None:
    assert spread(np.array([1.0]))[0] == 1
    assert spread(np.array([0.0]))[0] == 2.0**-12
    assert spread(np.array([0.5]))[0] == 2.0**-6


def test_no_urls_have_no_scores() -> None:
    assert len(Network(Context()).scores([])) == 0


def test_the_model_of_the_context_is_used() -> None:
    data = default_model().dump()
    assert (Network(Context(model=data)).scores(FOUND) == Network(Context()).scores(FOUND)).all()
    for strategy in (Network, NetworkAndGraph):
        with pytest.raises(UsageError):
            strategy(Context(model=b"garbage"))


def test_network_and_graph_goes_by_links() -> None:
    assert isinstance(NetworkAndGraph(Context()), LinkStrategy)


def test_a_new_link_has_the_networks_value_and_its_share_of_the_parents() -> None:
    strategy = NetworkAndGraph(Context())
    start = strategy.start(FOUND, 7.0)
    assert start.cash == pytest.approx(default_model().place([one.url for one in FOUND]))
    gifts, parents = strategy.give(standing([0.8]), np.array([4.0]), 7.0)
    assert gifts.tolist() == [0.2]
    assert parents.cash.tolist() == [0.8]
    gained = strategy.gain(start, np.full(3, gifts[0]))
    assert gained.cash == pytest.approx(start.cash + 0.2)


def test_each_known_link_adds_the_parents_share() -> None:
    strategy = NetworkAndGraph(Context())
    once = strategy.gain(standing([0.5]), np.array([0.1]))
    twice = strategy.gain(once, np.array([0.1]))
    assert twice.cash == pytest.approx([0.7])
    assert strategy.joins == "sum"
    assert not strategy.again


def test_values_rise_with_what_was_given_and_stay_in_range() -> None:
    values = NetworkAndGraph(Context()).values(standing([0.0, 0.2, 0.9, 1.5, 40.0, 1e9]))
    assert ((values > 0) & (values <= 1)).all()
    assert (np.diff(values) > 0).all()
