"""What the tables know of seeds, and counts that add up: the same on both databases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from frontier_kit import LEASE, NAMES, SQL_MAKERS, Crew, page, pages

from gossamer.frontier.contract import Budgets
from gossamer.frontier.politeness import PolitenessConfig, SiteClock, pace
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.views.inspect import is_paced, next_due_where_answered, status
from gossamer.frontier.views.seed_view import SeedView, documents_by_domain, seed_urls, seed_views
from gossamer.model.outcome import Outcome
from gossamer.model.records import Via
from gossamer.operate.next_command import Commands
from gossamer.operate.verdict import judge_all
from gossamer.settings import ScopeSettings, Settings

ONE, TWO, THREE = "https://one.org/", "https://two.org/", "https://three.org/"
WWW = "https://www.one.org/"


@pytest.fixture(params=SQL_MAKERS, ids=NAMES[1:])
def sql(request: pytest.FixtureRequest, tmp_path: Path) -> SqlFrontier:
    make: Callable[[Path, Budgets], SqlFrontier] = request.param
    return make(tmp_path, Budgets(lease=LEASE))


def views(sql: SqlFrontier) -> dict[str, SeedView]:
    return {view.url: view for view in seed_views(sql.db, seed_urls(sql.db))}


def test_a_seed_is_followed_to_what_it_leads_to_and_counts_the_pages_of_all_sites_on_the_way(sql: SqlFrontier) -> None:
    crew = Crew(sql)
    sql.add_seeds([page(url, via=Via.SEED) for url in (ONE, TWO, THREE)], crew.now)
    hand = crew.worker("w")
    hand.take()
    hand.did(ONE, Outcome.REDIRECT, target=WWW, found=[page(WWW, via=Via.REDIRECT)])
    hand.did(TWO, Outcome.FORBIDDEN, status=403, reason="status 403")
    hand.take()
    hand.did(WWW, found=pages("www.one.org", 3))
    found = views(sql)
    assert [row.url for row in found[ONE].chain] == [ONE, WWW]
    assert (found[ONE].site.documents, found[ONE].site.waiting) == (1, 2), "one and more wait"
    end = found[TWO].end
    assert end is not None and (end.outcome, end.status, end.reason) == ("forbidden", 403, "status 403")
    unasked = found[THREE].end
    assert unasked is not None and (unasked.state, unasked.outcome) == ("waiting", "")
    assert documents_by_domain(sql.db, ["one.org", "two.org"]) == {"one.org": 1}


def test_redirects_in_a_circle_and_to_what_is_not_known_end(sql: SqlFrontier) -> None:
    crew = Crew(sql)
    sql.add_seeds([page(url, via=Via.SEED) for url in (ONE, TWO)], crew.now)
    hand = crew.worker("w")
    hand.take()
    hand.did(ONE, Outcome.REDIRECT, target=TWO)
    hand.did(TWO, Outcome.REDIRECT, target=ONE)
    assert [row.url for row in views(sql)[ONE].chain] == [ONE, TWO]
    sql.add_seeds([page(THREE, via=Via.SEED)], crew.now)
    hand.take()
    hand.did(THREE, Outcome.REDIRECT, target="https://elsewhere.org/")
    assert [row.url for row in views(sql)[THREE].chain] == [THREE]


def test_another_seed_of_the_same_site_that_was_read_is_noticed(sql: SqlFrontier) -> None:
    crew = Crew(sql)
    sql.add_seeds([page(ONE, via=Via.SEED), page(f"{ONE}lost", via=Via.SEED)], crew.now)
    hand = crew.worker("w")
    hand.take()
    hand.did(f"{ONE}lost", Outcome.GONE)
    assert not views(sql)[f"{ONE}lost"].shares_site
    hand.did(ONE)
    assert views(sql)[f"{ONE}lost"].shares_site and not views(sql)[ONE].shares_site


def test_many_seeds_are_looked_up_and_an_operators_pause_is_seen(sql: SqlFrontier) -> None:
    crew = Crew(sql)
    urls = [f"https://site{number}.org/" for number in range(300)]
    sql.add_seeds([page(url, via=Via.SEED) for url in urls], crew.now)
    sql.pause_site("site7.org", "the owner asked", crew.now)
    found = views(sql)
    assert list(found) == sorted(urls) and all(view.end is not None for view in found.values())
    assert [url for url, view in found.items() if view.site.paused] == ["https://site7.org/"]
    assert seed_views(sql.db, []) == []


def test_what_was_fetched_is_the_sum_of_what_it_came_to(sql: SqlFrontier) -> None:
    crew = Crew(sql)
    crew.add(*pages("one.org", 9))
    hand = crew.worker("w")
    urls = hand.urls()
    outcomes = [Outcome.DOCUMENT, Outcome.NOINDEX, Outcome.REDIRECT, Outcome.RESOURCE, Outcome.GONE,
                Outcome.UNSUPPORTED_TYPE, Outcome.TIMEOUT]  # fmt: skip
    for url, outcome in zip(urls, outcomes, strict=False):
        hand.did(url, outcome)
    hand.did(urls[7], Outcome.ROBOTS_DENIED, fetched=False)
    found = status(sql.db, crew.now)
    assert found.fetched == 7 == sum(found.fetched_as.values())
    assert found.fetched_as == {
        "kept": 1, "duplicates": 0, "aliases": 0, "noindex": 1, "redirects": 1, "lists": 1, "unread": 1, "errors": 2,
        "again": 0,
    }  # fmt: skip
    hand.did(urls[8], Outcome.TIMEOUT, retry_at=crew.now + 1)
    crew.wait(5)
    hand.refill("one.org")
    hand.did(urls[8])
    found = status(sql.db, crew.now)
    assert (found.fetched, found.again) == (9, 1), "the retry is one request more than there are URLs"
    assert found.fetched == sum(found.fetched_as.values())


def test_retries_of_sites_that_never_answered_are_not_worth_waiting_for(sql: SqlFrontier) -> None:
    crew = Crew(sql)
    crew.add(page(ONE))
    assert next_due_where_answered(sql.db) is not None, "never asked is not the same as never answered"
    hand = crew.worker("w")
    hand.take()
    trouble = SiteClock(trouble=1, not_before=crew.now + 20, reason="status 503")
    hand.did(ONE, Outcome.UNAVAILABLE, retry_at=crew.now + 20)
    hand.release("one.org", trouble)
    assert status(sql.db, crew.now).next_due_at == crew.now + 20
    assert next_due_where_answered(sql.db) is None
    crew.wait(30)
    hand.take()
    hand.did(ONE, found=[page(f"{ONE}more")])
    again = msgspec.structs.replace(trouble, not_before=crew.now + 20)
    hand.did(f"{ONE}more", Outcome.UNAVAILABLE, retry_at=crew.now + 20)
    hand.release("one.org", again)
    assert next_due_where_answered(sql.db) == crew.now + 20


def test_a_site_that_only_keeps_its_pace_is_told_from_one_in_trouble(sql: SqlFrontier) -> None:
    crew = Crew(sql)
    crew.add(page(ONE))
    hand = crew.worker("w")
    hand.take()
    slow = SiteClock(crawl_delay=20, not_before=crew.now + 20)
    hand.release("one.org", msgspec.structs.replace(slow, reason=pace(slow, PolitenessConfig())))
    assert is_paced(sql.db, crew.now + 20)
    assert not is_paced(sql.db, crew.now + 19), "longer than anybody waits for"
    crew.wait(21)
    hand.take()
    hand.release("one.org", SiteClock(trouble=1, not_before=crew.now + 300, reason="status 503"))
    assert not is_paced(sql.db, crew.now + 300)


def verdicts(sql: SqlFrontier, mode: str) -> dict[str, str]:
    settings = Settings(scope=ScopeSettings(mode=mode))
    judged = judge_all(seed_views(sql.db, seed_urls(sql.db)), settings, Commands(), sql.db)
    return {one.url: one.state for one in judged}


@pytest.mark.parametrize("mode", ["host", "domain", "list"])
def test_pages_of_another_seed_do_not_count_for_one_that_brought_nothing(sql: SqlFrontier, mode: str) -> None:
    """In a wider scope, a start page that is not to be indexed seemed to have brought the pages of all others."""
    crew, poor = Crew(sql), "https://poor.one.org/"
    sql.add_seeds([page(url, via=Via.SEED) for url in (ONE, poor)], crew.now)
    hand = crew.worker("w")
    hand.take()
    hand.did(ONE)
    hand.did(poor, Outcome.NOINDEX)
    assert verdicts(sql, mode) == {ONE: "kept", poor: "failed"}
    found = f"https://blog.one.org/{mode}"
    sql.add([page(found)], crew.now)
    hand.take()
    hand.did(found)
    assert verdicts(sql, mode)[poor] == ("failed" if mode == "host" else "kept"), "no seed leads there"


def test_a_feed_whose_pages_lie_on_the_site_of_another_seed_brought_them(sql: SqlFrontier) -> None:
    crew, feed = Crew(sql), "https://feeds.org/rss"
    sql.add_seeds([page(url, via=Via.SEED) for url in (ONE, feed)], crew.now)
    hand = crew.worker("w")
    hand.take()
    hand.did(feed, Outcome.RESOURCE)
    hand.did(ONE)
    assert verdicts(sql, "host") == {ONE: "kept", feed: "kept"}
    sql.add_seeds([page(feed, via=Via.SEED)], crew.now)
    hand.take()
    hand.did(feed, Outcome.RESOURCE, reason="it names 2 URLs, none of which may be fetched, such as https://x.org/: no")
    assert verdicts(sql, "host") == {ONE: "kept", feed: "failed"}


def test_an_unchanged_page_keeps_what_was_said_of_it(sql: SqlFrontier) -> None:
    """A start page that is empty without scripts was taken for a good one as soon as its server answered 304."""
    crew = Crew(sql)
    hand = crew.worker("w")
    told = []
    for outcome, status_, reason in (
        (Outcome.DOCUMENT, 200, "the page has no text"),
        (Outcome.NOT_MODIFIED, 304, "status 304: unchanged since the last visit"),
    ):
        sql.add_seeds([page(ONE, via=Via.SEED)], crew.now)
        hand.take()
        hand.did(ONE, outcome, status=status_, reason=reason)
        end = views(sql)[ONE].end
        assert end is not None
        told.append((end.outcome, end.status, end.reason))
    assert told == [("document", 200, "the page has no text"), ("document", 304, "the page has no text")]
    assert verdicts(sql, "host") == {ONE: "failed"}


def test_a_url_that_was_never_asked_for_does_not_upset_the_sum_of_requests(sql: SqlFrontier) -> None:
    crew = Crew(sql)
    sql.add_seeds([page(url, via=Via.SEED) for url in (ONE, TWO)], crew.now)
    hand = crew.worker("w")
    hand.take()
    hand.did(ONE)
    hand.did(TWO, Outcome.CONNECT_FAILED, fetched=False, reason="robots.txt: robots.txt is unreachable (status 503)")
    standing = status(sql.db, crew.now)
    assert (standing.fetched, standing.errors) == (1, 1)
    assert sum(standing.fetched_as.values()) == standing.fetched
