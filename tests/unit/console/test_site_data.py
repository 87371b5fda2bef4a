"""What the pages of sites say: which fail and why, why each is asked as often as it is, what its robots.txt means."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gossamer.console import series
from gossamer.console.site_data import delay_of, robots_view, site_page
from gossamer.database.database import Database
from gossamer.dedup.near.registry import near_method
from gossamer.frontier.contract import Batch, Budgets, SiteReport, Visit
from gossamer.frontier.politeness import PolitenessConfig, SiteClock
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.steering import controls
from gossamer.frontier.views import site_view
from gossamer.frontier.views.site_list import ORDERS, STATES, SiteRow, Wanted, count_sites, list_sites
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered
from gossamer.model.site import key64
from gossamer.robots.verdict import Kind, RobotsState
from gossamer.scope.shape import path_shape
from gossamer.settings import Settings

NOW = 1_700_000_000.0
SETTINGS = Settings()


@pytest.fixture
def frontier(db: Database) -> SqlFrontier:
    return SqlFrontier(db, Budgets(), PolitenessConfig(delay=1.0), path_shape, near_method("minhash"))


def visit(frontier: SqlFrontier, outcomes: dict[str, Outcome]) -> None:
    """Add URLs, and have a worker visit them with these outcomes."""
    frontier.add([Discovered(url) for url in outcomes], NOW - 100)
    frontier.register("w", NOW - 100)
    visits, reports = [], []
    for lease in frontier.take("w", NOW - 50, 100, 1000):
        visits += [
            Visit(lease.place, task, outcomes[task.url], NOW - 10, status=500, reason="it <failed>")
            for task in lease.tasks
        ]
        reports.append(SiteReport(lease.place, lease.token, SiteClock()))
    frontier.report("w", Batch("s1", visits=visits, sites=reports), NOW)
    frontier.release("w", reports, [], NOW)
    frontier.retire("w", NOW)


@pytest.fixture
def failing(frontier: SqlFrontier) -> SqlFrontier:
    """`bad.test` mostly rejects our requests, `poor.test` with one missing page, `good.test` not at all."""
    visit(
        frontier,
        {
            **{f"https://bad.test/{n}": Outcome.GONE for n in range(2)},
            **{f"https://bad.test/t{n}": Outcome.CLIENT_ERROR for n in range(5)},
            "https://poor.test/a": Outcome.GONE,
            **{f"https://poor.test/b{n}": Outcome.NOINDEX for n in range(9)},
            **{f"https://good.test/{n}": Outcome.NOINDEX for n in range(3)},
        },
    )
    return frontier


def names(db: Database, **wanted: Any) -> list[str]:
    rows = list_sites(db, Wanted(**wanted), NOW)
    assert count_sites(db, Wanted(**wanted), NOW) == len(rows)
    return [row.name for row in rows]


def row(db: Database, name: str) -> SiteRow:
    return next(one for one in list_sites(db, Wanted(), NOW) if one.name == name)


def test_the_sites_that_fail_most_come_first_with_their_most_frequent_error(failing: SqlFrontier) -> None:
    rows = list_sites(failing.db, Wanted(), NOW)
    assert [(one.name, one.errors, one.worst) for one in rows] == [
        ("bad.test", 7, "client_error"),
        ("poor.test", 1, "gone"),
        ("good.test", 0, ""),
    ]
    assert rows[1].share == pytest.approx(0.1)


def test_a_kind_of_error_leads_to_the_sites_that_have_it(failing: SqlFrontier) -> None:
    assert names(failing.db, outcome="gone") == ["bad.test", "poor.test"]
    assert names(failing.db, outcome="client_error") == ["bad.test"]
    assert names(failing.db, outcome="dns_failed") == []


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_lists_every_site_once(failing: SqlFrontier, order: Any) -> None:
    assert sorted(names(failing.db, order=order)) == ["bad.test", "good.test", "poor.test"]


def test_a_part_of_a_name_is_taken_literally(failing: SqlFrontier) -> None:
    assert names(failing.db, name="OO") == ["poor.test", "good.test"]
    assert names(failing.db, name="%") == []
    assert names(failing.db, name="_oor") == []


def test_pages_of_the_list_do_not_overlap(failing: SqlFrontier) -> None:
    pages = [list_sites(failing.db, Wanted("name"), NOW, limit=2, offset=offset) for offset in (0, 2, 4)]
    assert [[one.name for one in page] for page in pages] == [["bad.test", "good.test"], ["poor.test"], []]


def test_every_site_is_in_the_list_of_its_state_and_in_no_other(failing: SqlFrontier) -> None:
    db = failing.db
    failing.add([Discovered("https://waits.test/"), Discovered("https://held.test/")], NOW)
    failing.register("w", NOW)
    controls.pause_site(db, "poor.test", "they asked", NOW)
    controls.limit_site(db, "good.test", 0.0, 1, NOW)
    db.execute("UPDATE sites SET not_before = ?, wait_reason = 'it is slow' WHERE name = 'bad.test'", (NOW + 60,))
    db.execute("UPDATE parts SET owner = 'w' WHERE site_id = ?", (key64("held.test"),))
    expected = {
        "paused": ["poor.test"],
        "limited": ["good.test"],
        "resting": ["bad.test"],
        "waiting": ["waits.test"],
        "active": ["held.test"],
        "idle": [],
    }
    assert {state: names(db, state=state) for state in STATES} == expected
    assert {name: row(db, name).state for state in expected for name in expected[state]} == {
        name: state for state in expected for name in expected[state]
    }
    for state, sites in expected.items():
        for name in sites:
            found = site_view.find_site(db, name)
            assert found is not None and found.state(NOW) == state


def test_failures_are_shown_with_examples_and_their_reasons(failing: SqlFrontier) -> None:
    found = site_view.failures(failing.db, "bad.test")
    assert {kind: len(examples) for kind, examples in found.items()} == {"gone": 2, "client_error": 3}
    assert found["gone"][0].reason == "it <failed>"


def test_what_failed_is_queued_again_and_only_there(failing: SqlFrontier) -> None:
    assert site_view.recrawl_failed(failing.db, "bad.test", NOW) == 7
    assert site_view.recrawl_failed(failing.db, "bad.test", NOW) == 0
    queued = failing.db.execute("SELECT DISTINCT site_id FROM queue")
    assert queued == [(key64("bad.test"),)]


def test_a_site_of_too_many_urls_is_not_counted_url_by_url(failing: SqlFrontier) -> None:
    small = site_view.find_site(failing.db, "bad.test")
    assert small is not None and site_view.visited_since(failing.db, small, NOW - 3600) == 7
    large = msgspec.structs.replace(small, known=10_000_000)
    assert site_view.visited_since(failing.db, large, NOW - 3600) is None


def test_nothing_is_known_of_an_unknown_site(db: Database) -> None:
    assert site_page(db, SETTINGS, "nobody.test", NOW) is None


def test_everything_about_a_site_is_on_its_page(failing: SqlFrontier) -> None:
    db = failing.db
    controls.pause_site(db, "bad.test", "they asked", NOW)
    db.execute("INSERT INTO extraction VALUES (?, 19000, 10, 4, 5000)", (key64("bad.test"),))
    page = site_page(db, SETTINGS, "bad.test", NOW)
    assert page is not None
    assert (page.state, page.rests) == ("paused", "bad.test is paused: they asked")
    assert (page.site.known, page.visited, page.budget) == (7, 7, SETTINGS.budget.pages_per_site)
    assert [one.empty for one in page.extraction] == [4]
    assert series.extraction_chart(page.extraction).series == {"without text": [0.4]}


def clocked(db: Database, **columns: Any) -> Any:
    sets = ", ".join(f"{name} = ?" for name in columns)
    db.execute(f"UPDATE sites SET {sets} WHERE name = 'good.test'", tuple(columns.values()))
    return site_view.find_site(db, "good.test")


def test_the_longest_delay_counts_and_is_told_apart(failing: SqlFrontier) -> None:
    rules = PolitenessConfig(delay=1.0)
    assert delay_of(clocked(failing.db, trouble=0), rules).seconds == 1.0
    slow = delay_of(clocked(failing.db, crawl_delay=5.0), rules)
    assert (slow.seconds, [counts for _, _, counts in slow.asked]) == (5.0, [False, True])
    limited = delay_of(clocked(failing.db, least_delay=8.0), rules)
    assert [(seconds, counts) for _, seconds, counts in limited.asked] == [(1.0, False), (5.0, False), (8.0, True)]


def test_trouble_makes_the_delay_longer_and_says_how_much(failing: SqlFrontier) -> None:
    delay = delay_of(clocked(failing.db, trouble=2), PolitenessConfig(delay=1.0))
    assert (delay.seconds, delay.times) == (4.0, 4)


def store_robots(db: Database, state: RobotsState) -> None:
    db.execute("INSERT INTO robots VALUES (?, ?)", ("https://a.test", msgspec.msgpack.encode(state)))


def test_robots_tells_the_rules_for_us_beside_the_whole_text(db: Database) -> None:
    ours = b"User-agent: *\nDisallow: /private/\nCrawl-delay: 3\nSitemap: https://a.test/s.xml"
    body = b"User-agent: Otherbot\nDisallow: /\n\n" + ours
    store_robots(db, RobotsState(Kind.RULES, "robots.txt was read (status 200)", NOW, NOW + 60, body=body, good_at=NOW))
    view = robots_view(db, SETTINGS, "https://a.test", NOW)
    assert view is not None
    assert (view.allowed, view.rules, view.crawl_delay) == (True, ["Disallow: /private/"], 3.0)
    assert (view.text, view.sitemaps, view.fresh) == (body.decode(), ["https://a.test/s.xml"], True)


def test_robots_that_cannot_be_reached_forbid_everything(db: Database) -> None:
    reason = "robots.txt is unreachable (status 503)"
    store_robots(db, RobotsState(Kind.UNREACHABLE, reason, NOW, NOW + 60, failing_since=NOW))
    view = robots_view(db, SETTINGS, "https://a.test", NOW)
    assert view is not None and not view.allowed
    assert view.verdict == f"allows nothing ({reason})"


def test_robots_of_any_bytes_can_be_shown(db: Database) -> None:
    body = b"\xff\xfe\x00<script>" + b"x" * 100_000
    store_robots(db, RobotsState(Kind.RULES, "read", NOW, NOW + 60, body=body, good_at=NOW))
    view = robots_view(db, SETTINGS, "https://a.test", NOW)
    assert view is not None and view.cut and len(view.text) == 20_000
