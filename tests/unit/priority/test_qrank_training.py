"""Making a model of QRank from URLs with ranks."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import UsageError
from gossamer.priority.qrank.model import load_model
from gossamer.priority.qrank.training import importances, named_sites, places, spearman, train_from_rows


def pages(hosts: int, each: int = 60, seed: int = 1) -> list[str]:
    luck = random.Random(seed)
    words = "green house river stone winter music paper bread".split()
    return [
        f"https://host{host}.example.org/" + "/".join(luck.choices(words, k=luck.randint(1, 7))) + f"/{number}"
        for host in range(hosts)
        for number in range(each)
    ]


def rank_by_length(url: str) -> float:
    return 1000 / len(url) ** 2


def test_a_law_is_learnt_and_holds_on_hosts_that_were_not_seen() -> None:
    trained = train_from_rows(((url, rank_by_length(url)) for url in pages(4)), seed=1)
    assert (trained.pages, trained.sites) == (240, 4)
    assert trained.held_out is not None
    assert trained.held_out.correlation > 0.9
    assert trained.held_out.deviation < 0.5 * trained.held_out.deviation_of_mean
    strangers = pages(1, seed=9)
    guessed = load_model(trained.model).place([url.replace("host0", "unseen") for url in strangers])
    assert spearman(guessed, np.array([rank_by_length(url) for url in strangers])) > 0.9


def test_the_law_is_learnt_also_where_it_is_the_other_way_round() -> None:
    trained = train_from_rows(((url, float(len(url))) for url in pages(1)), seed=1)
    short, long = load_model(trained.model).place(
        ["https://x.example.org/a", "https://x.example.org/green/house/of/stone"]
    )
    assert short < long


def test_sites_are_not_compared_with_each_other() -> None:
    """The pages of one host have ranks a million times as high; within hosts the law is the same."""
    rows = [(url, rank_by_length(url) * (1e6 if "host0" in url else 1)) for url in pages(2)]
    trained = train_from_rows(rows, seed=1)
    assert trained.held_out is not None
    assert trained.held_out.correlation > 0.8


def test_the_same_rows_and_seed_make_the_same_model() -> None:
    rows = [(url, rank_by_length(url)) for url in pages(1)]
    first = train_from_rows(rows, seed=5).model
    assert train_from_rows(rows, seed=5).model == first
    assert train_from_rows(rows, seed=6).model != first


def test_a_single_site_is_checked_by_its_own_pages_only() -> None:
    trained = train_from_rows((url, rank_by_length(url)) for url in pages(1))
    assert trained.sites == 1
    assert trained.held_out is None
    assert trained.other_pages.correlation > 0.9


def test_a_law_of_one_site_holds_on_its_other_pages_but_on_no_other_site() -> None:
    """On one host long URLs are good, on the other short ones; the letters of the first are capitals."""
    rows = [(url.replace("e", "E"), float(len(url))) for url in pages(1)]
    rows += [(url.replace("host0", "other"), rank_by_length(url)) for url in pages(1, seed=2)]
    trained = train_from_rows(rows)
    assert trained.held_out is not None
    assert trained.held_out.correlation < 0 < 0.4 < trained.other_pages.correlation
    assert [(one.site, one.pages) for one in trained.other_pages.each] == [
        ("host0.ExamplE.org", 60), ("other.example.org", 60),
    ]  # fmt: skip


def test_hosts_with_few_pages_are_thrown_together() -> None:
    urls = [*pages(1), *(f"https://tiny{number}.example.net/" for number in range(20))]
    names, numbers = named_sites(urls)
    assert names == ["", "host0.example.org"]
    assert numbers.tolist() == [1] * 60 + [0] * 20


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        (("https://x.org/", float("nan")), "row 61.*nan"),
        (("https://x.org/", 0.0), "row 61.*above 0"),
        (("https://x.org/", -1.0), "row 61.*above 0"),
        (("https://x.org/", float("inf")), "row 61.*inf"),
        (("no url", 1.0), "row 61.*not an absolute URL"),
        (("http://[broken/", 1.0), "not a URL"),
    ],
)
def test_a_bad_row_is_named(row: tuple[str, float], complaint: str) -> None:
    rows = [(url, rank_by_length(url)) for url in pages(1)]
    with pytest.raises(UsageError, match=complaint):
        train_from_rows([*rows, row])


def test_rows_that_teach_nothing_are_refused() -> None:
    with pytest.raises(UsageError, match="too few"):
        train_from_rows([("https://x.org/", 1.0)])
    with pytest.raises(UsageError, match="all ranks are the same"):
        train_from_rows((url, 2.0) for url in pages(1))


def test_places_are_shares_of_pages_below_and_ties_share_theirs() -> None:
    assert places(np.array([5.0, 1.0, 1.0, 9.0])).tolist() == [0.625, 0.25, 0.25, 0.875]


def test_importances_are_logarithmic_steps_from_the_least_to_the_greatest() -> None:
    assert importances(np.array([1.0, 10.0, 100.0])).tolist() == [0, 0.5, 1]
    assert importances(np.array([3.0, 3.0])).tolist() == [0, 0]


@given(st.lists(st.integers(1, 50), min_size=2, max_size=30))
def test_rank_correlation_is_1_with_itself_and_minus_1_with_its_reverse(values: list[int]) -> None:
    ranks = np.array(values, float)
    if len(set(values)) > 1:
        assert spearman(ranks, ranks**3) == pytest.approx(1)
        assert spearman(ranks, -ranks) == pytest.approx(-1)
