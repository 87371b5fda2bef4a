"""A seed that is named again is asked for now, whatever became of it: on both databases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from frontier_kit import DELAY, LEASE, NAMES, NO, POLITENESS, SQL_MAKERS, Crew, Hand, page, pages

from gossamer.frontier import politeness
from gossamer.frontier.contract import Budgets
from gossamer.frontier.politeness import SiteClock
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.steering import operate
from gossamer.frontier.steering.seed_redirects import redirected_sites
from gossamer.frontier.views.inspect import find_url, site_clock, status
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered, Kind, Via
from gossamer.settings import Settings
from gossamer.supervise.seeding import drop_seeds
from gossamer.tables.configured import forget_seeds

SITE = "www.one.org"
SEED = f"https://{SITE}/"
DEEP = f"https://{SITE}/deep"


def seed(url: str = SEED, **fields: Any) -> Discovered:
    return page(url, via=Via.SEED, **fields)


class Named(Crew):
    """A crew whose frontier is an SQL one."""

    frontier: SqlFrontier

    def name(self, *found: Discovered) -> int:
        """Name seeds; returns how many of them are asked for again."""
        return self.frontier.add_seeds(found or (seed(),), self.now).again


@pytest.fixture(params=SQL_MAKERS, ids=NAMES[1:])
def crew(request: pytest.FixtureRequest, tmp_path: Path) -> Named:
    make: Callable[[Path, Budgets], SqlFrontier] = request.param
    return Named(make(tmp_path, Budgets(lease=LEASE)))


def visited(crew: Named, outcome: Outcome, **fields: Any) -> Hand:
    """The seed after a first visit with this outcome, its site given back."""
    crew.name()
    hand = crew.worker("w")
    hand.take()
    hand.did(SEED, outcome, **fields)
    hand.release(SITE)
    crew.wait(DELAY)
    return hand


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome.DOCUMENT,
        Outcome.GONE,
        Outcome.FORBIDDEN,
        Outcome.REDIRECT,
        Outcome.ADDRESS_REFUSED,
        Outcome.ROBOTS_DENIED,
        Outcome.REFUSED,
        Outcome.NOINDEX,
    ],
)
def test_a_seed_that_was_done_with_is_asked_for_again(crew: Named, outcome: Outcome) -> None:
    hand = visited(crew, outcome, target=DEEP if outcome is Outcome.REDIRECT else "")
    assert hand.urls() == []
    # What a rule refused on its visit comes back with the rules; everything else is asked for again.
    assert crew.name() == (0 if outcome is Outcome.REFUSED else 1)
    assert hand.urls() == [SEED]
    assert status(crew.frontier.db, crew.now).urls_due == 1


def test_a_seed_that_is_to_be_tried_later_is_tried_now(crew: Named) -> None:
    hand = visited(crew, Outcome.SERVER_ERROR, retry_at=crew.now + 3600)
    assert hand.urls() == []
    assert crew.name() == 1
    assert hand.urls() == [SEED]
    assert status(crew.frontier.db, crew.now).urls_scheduled == 0
    [task] = hand.tasks(SEED)
    assert task.attempts == 0


def test_a_seed_that_is_refused_now_stays_where_it_is(crew: Named) -> None:
    hand = visited(crew, Outcome.DOCUMENT)
    assert crew.name(seed(refusal=NO)) == 0
    assert hand.urls() == []


def test_a_seed_that_was_removed_stays_removed(crew: Named) -> None:
    visited(crew, Outcome.DOCUMENT)
    operate.remove(crew.frontier.db, SEED, "asked by mail", crew.now)
    assert crew.name() == 0
    record = find_url(crew.frontier.db, SEED)
    assert record is not None and record.state == "removed"


def test_a_page_that_is_named_becomes_a_start_page_and_comes_first(crew: Named) -> None:
    crew.add(*pages(SITE, 5, depth=1), page(DEEP, depth=4))
    crew.name(seed(DEEP))
    hand = crew.worker("w")
    tasks = hand.take()[0].tasks
    assert tasks[0].url == DEEP and len(tasks) == 6
    assert (tasks[0].depth, tasks[0].level) == (0, 0)
    hand.did(DEEP)
    assert sum(task.url == DEEP for task in hand.refill(SITE)) == 0, "it was in two levels, and is fetched once"


def test_a_page_that_is_named_a_sitemap_is_one(crew: Named) -> None:
    hand = visited(crew, Outcome.DOCUMENT)
    crew.name(seed(kind=Kind.SITEMAP))
    assert hand.take()[0].tasks[0].kind is Kind.SITEMAP


class TestTheSitesClock:
    def waiting(self, crew: Named, reason: str, until: float, **fields: Any) -> Hand:
        """A seed in the queue of a site that rests."""
        crew.name()
        hand = crew.worker("w")
        hand.take()
        clock = SiteClock(trouble=3, not_before=until, reason=reason, **fields)
        hand.release(SITE, clock)
        return hand

    def test_the_backoff_after_failed_connections_is_forgotten(self, crew: Named) -> None:
        hand = self.waiting(crew, "no connection: Connection refused", crew.now + 3000)
        assert hand.urls() == []
        crew.name()
        assert hand.urls() == []
        crew.wait(DELAY)
        [lease] = hand.take()
        assert lease.tasks[0].url == SEED
        assert (lease.clock.trouble, lease.clock.reason) == (0, "")

    def test_its_crawl_delay_holds(self, crew: Named) -> None:
        hand = self.waiting(crew, "no connection: Connection refused", crew.now + 3000, crawl_delay=60.0)
        crew.name()
        crew.wait(59)
        assert hand.urls() == []
        crew.wait(1)
        assert hand.urls() == [SEED]

    @pytest.mark.parametrize(
        "reason",
        [
            politeness.troubled(SiteClock(), 0.0, "status 503", POLITENESS, retry_after=3000.0).reason,
            "status 429: the server asks us to slow down",
            "robots.txt: robots.txt was requested too often (status 429)",
        ],
    )
    def test_a_wait_that_the_server_asked_for_holds(self, crew: Named, reason: str) -> None:
        self.waiting(crew, reason, crew.now + 3000)
        crew.name()
        crew.wait(2999)
        hand = crew.worker("later")
        assert hand.urls() == []
        clock = site_clock(crew.frontier.db, SITE)
        assert clock is not None and clock[2] == reason
        crew.wait(1)
        assert hand.urls() == [SEED]


def test_workers_hear_that_a_robots_txt_was_made_stale(crew: Named) -> None:
    frontier = crew.frontier
    frontier.db.execute("INSERT INTO robots (origin, state) VALUES (?, ?)", ("https://one.org", b"old"))
    before = frontier.directions(()).robots
    frontier.add_seeds([seed()], crew.now, [("https://one.org", msgspec.msgpack.encode("new"))])
    assert frontier.directions(()).robots == before + 1
    assert frontier.robots("https://one.org") == msgspec.msgpack.encode("new")
    frontier.add_seeds([seed()], crew.now)
    assert frontier.directions(()).robots == before + 1


class TestRedirectsOfSeeds:
    AWAY = "https://www.two.org/home"

    def redirected(self, crew: Named, url: str, target: str, inside: bool = False) -> None:
        """A visit that ends with a redirect, as a worker reports it."""
        hand = crew.worker("w")
        hand.take()
        [task] = hand.tasks(url)
        found = [page(target, via=Via.REDIRECT, referrer=url)]
        visit = hand.visit(task, Outcome.REDIRECT, target=target, reason="" if inside else "its target is refused")
        hand.report(visit, **({"found": found} if inside else {"beyond": found}))
        hand.release(SITE)
        crew.wait(DELAY)

    def test_the_target_of_a_seeds_redirect_belongs_to_the_crawl(self, crew: Named) -> None:
        crew.name()
        self.redirected(crew, SEED, self.AWAY)
        assert redirected_sites(crew.frontier.db) == [("www.two.org", SEED)]
        assert crew.worker("v").urls() == [self.AWAY]
        record = find_url(crew.frontier.db, SEED)
        assert record is not None and record.reason == ""

    def test_that_of_a_page_does_not(self, crew: Named) -> None:
        crew.name()
        crew.add(page(DEEP, depth=0))
        self.redirected(crew, DEEP, self.AWAY)
        assert redirected_sites(crew.frontier.db) == []
        assert crew.worker("v").urls() == [SEED]
        record = find_url(crew.frontier.db, DEEP)
        assert record is not None and record.reason == "its target is refused"

    def test_a_chain_of_redirects_leads_back_to_the_seed_also_by_way_of_a_known_page(self, crew: Named) -> None:
        crew.add(page(DEEP, depth=3))
        crew.name()
        self.redirected(crew, SEED, DEEP, inside=True)
        self.redirected(crew, DEEP, self.AWAY)
        assert redirected_sites(crew.frontier.db) == [("www.two.org", SEED)]

    def test_with_its_seed_the_target_leaves_the_crawl(self, crew: Named) -> None:
        crew.name()
        self.redirected(crew, SEED, self.AWAY)
        forget_seeds(crew.frontier.db, [SEED])
        assert redirected_sites(crew.frontier.db) == []

    def test_what_waits_of_a_seed_that_was_taken_out_does_not_rest_first(self, crew: Named) -> None:
        crew.name()
        crew.add(page(DEEP))
        hand = crew.worker("w")
        hand.take()
        hand.did(SEED, Outcome.DNS_FAILED, retry_at=crew.now + 600.0)
        until = crew.now + 300.0
        hand.release(SITE, SiteClock(trouble=1, not_before=until, reason="the host name has no address"))
        assert status(crew.frontier.db, crew.now).sites_blocked == 1
        assert crew.worker("v").urls() == []
        drop_seeds(crew.frontier.db, Settings(), [SEED], crew.now)
        assert status(crew.frontier.db, crew.now).sites_blocked == 0
        assert sorted(crew.worker("v").urls()) == [SEED, DEEP]
        clock = site_clock(crew.frontier.db, SITE)
        assert clock is not None and clock[0] == until

    def test_a_site_that_another_seed_names_rests_on(self, crew: Named) -> None:
        crew.name(seed(), seed(DEEP))
        hand = crew.worker("w")
        hand.take()
        hand.release(SITE, SiteClock(trouble=1, not_before=crew.now + 300.0, reason="status 503"))
        drop_seeds(crew.frontier.db, Settings(), [SEED], crew.now)
        assert crew.worker("v").urls() == []

    def test_a_seed_that_is_named_again_asks_its_chain_again(self, crew: Named) -> None:
        crew.name()
        self.redirected(crew, SEED, DEEP, inside=True)
        self.redirected(crew, DEEP, self.AWAY)
        crew.name()
        assert sorted(crew.worker("v").urls()) == sorted([SEED, DEEP, self.AWAY])
