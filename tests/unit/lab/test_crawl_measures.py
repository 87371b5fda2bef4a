"""Measures of simulated crawls: they obey their laws, and agree with slow and simple counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.lab.simulation.measures import delays, freshness_over_time
from gossamer.lab.webs.ragged import ragged
from gossamer.lab.webs.web import NOWHERE, Facts, Floats, Ints, RecordedWeb
from studies.measures import area, coverage, mean_rank, useful_share

START, END = 1_000_000.0, 1_000_100.0
NEVER = -np.inf


def make_web(
    changes: list[list[float]],
    *,
    born: list[float] | None = None,
    fit: list[int] | None = None,
    texts: list[str] | None = None,
    answer: list[str] | None = None,
) -> RecordedWeb:
    """Times are counted from the start."""
    n = len(changes)
    return RecordedWeb(
        Facts("t", START, END, [0]),
        [f"http://a.example/{row}" for row in range(n)],
        answer=answer or ["document"] * n,
        links=ragged([[]] * n, np.int64),
        fit=np.array(fit or [1] * n, np.int8),
        text_hash=texts or [str(row) for row in range(n)],
        born=START + np.array(born if born is not None else [NEVER] * n, np.float64),
        changes=ragged([[START + time for time in times] for times in changes], np.float64),
    )


seconds = st.integers(0, 100).map(float)


@st.composite
def crawls(draw: st.DrawFn) -> tuple[RecordedWeb, Floats, Ints]:
    """A small web with births, changes, copies and errors, and a crawl of it that also asks for what is not there."""
    n = draw(st.integers(1, 6))
    column = {"min_size": n, "max_size": n}
    born = draw(st.lists(st.sampled_from([NEVER, 10.0, 40.0, 90.0]), **column))
    changes = draw(st.lists(st.lists(seconds.filter(bool), max_size=5, unique=True).map(sorted), **column))
    web = make_web(
        [[time for time in times if time > at] for times, at in zip(changes, born, strict=True)],
        born=born,
        fit=draw(st.lists(st.sampled_from([1, 1, 0]), **column)),
        texts=draw(st.lists(st.sampled_from(["", "a", "b", "c"]), **column)),
        answer=draw(st.lists(st.sampled_from(["document", "document", "gone"]), **column)),
    )
    at = sorted(draw(st.lists(seconds, max_size=20)))
    rows = draw(st.lists(st.integers(NOWHERE, n - 1), min_size=len(at), max_size=len(at)))
    return web, START + np.array(at, np.float64), np.array(rows, np.int64)


def simple_freshness(web: RecordedWeb, at: Floats, rows: Ints, time: float) -> tuple[int, float, float]:
    """Copies, share of fresh ones and mean age, page by page."""
    ages = []
    for row in np.flatnonzero(web.pages).tolist():
        visits = at[(rows == row) & (at <= time) & (at >= web.born[row])]
        if len(visits):
            missed = [change for change in web.changes.of(row).tolist() if visits[-1] < change <= time]
            ages.append(time - missed[0] if missed else None)
    if not ages:
        return 0, 1.0, 0.0
    return len(ages), ages.count(None) / len(ages), sum(age or 0.0 for age in ages) / len(ages)


@given(crawls(), st.integers(1, 7))
def test_shares_are_shares_and_the_last_one_counts_all_useful_pages_found(crawl, step):
    web, _, rows = crawl
    shares = useful_share(web, rows, step)
    for share in (shares.cumulative, shares.windowed):
        assert np.all((share >= 0) & (share <= 1))
    assert 0 <= coverage(web, rows) <= 1
    if len(rows):
        assert shares.requests[-1] == len(rows)
        widths = np.diff(shares.requests, prepend=0)
        assert np.all(widths <= step)
        found = float((shares.windowed * widths).sum())
        assert found == pytest.approx(shares.cumulative[-1] * len(rows))
        assert found == pytest.approx(coverage(web, rows) * web.useful.sum() if web.useful.any() else 0)
    else:
        assert not len(shares.requests)


@given(crawls())
def test_a_crawl_of_everything_covers_everything(crawl):
    web, _, _ = crawl
    assert coverage(web, np.arange(len(web))) == 1
    assert coverage(web, np.arange(len(web))[::-1]) == 1


def test_a_page_is_useful_once_whichever_of_its_copies_comes_first():
    web = make_web([[]] * 4, fit=[1, 1, 0, 1], texts=["same", "same", "same", "own"])
    shares = useful_share(web, np.array([2, 1, 0, 1, 3]), step=2)
    assert shares.requests.tolist() == [2, 4, 5]
    assert shares.windowed.tolist() == [0.5, 0.0, 1.0]
    assert shares.cumulative.tolist() == [0.5, 0.25, 0.4]
    assert coverage(web, np.array([1])) == 0.5


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=30), st.randoms())
def test_no_order_has_a_larger_area_than_the_best_one(values, random):
    ranks = np.array(values)
    best = mean_rank(np.argsort(-ranks, kind="stable"), ranks)
    order = list(range(len(values)))
    random.shuffle(order)
    curve = mean_rank(np.array(order), ranks)
    assert area(best, best) == 1
    assert 0 < area(curve, best) <= 1 + 1e-12
    assert curve[-1] == pytest.approx(ranks.mean())


def test_mean_rank_counts_a_page_once():
    ranks = np.array([4.0, 1.0, 7.0])
    assert mean_rank(np.array([0, 0, NOWHERE, 1, 0, 2]), ranks).tolist() == [4.0, 2.5, 4.0]
    assert not len(mean_rank(np.empty(0, np.int64), ranks))


def test_area_goes_as_far_as_both_curves():
    assert area(np.array([1.0, 1.0]), np.array([2.0, 2.0, 50.0])) == 0.5


@given(crawls())
def test_delays_are_those_of_the_first_request_that_can_succeed(crawl):
    web, at, rows = crawl
    found = delays(web, at, rows, until=END)
    expected = np.flatnonzero(web.pages & (web.born > START))
    assert sorted(found.rows.tolist()) == expected.tolist()
    assert np.all(np.diff(web.born[found.rows]) >= 0)
    for row, delay, downloaded in zip(found.rows, found.seconds, found.downloaded, strict=True):
        times = at[(rows == row) & (at >= web.born[row])]
        assert downloaded == bool(len(times))
        assert delay == (times[0] if downloaded else END) - web.born[row]
    assert 0 <= found.found <= 1


def test_pages_born_after_the_last_request_count_for_nothing():
    web = make_web([[]] * 3, born=[10.0, 20.0, 90.0])
    found = delays(web, START + np.array([5.0, 15.0, 30.0]), np.array([0, 0, 2]))
    assert found.rows.tolist() == [0, 1]
    assert found.seconds.tolist() == [5.0, 10.0]
    assert found.downloaded.tolist() == [True, False]
    assert found.found == 0.5


def test_only_the_pages_of_the_mask_count():
    web = make_web([[], [20.0]], born=[10.0, 10.0])
    at, rows, first = START + np.array([12.0, 13.0]), np.array([0, 1]), np.array([True, False])
    assert delays(web, at, rows, which=first).rows.tolist() == [0]
    assert freshness_over_time(web, at, rows, np.array([END]), which=first).fresh.tolist() == [1.0]
    assert freshness_over_time(web, at, rows, np.array([END])).fresh.tolist() == [0.5]


def test_quantiles_of_delays_are_plain_ones_where_all_pages_were_downloaded():
    web = make_web([[]] * 4, born=[10.0, 10.0, 10.0, 10.0])
    found = delays(web, START + np.array([11.0, 12.0, 14.0, 18.0]), np.arange(4))
    assert [found.quantile(share) for share in (0.25, 0.5, 0.75, 1.0)] == [1.0, 2.0, 4.0, 8.0]


def test_a_page_that_was_born_at_the_very_end_does_not_lengthen_the_delays():
    """Three pages waited 4 s; the fourth was never downloaded, but had only one second."""
    web = make_web([[]] * 4, born=[10.0, 20.0, 30.0, 99.0])
    found = delays(web, START + np.array([14.0, 24.0, 34.0]), np.arange(3), until=END)
    assert found.found == 0.75
    assert found.quantile(0.9) == 4.0
    late = delays(make_web([[]] * 4, born=[10.0, 20.0, 30.0, 40.0]), found.seconds[:0], found.rows[:0], until=END)
    assert late.quantile(0.1) == np.inf


@given(crawls(), st.lists(seconds, max_size=8))
def test_freshness_and_age_are_what_page_by_page_counts_give(crawl, moments):
    web, at, rows = crawl
    times = START + np.array(moments, np.float64)
    found = freshness_over_time(web, at, rows, times)
    for i, time in enumerate(times.tolist()):
        copies, fresh, age = simple_freshness(web, at, rows, time)
        assert found.copies[i] == copies
        assert found.fresh[i] == pytest.approx(fresh)
        assert found.age[i] == pytest.approx(age, abs=1e-6)
    assert np.all((found.fresh >= 0) & (found.fresh <= 1))
    assert np.all(found.age >= 0)


@given(crawls(), seconds)
def test_everything_is_fresh_right_after_everything_was_visited(crawl, moment):
    web, at, rows = crawl
    earlier = at <= START + moment
    at = np.append(at[earlier], np.full(len(web), START + moment))
    rows = np.append(rows[earlier], np.arange(len(web)))
    found = freshness_over_time(web, at, rows, np.array([START + moment]))
    assert found.fresh.tolist() == [1.0]
    assert found.age.tolist() == [0.0]
    assert found.copies.tolist() == [int((web.pages & (web.born <= START + moment)).sum())]


@given(st.lists(seconds, min_size=1, max_size=10).map(sorted), st.lists(seconds, max_size=5))
def test_copies_of_pages_that_never_change_have_no_age(at, moments):
    web = make_web([[], []])
    rows = np.arange(len(at)) % 2
    found = freshness_over_time(web, START + np.array(at), rows, START + np.array(moments, np.float64))
    assert np.all(found.fresh == 1)
    assert np.all(found.age == 0)
