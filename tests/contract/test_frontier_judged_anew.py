"""What settings that changed decide anew, as the tables give it out: on both databases."""

from __future__ import annotations

from pathlib import Path

import pytest
from frontier_kit import LEASE, Crew, page, pages, place_of_database, sql_on

from gossamer.database.database import Database, open_database
from gossamer.frontier.contract import Budgets
from gossamer.frontier.guidance import Guidance
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.steering.refused import lists, redirect_targets, refused_urls
from gossamer.frontier.views.inspect import find_url, status
from gossamer.model.decision import refuse
from gossamer.model.outcome import Outcome
from gossamer.model.records import Kind, Via
from gossamer.model.site import key64
from gossamer.revisit.config import DAY, FeedConfig, RevisitConfig

pytestmark = pytest.mark.usefixtures("dialect")

SITE = "www.one.org"
USUAL = Guidance(revisit=RevisitConfig(), feeds=FeedConfig(poll=False))


@pytest.fixture
def crew(tmp_path: Path) -> Crew:
    return Crew(sql_on(open_database(place_of_database(tmp_path)), Budgets(lease=LEASE), USUAL))


def sql(crew: Crew) -> SqlFrontier:
    assert isinstance(crew.frontier, SqlFrontier)
    return crew.frontier


def database(crew: Crew) -> Database:
    return sql(crew).db


def test_refused_urls_come_with_their_rule_and_enter_once_they_are_allowed(crew: Crew) -> None:
    no = refuse("filter.deny", "a filter")
    count = 2500
    crew.add(*pages(SITE, count, refusal=no, depth=2, referrer=f"https://{SITE}/"), page(f"https://{SITE}/"))
    handfuls = list(refused_urls(database(crew)))
    assert max(map(len, handfuls)) <= 1000 and sum(map(len, handfuls)) == count
    items = [item for handful in handfuls for item, rule in handful if rule == "filter.deny"]
    assert {(item.depth, item.referrer) for item in items} == {(2, f"https://{SITE}/")}
    assert crew.add(*items).new == count
    standing = status(database(crew), crew.now)
    assert (standing.urls_known, standing.urls_refused, standing.urls_due) == (count + 1, 0, count + 1)


def test_targets_of_redirects_and_read_lists_are_given_out(crew: Crew) -> None:
    crew.frontier = sql_on(database(crew), Budgets(lease=LEASE), Guidance(revisit=RevisitConfig()))
    start, feed = f"https://{SITE}/", f"https://{SITE}/feed"
    crew.add(page(start, depth=1), page(feed, kind=Kind.FEED))
    hand = crew.worker("w")
    hand.take()
    hand.did(start, Outcome.REDIRECT, target="https://two.org/x")
    hand.did(feed, Outcome.RESOURCE)
    [[item]] = list(redirect_targets(database(crew)))
    assert (item.url, item.via, item.depth, item.hops, item.referrer) == (
        "https://two.org/x", Via.REDIRECT, 1, 1, start,
    )  # fmt: skip
    assert list(lists(database(crew))) == [[(key64(SITE), key64(feed))]]


def test_planned_visits_follow_new_intervals(crew: Crew) -> None:
    kept, gone = f"https://{SITE}/0", f"https://{SITE}/1"
    crew.add(*pages(SITE, 2))
    hand = crew.worker("w")
    hand.take()
    hand.did(kept, content_hash="t1")
    hand.did(gone, Outcome.GONE)
    hand.release(SITE)

    def due(url: str) -> float | None:
        record = find_url(database(crew), url)
        assert record is not None
        return None if record.due_at is None else record.due_at - crew.now

    assert due(gone) == pytest.approx(90 * DAY)
    for config, changed, expected in (
        (RevisitConfig(floor=100, every=200, ceiling=300), 2, (100, 300)),
        (RevisitConfig(floor=100, every=200, ceiling=300), 0, (100, 300)),
        (RevisitConfig(policy="none"), 2, None),
        (RevisitConfig(floor=50, every=60, ceiling=80), 2, (50, 80)),
    ):
        sql(crew).guide(Guidance(revisit=config, feeds=FeedConfig(poll=False)))
        assert sql(crew).replan_visits(crew.now) == changed
        planned = database(crew).execute("SELECT COUNT(*) FROM revisits")[0][0]
        if expected is None:
            assert (due(kept), due(gone), planned) == (None, None, 0)
        else:
            low, high = expected
            assert low <= (due(kept) or 0) <= high and due(gone) == pytest.approx(high) and planned == 2
    hand = crew.worker("later")
    crew.wait(81)
    hand = crew.worker("much later")
    assert sorted(hand.urls()) == [kept, gone], "their site is ready when they are due"
