"""Feeds, sitemaps and start pages are polled by what they bring."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from frontier_kit import Crew, Hand, page, place_of_database, sql_on

from gossamer.database.database import Database, open_database
from gossamer.frontier.contract import Budgets, Visit
from gossamer.frontier.guidance import Guidance
from gossamer.frontier.sources import Source, list_sources, only_polls_until
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.subscriptions import list_all
from gossamer.frontier.views.inspect import find_url
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered, Kind, Via
from gossamer.model.site import key64
from gossamer.revisit.config import DAY, HOUR, FeedConfig, RevisitConfig
from gossamer.tables.delays import announced, distribution, note_searchable

pytestmark = pytest.mark.usefixtures("dialect")

SITE = "news.example.org"
FEED, SEED = f"https://{SITE}/feed.xml", f"https://{SITE}/"


def crew_with(folder: Path, **feeds: Any) -> Crew:
    guidance = Guidance(revisit=RevisitConfig(), feeds=FeedConfig(**feeds))
    return Crew(sql_on(open_database(place_of_database(folder)), Budgets(lease=1e9, per_site=10_000), guidance))


@pytest.fixture
def crew(tmp_path: Path) -> Crew:
    return crew_with(tmp_path)


def db_of(crew: Crew) -> Database:
    assert isinstance(crew.frontier, SqlFrontier)
    return crew.frontier.db


def entry(number: int, at: float | None = None, source: str = FEED) -> Discovered:
    return Discovered(f"https://{SITE}/item{number}", Via.FEED, depth=1, referrer=source, announced_at=at)


def poll(worker: Hand, *news: Discovered, feed: str = FEED, **fields: Any) -> None:
    """The feed's turn has come: it lists these."""
    worker.take()
    [task] = worker.tasks(feed)
    listed = [item.announced_at for item in news if item.announced_at]
    outcome = fields.pop("outcome", Outcome.RESOURCE)
    worker.report(worker.visit(task, outcome, listed=listed, **fields), found=news)
    worker.release(SITE)


def source(crew: Crew, url: str = FEED) -> Source:
    return next(one for one in list_sources(db_of(crew)) if one.url == url)


def due_in(crew: Crew, url: str = FEED) -> float:
    record = find_url(db_of(crew), url)
    assert record is not None
    assert record.due_at is not None
    return record.due_at - crew.now


def life_of_a_feed(crew: Crew, period: float, days: float = 5) -> None:
    """A feed with news at regular times, polled whenever it is due."""
    crew.add(page(FEED, kind=Kind.FEED))
    worker, number, last = crew.worker("w"), 0, crew.now
    poll(worker)
    end = crew.now + days * DAY
    while crew.now + due_in(crew) < end:
        crew.wait(due_in(crew) + 1)
        news = []
        while last + period <= crew.now:
            last, number = last + period, number + 1
            news.append(entry(number, last))
        poll(worker, *news)


def test_a_feed_that_has_not_changed_stays_a_feed_and_has_no_problem(crew: Crew) -> None:
    """Every feed whose server answered 304 was listed as one that could not be read."""
    crew.add(page(FEED, kind=Kind.FEED), page(f"{FEED}2", kind=Kind.PAGE, via=Via.SEED))
    worker = crew.worker("w")
    for url in (FEED, f"{FEED}2"):
        poll(worker, feed=url, etag='"1"', status=200)
    crew.wait(DAY)
    for url in (FEED, f"{FEED}2"):
        poll(worker, feed=url, outcome=Outcome.NOT_MODIFIED, status=304, reason="status 304: unchanged")
    assert [(source(crew, url).kind, source(crew, url).problem) for url in (FEED, f"{FEED}2")] == [("feed", "")] * 2


