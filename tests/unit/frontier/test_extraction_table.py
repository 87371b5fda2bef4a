"""Extraction health: what reports count, what is kept of it, and when pages have lost their text."""

from __future__ import annotations

import pytest

from gossamer.database.database import Database
from gossamer.dedup.near.registry import near_method
from gossamer.frontier.contract import Batch, Budgets, Place, SiteReport, Visit
from gossamer.frontier.extraction import DAY, KEPT, LITTLE, Day, Drop, extraction_drops, extraction_of
from gossamer.frontier.politeness import PolitenessConfig
from gossamer.frontier.sql import SqlFrontier
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered
from gossamer.model.site import key64, site_of

SITE, OTHER = "one.org", "two.org"
TODAY = 19_000
NOON = TODAY * DAY + DAY / 2


class Reports:
    """A crawl of which only the lengths of texts matter."""

    def __init__(self, db: Database) -> None:
        self._frontier = SqlFrontier(db, Budgets(), PolitenessConfig(), lambda url: url, near_method("minhash"))
        self._pages = 0

    def report(self, site: str, lengths: list[int | None], now: float, outcome: Outcome = Outcome.DOCUMENT) -> None:
        """Fetch as many new pages of a site, each with a text of this length."""
        first = self._pages
        self._pages += len(lengths)
        urls = [f"https://{site}/{number}" for number in range(first, self._pages)]
        worker = f"w{first}"
        self._frontier.add([Discovered(url) for url in urls], now)
        self._frontier.register(worker, now)
        lease = next(lease for lease in self._frontier.take(worker, now, 10, 1000) if lease.site == site)
        tasks = {task.url: task for task in lease.tasks}
        visits = [
            Visit(Place(site_of(url)), tasks[url], outcome, now, characters=length)
            for url, length in zip(urls, lengths, strict=True)
        ]
        self._frontier.report(
            worker, Batch(f"s{first}", visits, sites=[SiteReport(Place(site), lease.token, lease.clock)]), now
        )
        self._frontier.release(worker, [SiteReport(Place(site), lease.token, lease.clock)], [], now)
        self._frontier.retire(worker, now)


def count(db: Database, site: str, day: int, pages: int, empty: int) -> None:
    """A day as reports would have left it."""
    name = "INSERT INTO sites (id, name, domain, added_at) VALUES (?, ?, ?, 0) ON CONFLICT DO NOTHING"
    db.execute(name, (key64(site), site, site))
    db.execute(
        "INSERT INTO extraction VALUES (?, ?, ?, ?, ?)", (key64(site), day, pages, empty, 1000 * (pages - empty))
    )


def test_reports_count_pages_empty_ones_and_characters_by_site_and_day(db: Database) -> None:
    crawl = Reports(db)
    crawl.report(SITE, [0, LITTLE - 1, LITTLE, 500], NOON)
    crawl.report(OTHER, [70], NOON)
    crawl.report(SITE, [100], NOON + 60)
    crawl.report(SITE, [3], NOON + DAY)
    assert extraction_of(db, SITE, 10) == [Day(TODAY, 5, 2, 2 * LITTLE - 1 + 600), Day(TODAY + 1, 1, 1, 3)]
    assert extraction_of(db, OTHER, 10) == [Day(TODAY, 1, 0, 70)]


def test_what_was_not_parsed_for_text_does_not_count(db: Database) -> None:
    Reports(db).report(SITE, [None, None], NOON, Outcome.GONE)
    assert extraction_of(db, SITE, 10) == []


def test_a_report_that_fails_counts_nothing(db: Database) -> None:
    crawl = Reports(db)
    frontier = crawl._frontier
    frontier.add([Discovered(f"https://{SITE}/")], NOON)
    frontier.register("w", NOON)
    [lease] = frontier.take("w", NOON, 1, 1)

    def full(verdicts: object) -> None:
        raise OSError("the disk is full")

    visit = Visit(Place(SITE), lease.tasks[0], Outcome.DOCUMENT, NOON, characters=0)
    with pytest.raises(OSError, match="full"):
        frontier.report("w", Batch("s", [visit], sites=[SiteReport(Place(SITE), lease.token, lease.clock)]), NOON, full)
    assert extraction_of(db, SITE, 10) == []


