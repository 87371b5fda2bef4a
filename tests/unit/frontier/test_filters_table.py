"""A filter that goes live empties the queue of what it matches; one that ends brings it back; counters stay right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.database.database import Database, open_database
from gossamer.database.schema import QUEUED, REFUSED
from gossamer.dedup.near.registry import near_method
from gossamer.frontier.contract import Batch, Budgets, Place, SiteReport, Visit
from gossamer.frontier.politeness import PolitenessConfig
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.steering import filters
from gossamer.frontier.steering.filters import ACTIVE, OFF, SHADOW, WITHDRAWN, StoredFilter
from gossamer.frontier.views import table_statistics
from gossamer.frontier.views.inspect import status
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered, Kind
from gossamer.scope.automatic import AutomaticRule, Evidence, FilterKind
from gossamer.scope.shape import path_shape
from gossamer.scope.statistics import Counts

NOW = 1_700_000_000.0
SITE = "a.org"
TAGS = [f"http://a.org/tag/t{number}" for number in range(40)]
NEWS = [f"http://a.org/news/{number}" for number in range(10)]


def fits(url: str) -> bool:
    return "/news/" in url or url.endswith("/t7")


@pytest.fixture
def frontier(tmp_path: Path) -> Iterator[SqlFrontier]:
    db = open_database(tmp_path / "frontier.db")
    db.execute("PRAGMA synchronous = OFF")
    frontier = SqlFrontier(db, Budgets(), PolitenessConfig(delay=0.0), path_shape, near_method("minhash"))
    frontier.add([Discovered(url) for url in (*TAGS, *NEWS)], NOW)
    yield frontier
    db.close()


def stored(kind: FilterKind = "prefix", pattern: str = "/tag/", state: str = SHADOW) -> StoredFilter:
    evidence = Evidence(Counts(known=40), Counts(known=50, fit=10))
    return StoredFilter(SITE, kind, pattern, state, "yield", evidence, NOW, NOW)


def only(db: Database) -> StoredFilter:
    [row] = filters.list_filters(db)
    return row


def urls_in(db: Database, state: int) -> set[str]:
    return {url for (url,) in db.execute("SELECT url FROM urls WHERE state = ?", (state,))}


def check_counters(db: Database) -> None:
    """Every kept number is what one would count."""
    queued = Counter(level for (level,) in db.execute("SELECT level FROM queue"))
    assert {int(level): n for level, n in status(db, NOW).queue_by_level.items()} == queued
    [(known, refused)] = db.execute("SELECT known, refused FROM sites")
    assert known == len(urls_in(db, QUEUED)) + db.execute("SELECT COUNT(*) FROM urls WHERE outcome IS NOT NULL")[0][0]
    assert refused == db.execute("SELECT COUNT(*) FROM urls WHERE state = 3 AND outcome IS NULL")[0][0]
    kept = {text: counts for text, counts in table_statistics.leaves(db, SITE).items() if counts.known}
    assert kept == table_statistics.recount(db, SITE, path_shape)
    assert db.execute("SELECT SUM(urls) FROM shapes")[0][0] == known


def test_what_it_matches_leaves_the_queue_with_its_reason(frontier: SqlFrontier) -> None:
    db = frontier.db
    assert filters.activate(db, stored(), fits, 0, NOW) == len(TAGS) - 1
    assert urls_in(db, REFUSED) == set(TAGS) - {"http://a.org/tag/t7"}
    assert urls_in(db, QUEUED) == {*NEWS, "http://a.org/tag/t7"}
    assert {row[0] for row in db.execute("SELECT rule FROM urls WHERE state = 3")} == {"automatic.prefix"}
    assert filters.refused(db) == {(SITE, "prefix", "/tag/"): 39}
    check_counters(db)


def test_a_worker_is_given_nothing_that_left(frontier: SqlFrontier) -> None:
    filters.activate(frontier.db, stored(), fits, 0, NOW)
    frontier.register("w", NOW)
    [lease] = frontier.take("w", NOW, 1, 1000)
    assert {task.url for task in lease.tasks} == {*NEWS, "http://a.org/tag/t7"}


def test_switched_off_its_urls_come_back_once(frontier: SqlFrontier) -> None:
    db = frontier.db
    filters.activate(db, stored(), fits, 0, NOW)
    assert filters.end(db, only(db), OFF, NOW) == 39
    assert urls_in(db, QUEUED) == {*TAGS, *NEWS}
    assert filters.end(db, only(db), OFF, NOW) == 0
    check_counters(db)


def test_urls_refused_when_they_were_found_come_back_too(frontier: SqlFrontier) -> None:
    db = frontier.db
    filters.activate(db, stored(), fits, 0, NOW)
    rule = AutomaticRule(filters.load_filters(db), fits)
    late = [f"http://a.org/tag/late{number}" for number in range(5)]
    frontier.add([Discovered(url, refusal=rule.decide(url, NOW)) for url in late], NOW)
    assert filters.refused(db)[SITE, "prefix", "/tag/"] == 44
    check_counters(db)
    assert filters.end(db, only(db), WITHDRAWN, NOW) == 44
    assert set(late) <= urls_in(db, QUEUED)
    check_counters(db)


def test_what_another_filter_refuses_too_stays_out(frontier: SqlFrontier) -> None:
    db = frontier.db
    filters.activate(db, stored(), fits, 0, NOW)
    filters.activate(db, stored("shape", "/tag/t<n>"), fits, 0, NOW)
    wide = next(row for row in filters.list_filters(db) if row.kind == "prefix")
    assert filters.end(db, wide, OFF, NOW) == 0
    assert filters.refused(db) == {(SITE, "shape", "/tag/t<n>"): 39}
    check_counters(db)


def test_switching_off_is_remembered_whatever_is_proposed(frontier: SqlFrontier) -> None:
    db = frontier.db
    filters.save(db, [stored()])
    filters.end(db, only(db), OFF, NOW)
    filters.save(db, [stored()])
    assert only(db).state == OFF
    assert filters.load_filters(db) == ()


def test_a_job_that_did_not_know_of_it_cannot_undo_the_switch(frontier: SqlFrontier) -> None:
    db = frontier.db
    filters.save(db, [stored()])
    before = only(db)
    filters.end(db, before, OFF, NOW)
    assert filters.activate(db, before, fits, 0, NOW) == 0
    assert filters.end(db, before, WITHDRAWN, NOW) == 0
    assert only(db).state == OFF
    assert filters.activate(db, only(db), fits, 0, NOW, by_operator=True) == 39


def test_only_active_filters_are_in_force_and_each_change_shows(frontier: SqlFrontier) -> None:
    db = frontier.db
    before = filters.version(db)
    filters.save(db, [stored()])
    assert filters.load_filters(db) == ()
    proposed = filters.version(db)
    filters.activate(db, only(db), fits, 0, NOW)
    assert [one.pattern for one in filters.load_filters(db)] == ["/tag/"]
    assert before < proposed < filters.version(db)
    assert only(db).state == ACTIVE


def test_probes_visited_pages_and_sitemaps_stay(frontier: SqlFrontier) -> None:
    db = frontier.db
    frontier.add([Discovered("http://a.org/tag/sitemap.xml", kind=Kind.SITEMAP)], NOW)
    frontier.register("w", NOW)
    [lease] = frontier.take("w", NOW, 1, 1)
    [task] = lease.tasks
    visit = Visit(Place(SITE), task, Outcome.GONE, NOW)
    frontier.report("w", Batch("s", [visit], sites=[SiteReport(Place(SITE), lease.token, lease.clock)]), NOW)
    assert filters.activate(db, stored(), fits, 2, NOW) < 30
    assert {task.url, "http://a.org/tag/sitemap.xml"}.isdisjoint(urls_in(db, REFUSED))
    check_counters(db)


def test_a_visit_that_was_under_way_does_not_upset_the_counters(frontier: SqlFrontier) -> None:
    db = frontier.db
    frontier.register("w", NOW)
    [lease] = frontier.take("w", NOW, 1, 1000)
    task = next(task for task in lease.tasks if task.url == TAGS[0])
    filters.activate(db, stored(), fits, 0, NOW)
    visit = Visit(Place(SITE), task, Outcome.DOCUMENT, NOW, content_hash="t")
    frontier.report("w", Batch("s", [visit], sites=[SiteReport(Place(SITE), lease.token, lease.clock)]), NOW)
    check_counters(db)


def test_many_rows_leave_and_return_in_handfuls(frontier: SqlFrontier, monkeypatch: pytest.MonkeyPatch) -> None:
    db = frontier.db
    monkeypatch.setattr("gossamer.frontier.steering.filtered_queue._HANDFUL", 7)
    assert filters.activate(db, stored(), fits, 0, NOW) == 39
    check_counters(db)
    assert filters.end(db, only(db), OFF, NOW) == 39
    check_counters(db)