class TestPolls:
    def test_a_feed_is_polled_at_once_and_again_before_long(self, crew: Crew) -> None:
        crew.add(page(FEED, kind=Kind.FEED), page(f"https://{SITE}/other"))
        worker = crew.worker("w")
        assert worker.urls()[0] == FEED
        worker.did(FEED, Outcome.RESOURCE)
        assert 240 <= due_in(crew) <= 300

    def test_a_busy_feed_is_polled_often_and_a_dead_one_rarely(self, tmp_path: Path, dialect: str) -> None:
        if dialect != "sqlite":
            pytest.skip("thousands of polls, whose statements the other tests run on PostgreSQL, too")
        waits = {}
        for name, period in (("busy", 600.0), ("daily", DAY), ("dead", 1000 * DAY)):
            crew = crew_with(tmp_path / name, per_day=24)
            life_of_a_feed(crew, period)
            waits[name] = due_in(crew)
        assert waits["busy"] < waits["daily"] < waits["dead"]

    def test_a_page_found_by_a_feed_waits_before_what_links_lead_to(self, crew: Crew) -> None:
        crew.add(page(f"https://{SITE}/old", depth=1), page(FEED, kind=Kind.FEED))
        worker = crew.worker("w")
        poll(worker, entry(1))
        assert worker.urls()[0] == entry(1).url

    def test_what_a_source_brought_is_known(self, crew: Crew) -> None:
        crew.add(page(FEED, kind=Kind.FEED))
        worker = crew.worker("w")
        poll(worker, entry(1), entry(2))
        for news in ((entry(1), entry(2)), (entry(2), entry(3))):
            crew.wait(due_in(crew) + 1)
            poll(worker, *news)
        found = source(crew)
        assert (found.kind, found.polls, found.hits, found.found) == ("feed", 3, 1, 3)

    def test_an_unchanged_feed_counts_as_one_without_news(self, crew: Crew) -> None:
        crew.add(page(FEED, kind=Kind.FEED))
        worker = crew.worker("w")
        poll(worker, entry(1))
        crew.wait(due_in(crew) + 1)
        poll(worker, outcome=Outcome.NOT_MODIFIED)
        assert source(crew).polls == 2
        assert due_in(crew) > 0

    def test_a_sitemap_that_stays_the_same_is_retired_and_comes_back_with_news(self, tmp_path: Path) -> None:
        crew = crew_with(tmp_path, per_day=2)
        sitemap = f"https://{SITE}/sitemap.xml"
        crew.add(page(sitemap, kind=Kind.SITEMAP))
        worker = crew.worker("w")
        poll(worker, entry(1, source=sitemap), feed=sitemap)
        for _ in range(300):
            crew.wait(due_in(crew, sitemap) + 1)
            poll(worker, feed=sitemap)
            if source(crew, sitemap).retired:
                break
        assert "unchanged" in source(crew, sitemap).retired
        assert due_in(crew, sitemap) == 90 * DAY
        crew.wait(90 * DAY)
        poll(worker, entry(2, source=sitemap), feed=sitemap)
        assert not source(crew, sitemap).retired

    def test_a_news_sitemap_is_asked_every_few_minutes_and_one_of_all_pages_is_not(self, crew: Crew) -> None:
        news, everything = f"https://{SITE}/news.xml", f"https://{SITE}/all.xml"
        crew.add(page(news, kind=Kind.SITEMAP), page(everything, kind=Kind.SITEMAP))
        worker = crew.worker("w")
        poll(worker, *(entry(number, crew.now - number * HOUR, news) for number in range(20)), feed=news)
        poll(worker, entry(99, source=everything), feed=everything)
        assert due_in(crew, news) <= 300
        assert due_in(crew, everything) > 1200

    def test_the_polls_of_a_slow_site_leave_room_for_its_pages(self, crew: Crew) -> None:
        """Crawl-delay: 30, and ten feeds: a round of all takes five minutes, so each waits for about four rounds."""
        feeds = [f"{FEED}?{number}" for number in range(10)]
        crew.add(*(page(url, kind=Kind.FEED) for url in feeds))
        db_of(crew).execute("UPDATE sites SET crawl_delay = 30")
        worker = crew.worker("w")
        for url in feeds:
            crew.wait(1)
            poll(worker, feed=url)
        assert due_in(crew, feeds[-1]) >= 9 * 30 * 4

    def test_while_many_new_urls_wait_polls_keep_to_their_share(self, tmp_path: Path) -> None:
        waits = []
        for name, waiting in (("calm", 10), ("crowd", 1_000_000)):
            crew = crew_with(tmp_path / name)
            crew.add(page(FEED, kind=Kind.FEED))
            worker = crew.worker("w")
            poll(worker)
            db_of(crew).execute("UPDATE levels SET queued = ? WHERE level = 0", (waiting,))
            for _ in range(4):
                crew.wait(due_in(crew) + 1)
                poll(worker)
            waits.append(due_in(crew))
        assert waits[1] > 2 * waits[0]

    def test_a_feed_without_an_answer_is_asked_again_within_minutes(self, crew: Crew) -> None:
        crew.add(page(FEED, kind=Kind.FEED))
        worker = crew.worker("w")
        poll(worker)
        waits = []
        for _ in range(3):
            crew.wait(due_in(crew) + 1)
            poll(worker, outcome=Outcome.GONE)
            waits.append(due_in(crew))
        assert waits[0] < 600
        assert waits[0] < waits[1] < waits[2] < HOUR

    def test_nothing_is_polled_where_the_operator_does_not_want_it(self, tmp_path: Path) -> None:
        crew = crew_with(tmp_path, poll=False)
        crew.add(page(FEED, kind=Kind.FEED))
        worker = crew.worker("w")
        poll(worker, entry(1))
        assert list_sources(db_of(crew)) == []

    def test_a_site_has_only_so_many_feeds(self, tmp_path: Path) -> None:
        crew = crew_with(tmp_path, per_site=2)
        worker = crew.worker("w")
        for number in range(3):
            crew.add(page(f"{FEED}?{number}", kind=Kind.FEED))
            if number < 2:
                poll(worker, feed=f"{FEED}?{number}")
        record = find_url(db_of(crew), f"{FEED}?2")
        assert record is not None
        assert (record.state, record.rule) == ("refused", "budget.feeds")


