"""Law 10 of `gossamer.frontier.contract`: what an operator paused or limited, for each frontier there is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from frontier_kit import DELAY, LEASE, MAKERS, NAMES, POLITENESS, SQL_MAKERS, Crew, Hand, Make, page, pages, sql_on

from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.frontier import politeness
from gossamer.frontier.contract import Budgets
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.steering import controls
from gossamer.frontier.steering.controls import Controls, Paused, PausedSite
from gossamer.frontier.views.inspect import status
from gossamer.model.outcome import Outcome

SITE, OTHER = "www.one.org", "two.org"
FIRST, SECOND, THIRD = (f"https://{SITE}/{number}" for number in range(3))


@pytest.fixture(params=MAKERS, ids=NAMES)
def crew(request: pytest.FixtureRequest, tmp_path: Path) -> Crew:
    make: Make = request.param
    return Crew(make(tmp_path, Budgets(lease=LEASE)))


@pytest.fixture(params=SQL_MAKERS, ids=NAMES[1:])
def sql(request: pytest.FixtureRequest, tmp_path: Path) -> SqlFrontier:
    make: Callable[[Path, Budgets], SqlFrontier] = request.param
    return make(tmp_path, Budgets(lease=LEASE))


def pause(crew: Crew, site: str = SITE) -> None:
    crew.frontier.pause_site(site, "maintenance", crew.now)


def asked(hand: Hand, url: str) -> None:
    """Fetch one URL of a leased site, its clock included."""
    [task] = hand.tasks(url)
    lease = hand.leases[task.url.split("/")[2]]
    lease.clock = politeness.answered(lease.clock, hand.crew.now, POLITENESS)
    hand.report(hand.visit(task), segment=f"s{hand.crew.now}")


class TestPausedSites:
    def test_a_paused_site_is_not_leased_and_the_others_are(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 3), *pages(OTHER, 2))
        pause(crew)
        assert [lease.site for lease in crew.worker("w").take()] == [OTHER]

    def test_a_resumed_site_goes_on_with_all_its_urls_in_their_order(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 3))
        hand = crew.worker("w")
        hand.take()
        hand.did(FIRST)
        pause(crew)
        hand.release(SITE)
        crew.wait(10 * DELAY)
        assert hand.take() == []
        crew.frontier.resume_site(SITE, crew.now)
        assert hand.urls() == [SECOND, THIRD]

    def test_who_holds_a_paused_site_gets_no_more_of_it_but_can_report(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 3))
        hand = crew.worker("w")
        hand.take(urls=1)
        pause(crew)
        assert hand.refill(SITE) == []
        assert hand.did(FIRST).outcome is Outcome.DOCUMENT
        hand.release(SITE)
        crew.wait(10 * DELAY)
        crew.frontier.resume_site(SITE, crew.now)
        assert hand.urls() == [SECOND, THIRD], "what was reported is done, what was not is still to be fetched"

    def test_urls_found_while_a_site_is_paused_wait_for_it(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 1))
        pause(crew)
        crew.add(page(SECOND))
        hand = crew.worker("w")
        assert hand.take() == []
        crew.frontier.resume_site(SITE, crew.now)
        assert hand.urls() == [FIRST, SECOND]

    def test_the_politeness_clock_goes_on_over_a_pause(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 2))
        hand = crew.worker("w")
        hand.take()
        asked(hand, FIRST)
        due = hand.leases[SITE].clock.not_before
        pause(crew)
        hand.release(SITE)
        crew.frontier.resume_site(SITE, crew.now)
        assert hand.take() == [], "its delay is not over"
        crew.now = due
        assert hand.urls() == [SECOND]

    def test_a_pause_outlives_the_worker_that_held_the_site(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 2))
        crew.worker("first").take()
        pause(crew)
        crew.wait(LEASE + 1)
        assert crew.worker("second").take() == []

    def test_a_site_nobody_knows_cannot_be_paused_resumed_or_limited(self, crew: Crew) -> None:
        for change in (
            lambda: crew.frontier.pause_site("nowhere.org", "", crew.now),
            lambda: crew.frontier.resume_site("nowhere.org", crew.now),
            lambda: crew.frontier.limit_site("nowhere.org", 1.0, 0, crew.now),
        ):
            with pytest.raises(UsageError, match=r"nowhere\.org"):
                change()


class TestPausedCrawls:
    def test_no_site_is_leased_and_resuming_goes_on(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 2), *pages(OTHER, 1))
        hand = crew.worker("w")
        crew.frontier.pause_crawl("maintenance", crew.now)
        assert hand.take() == []
        crew.frontier.resume_crawl(crew.now)
        assert len(hand.urls()) == 3

    def test_a_site_paused_by_itself_stays_so(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 2), *pages(OTHER, 1))
        pause(crew)
        crew.frontier.pause_crawl("", crew.now)
        crew.frontier.resume_crawl(crew.now)
        assert [lease.site for lease in crew.worker("w").take()] == [OTHER]

    def test_a_leased_site_is_not_filled_up(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 3))
        hand = crew.worker("w")
        hand.take(urls=1)
        crew.frontier.pause_crawl("", crew.now)
        assert hand.refill(SITE) == []


class TestLimits:
    def test_a_longer_delay_counts_from_the_next_lease_on(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 2))
        crew.frontier.limit_site(SITE, 30.0, 0, crew.now)
        hand = crew.worker("w")
        crew.wait(30.0)
        hand.take()
        asked(hand, FIRST)
        hand.release(SITE)
        crew.wait(29.0)
        assert hand.take() == []
        crew.wait(1.0)
        assert hand.urls() == [SECOND]

    def test_a_shorter_delay_than_the_crawls_hurries_nobody(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 2))
        crew.frontier.limit_site(SITE, DELAY / 2, 0, crew.now)
        crew.wait(DELAY)
        hand = crew.worker("w")
        [lease] = hand.take()
        assert politeness.gap(lease.clock, POLITENESS) == DELAY

    def test_a_site_that_was_asked_just_now_waits_the_new_delay(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 2))
        crew.frontier.limit_site(SITE, 50.0, 0, crew.now)
        crew.wait(49.0)
        hand = crew.worker("w")
        assert hand.take() == []
        crew.wait(1.0)
        assert hand.urls() == [FIRST, SECOND]

    def test_a_dead_workers_site_waits_the_operators_delay(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 2))
        crew.frontier.limit_site(SITE, 50.0, 0, crew.now)
        crew.wait(50.0)
        crew.worker("first").take()
        crew.frontier.retire("first", crew.now)
        crew.wait(49.0)
        hand = crew.worker("second")
        assert hand.take() == []
        crew.wait(1.0)
        assert hand.urls() == [FIRST, SECOND]

    def test_no_more_urls_are_handed_out_than_requests_are_left(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 5))
        crew.frontier.limit_site(SITE, 0.0, 2, crew.now)
        hand = crew.worker("w")
        assert hand.urls() == [FIRST, SECOND]
        held = [task.key for task in hand.leases[SITE].tasks]
        assert hand.refill(SITE, held) == []
        hand.did(FIRST)
        assert hand.refill(SITE, held[1:]) == []

    def test_a_url_that_needed_no_request_leaves_its_place_to_another(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 3))
        crew.frontier.limit_site(SITE, 0.0, 1, crew.now)
        hand = crew.worker("w")
        assert hand.urls() == [FIRST]
        hand.did(FIRST, Outcome.ROBOTS_DENIED, fetched=False)
        assert [task.url for task in hand.refill(SITE)] == [SECOND]

    def test_at_its_limit_a_site_rests_until_that_is_raised(self, crew: Crew) -> None:
        crew.add(*pages(SITE, 3))
        crew.frontier.limit_site(SITE, 0.0, 1, crew.now)
        hand = crew.worker("w")
        hand.take()
        hand.did(FIRST)
        hand.release(SITE)
        crew.wait(LEASE / 2)
        assert hand.take() == []
        crew.frontier.limit_site(SITE, 0.0, 2, crew.now)
        assert hand.urls() == [SECOND]
        crew.frontier.limit_site(SITE, 0.0, 0, crew.now)
        assert [task.url for task in hand.refill(SITE, [hand.leases[SITE].tasks[0].key])] == [THIRD]


class TestWhatTheDatabaseRemembers:
    def test_another_process_finds_everything_as_it_was_said(self, sql: SqlFrontier) -> None:
        crew = Crew(sql)
        crew.add(*pages(SITE, 1), *pages(OTHER, 1))
        controls.pause_site(sql.db, SITE, " broken\n links ", crew.now)
        controls.limit_site(sql.db, OTHER, 2.5, 10, crew.now)
        controls.pause_crawl(sql.db, "", crew.now)
        controls.pause_crawl(sql.db, "moving house", crew.now + 5)
        again = sql_on(sql.db, Budgets(lease=LEASE))
        assert controls.controls_of(again.db, SITE) == Controls("broken links", 0.0, 0)
        assert controls.controls_of(again.db, OTHER) == Controls("", 2.5, 10)
        assert controls.paused(again.db) == Paused("moving house", crew.now)
        assert controls.paused_sites(again.db) == [PausedSite(SITE, "broken links")]
        controls.resume_crawl(again.db, crew.now)
        assert controls.paused(again.db) is None

    def test_a_pause_without_a_reason_has_one_all_the_same(self, sql: SqlFrontier) -> None:
        crew = Crew(sql)
        crew.add(*pages(SITE, 1))
        controls.pause_site(sql.db, SITE, "  ", crew.now)
        assert controls.controls_of(sql.db, SITE).paused == controls.NO_REASON

    def test_workers_are_told_to_leave_paused_sites_and_how_slow_the_others_are(self, sql: SqlFrontier) -> None:
        crew = Crew(sql)
        crew.add(*pages(SITE, 1), *pages(OTHER, 1))
        controls.pause_site(sql.db, SITE, "", crew.now)
        controls.limit_site(sql.db, OTHER, 7.0, 0, crew.now)
        said = sql.directions({SITE, OTHER})
        assert (said.leave, said.least_delays) == ({SITE}, {OTHER: 7.0})
        controls.pause_crawl(sql.db, "", crew.now)
        assert sql.directions({SITE, OTHER}).leave == {SITE, OTHER}

    def test_a_paused_site_is_not_borrowed_for_its_robots_txt(self, sql: SqlFrontier) -> None:
        crew = Crew(sql)
        crew.add(*pages(SITE, 1), *pages(OTHER, 1))
        crew.worker("w")
        controls.pause_site(sql.db, SITE, "", crew.now)
        assert sql.borrow("w", SITE, crew.now) is None
        assert sql.borrow("w", OTHER, crew.now) is not None
        controls.resume_site(sql.db, SITE, crew.now)
        controls.pause_crawl(sql.db, "", crew.now)
        assert sql.borrow("w", SITE, crew.now) is None

    def test_the_status_tells_what_is_paused_and_counts_it_not_as_waiting(self, sql: SqlFrontier) -> None:
        crew = Crew(sql)
        crew.add(*pages(SITE, 1), *pages(OTHER, 1))
        controls.pause_site(sql.db, SITE, "", crew.now)
        standing = status(sql.db, crew.now)
        assert (standing.paused, standing.sites_paused, standing.sites_waiting) == ("", 1, 1)
        controls.pause_site(sql.db, OTHER, "", crew.now)
        controls.pause_crawl(sql.db, "storm", crew.now)
        standing = status(sql.db, crew.now)
        assert (standing.paused, standing.sites_paused, standing.next_due_at) == ("storm", 2, None)

    def test_a_site_at_its_limit_is_counted_and_its_urls_say_why_they_rest(self, sql: SqlFrontier) -> None:
        crew = Crew(sql)
        crew.add(*pages(SITE, 2))
        hand = crew.worker("w")
        hand.take()
        hand.did(FIRST)
        hand.release(SITE)
        assert controls.why_it_rests(sql.db, SITE) == ""
        controls.limit_site(sql.db, SITE, 0.0, 1, crew.now)
        standing = status(sql.db, crew.now)
        assert (standing.sites_at_limit, standing.sites_waiting, standing.urls_due) == (1, 0, 1)
        assert "limited to 1" in controls.why_it_rests(sql.db, SITE)

    @pytest.mark.parametrize(("delay", "most"), [(-1.0, 0), (float("nan"), 0), (1e9, 0), (0.0, -1), (0.0, 2**60)])
    def test_limits_that_mean_nothing_are_refused_and_change_nothing(
        self, sql: SqlFrontier, delay: float, most: int
    ) -> None:
        crew = Crew(sql)
        crew.add(*pages(SITE, 1))
        with pytest.raises(UsageError):
            controls.limit_site(sql.db, SITE, delay, most, crew.now)
        assert controls.controls_of(sql.db, SITE) == Controls()


def test_resting_urls_stay_in_the_queue(sql: SqlFrontier) -> None:
    """Neither a pause nor a limit deletes a row."""

    def queued(db: Database) -> int:
        return int(db.execute("SELECT COUNT(*) FROM queue")[0][0])

    crew = Crew(sql)
    crew.add(*pages(SITE, 4))
    controls.pause_site(sql.db, SITE, "", crew.now)
    controls.limit_site(sql.db, SITE, 10.0, 1, crew.now)
    controls.pause_crawl(sql.db, "", crew.now)
    crew.worker("w").take()
    assert queued(sql.db) == 4