def test_only_the_last_days_asked_for_are_told_oldest_first(db: Database) -> None:
    for day in range(TODAY - 5, TODAY):
        count(db, SITE, day, 10, 1)
    assert [day.day for day in extraction_of(db, SITE, 2)] == [TODAY - 2, TODAY - 1]


def test_days_of_a_site_that_are_too_old_leave_with_its_next_report(db: Database) -> None:
    crawl = Reports(db)
    crawl.report(SITE, [100], NOON - DAY)
    for site, day in ((SITE, TODAY - KEPT), (SITE, TODAY - KEPT + 1), (OTHER, TODAY - KEPT)):
        count(db, site, day, 10, 1)
    crawl.report(SITE, [100], NOON)
    assert [day.day for day in extraction_of(db, SITE, 10)] == [TODAY - KEPT + 1, TODAY - 1, TODAY]
    assert len(extraction_of(db, OTHER, 10)) == 1, "a site that is not crawled keeps what it had"


class TestDrops:
    def test_a_site_whose_pages_lost_their_text_is_told_with_both_shares(self, db: Database) -> None:
        for day in range(TODAY - 4, TODAY):
            count(db, SITE, day, 50, 5)
            count(db, OTHER, day, 50, 5)
        count(db, SITE, TODAY, 40, 30)
        count(db, OTHER, TODAY, 40, 4)
        assert extraction_drops(db, TODAY, 0.5, 20) == [Drop(SITE, 0.75, 0.1, 40)]

    def test_a_site_that_never_gave_text_has_lost_none(self, db: Database) -> None:
        for day in range(TODAY - 4, TODAY + 1):
            count(db, SITE, day, 50, 48)
        assert extraction_drops(db, TODAY, 0.5, 20) == []

    def test_a_rise_smaller_than_asked_for_is_not_told(self, db: Database) -> None:
        count(db, SITE, TODAY - 1, 100, 30)
        count(db, SITE, TODAY, 100, 79)
        assert extraction_drops(db, TODAY, 0.5, 20) == []
        assert [drop.site for drop in extraction_drops(db, TODAY, 0.4, 20)] == [SITE]

    def test_few_pages_say_nothing_today_or_before(self, db: Database) -> None:
        count(db, SITE, TODAY - 1, 100, 0)
        count(db, SITE, TODAY, 19, 19)
        count(db, OTHER, TODAY - 1, 19, 0)
        count(db, OTHER, TODAY, 100, 100)
        assert extraction_drops(db, TODAY, 0.5, 20) == []

    def test_a_day_that_has_just_begun_leaves_the_word_to_yesterday(self, db: Database) -> None:
        count(db, SITE, TODAY - 2, 100, 0)
        count(db, SITE, TODAY - 1, 100, 90)
        count(db, SITE, TODAY, 3, 0)
        assert extraction_drops(db, TODAY, 0.5, 20) == [Drop(SITE, 0.9, 0.0, 100)]

    def test_today_has_the_word_once_it_has_pages_enough(self, db: Database) -> None:
        count(db, SITE, TODAY - 2, 100, 0)
        count(db, SITE, TODAY - 1, 100, 90)
        count(db, SITE, TODAY, 30, 0)
        assert extraction_drops(db, TODAY, 0.5, 20) == []

    def test_days_more_than_two_weeks_before_do_not_count(self, db: Database) -> None:
        count(db, SITE, TODAY - 15, 100, 0)
        count(db, SITE, TODAY, 100, 100)
        assert extraction_drops(db, TODAY, 0.5, 20) == []

    def test_the_worst_comes_first(self, db: Database) -> None:
        for site, empty in ((SITE, 60), (OTHER, 90)):
            count(db, site, TODAY - 1, 100, 0)
            count(db, site, TODAY, 100, empty)
        assert [drop.site for drop in extraction_drops(db, TODAY, 0.5, 20)] == [OTHER, SITE]