class TestNewLimits:
    """A plan that was made by other limits is brought within those of today."""

    def quiet_feed(self, folder: Path, **feeds: Any) -> Crew:
        """A feed without news for two days."""
        crew = crew_with(folder, **feeds)
        life_of_a_feed(crew, 1000 * DAY, days=2)
        return crew

    def restarted(self, crew: Crew, revisit: RevisitConfig | None = None, **feeds: Any) -> int:
        assert isinstance(crew.frontier, SqlFrontier)
        crew.frontier.guide(Guidance(revisit=revisit or RevisitConfig(), feeds=FeedConfig(**feeds)))
        return crew.frontier.replan_polls(crew.now)

    def test_a_shorter_ceiling_brings_a_poll_forward_and_it_is_handed_out_then(self, tmp_path: Path) -> None:
        crew = self.quiet_feed(tmp_path)
        assert due_in(crew) > 1200
        assert self.restarted(crew, floor=20.0, ceiling=60.0) == 1
        assert due_in(crew) <= 60
        assert only_polls_until(db_of(crew), crew.now + 61)
        crew.wait(61)
        poll(crew.worker("again"), entry(1, crew.now - 30))
        assert source(crew).found == 1

    def test_a_longer_floor_puts_it_off(self, tmp_path: Path) -> None:
        crew = crew_with(tmp_path, floor=20.0, ceiling=60.0)
        crew.add(page(FEED, kind=Kind.FEED))
        poll(crew.worker("w"))
        assert due_in(crew) <= 60
        assert self.restarted(crew, floor=3600.0) == 1
        assert due_in(crew) == pytest.approx(3600, abs=2)

    def test_plans_within_the_limits_stay(self, tmp_path: Path) -> None:
        crew = self.quiet_feed(tmp_path)
        before = due_in(crew)
        assert self.restarted(crew) == 0
        assert due_in(crew) == before

    def test_a_retired_source_obeys_the_ceiling_of_pages(self, tmp_path: Path) -> None:
        crew = self.quiet_feed(tmp_path)
        db_of(crew).execute("UPDATE sources SET retired = 'unchanged'")
        assert self.restarted(crew, RevisitConfig(floor=60.0, ceiling=120.0)) == 1
        assert due_in(crew) <= 120

    def test_pages_that_wait_are_no_polls(self, tmp_path: Path) -> None:
        crew = self.quiet_feed(tmp_path)
        crew.add(page(f"https://{SITE}/new"))
        assert not only_polls_until(db_of(crew), crew.now + 60)


class TestStartPages:
    def read_start(self, crew: Crew, worker: Hand, *found: Discovered) -> None:
        worker.take()
        [task] = worker.tasks(SEED)
        worker.report(worker.visit(task, content_hash=str(crew.now)), found=found)
        worker.release(SITE)

    def test_a_start_page_is_polled_for_links(self, crew: Crew) -> None:
        crew.add(page(SEED, via=Via.SEED))
        worker = crew.worker("w")
        self.read_start(crew, worker, page(f"https://{SITE}/1", referrer=SEED, depth=1))
        found = source(crew, SEED)
        assert (found.kind, found.found) == ("page", 1)
        assert due_in(crew, SEED) <= DAY

    def test_the_more_often_it_has_new_links_the_more_often_it_is_visited(self, tmp_path: Path) -> None:
        waits = []
        for name, fresh in (("lively", True), ("still", False)):
            crew = crew_with(tmp_path / name)
            crew.add(page(SEED, via=Via.SEED))
            worker = crew.worker("w")
            for round_ in range(12):
                new = [page(f"https://{SITE}/{round_}", referrer=SEED, depth=1)] if fresh else []
                self.read_start(crew, worker, *new)
                crew.wait(due_in(crew, SEED) + 1)
            self.read_start(crew, worker)
            waits.append(due_in(crew, SEED))
        assert waits[0] < waits[1]

    def test_one_that_was_an_alias_and_is_kept_later_is_planned_like_any_page(self, crew: Crew) -> None:
        """Nothing was believed of how often it changes: it was read, but another page stood for it."""
        canonical = f"https://{SITE}/index.html"
        crew.add(page(SEED, via=Via.SEED))
        worker = crew.worker("w")
        worker.take()
        worker.did(SEED, content_hash="t", canonical=canonical, found=[page(canonical, depth=1)])
        worker.did(canonical, Outcome.GONE)
        crew.wait(HOUR)
        assert worker.did(SEED, content_hash="u", canonical=canonical).outcome is Outcome.DOCUMENT
        assert 0 < due_in(crew, SEED) <= DAY

    def test_it_is_due_like_a_new_page_and_not_in_the_share_of_old_ones(self, crew: Crew) -> None:
        crew.add(page(SEED, via=Via.SEED))
        worker = crew.worker("w")
        self.read_start(crew, worker)
        crew.wait(due_in(crew, SEED) + 1)
        [lease] = worker.take()
        assert [(task.url, task.level) for task in lease.tasks] == [(SEED, 0)]


class TestPush:
    def test_a_feed_that_names_a_hub_is_subscribed_to(self, crew: Crew) -> None:
        crew.add(page(FEED, kind=Kind.FEED))
        poll(crew.worker("w"), push=("https://hub.example/", FEED))
        [wanted] = list_all(db_of(crew))
        assert (wanted.hub, wanted.topic, wanted.feed) == ("https://hub.example/", FEED, FEED)

    def test_one_that_names_it_no_longer_is_not(self, crew: Crew) -> None:
        crew.add(page(FEED, kind=Kind.FEED))
        worker = crew.worker("w")
        poll(worker, push=("https://hub.example/", FEED))
        crew.wait(due_in(crew) + 1)
        poll(worker)
        assert list_all(db_of(crew)) == []


class TestDelays:
    def test_publication_to_search_is_measured_once_for_each_document(self, crew: Crew) -> None:
        crew.add(page(FEED, kind=Kind.FEED))
        worker = crew.worker("w")
        poll(worker)
        crew.wait(due_in(crew) + 1)
        poll(worker, entry(1, crew.now - HOUR), entry(2))
        db = db_of(crew)
        places = [(key64(SITE), key64(entry(number).url)) for number in (1, 2)]
        assert announced(db, places) == places[:1]
        assert note_searchable(db, places, crew.now) == 1
        assert note_searchable(db, places, crew.now + 9999) == 0
        found = distribution(db)
        assert found.documents == 1
        assert HOUR <= found.median <= 1.2 * HOUR


def test_a_visit_that_failed_does_not_end_the_polls(crew: Crew) -> None:
    crew.add(page(FEED, kind=Kind.FEED))
    worker = crew.worker("w")
    poll(worker, entry(1))
    crew.wait(due_in(crew) + 1)
    worker.take()
    [task] = worker.tasks(FEED)
    visit: Visit = worker.visit(task, Outcome.SERVER_ERROR)
    worker.report(visit)
    worker.release(SITE)
    assert due_in(crew) > 0
