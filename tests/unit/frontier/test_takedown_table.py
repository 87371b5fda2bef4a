"""What a removal covers, what it does to the counters of the table, and that undoing it leaves them right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from gossamer.database.database import Database, open_database
from gossamer.database.schema import QUEUED, REMOVED
from gossamer.dedup.near.registry import near_method
from gossamer.frontier.contract import Batch, Budgets, Place, SiteReport, Visit
from gossamer.frontier.politeness import PolitenessConfig
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.steering import removals, removing, restoring
from gossamer.frontier.steering.removals import Covered, filter_rule
from gossamer.frontier.views import table_statistics
from gossamer.frontier.views.inspect import status
from gossamer.model.decision import refuse
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered
from gossamer.scope.filters import Filters
from gossamer.scope.shape import path_shape

NOW = 1_700_000_000.0
SITE = "a.org"
TAGS = [f"http://a.org/tag/t{number}" for number in range(30)]
NEWS = [f"http://a.org/news/{number}" for number in range(10)]
REFUSED_ON_ENTRY = Discovered("http://a.org/tag/refused", refusal=refuse("filter.test", "for the test"))


@pytest.fixture
def frontier(tmp_path: Path) -> Iterator[SqlFrontier]:
    db = open_database(tmp_path / "frontier.db")
    db.execute("PRAGMA synchronous = OFF")
    frontier = SqlFrontier(db, Budgets(), PolitenessConfig(delay=0.0), path_shape, near_method("minhash"))
    frontier.add([*(Discovered(url) for url in (*TAGS, *NEWS)), REFUSED_ON_ENTRY], NOW)
    yield frontier
    db.close()


def visit_some(frontier: SqlFrontier) -> None:
    """Fetch ten pages: documents, duplicates and failures."""
    frontier.register("w", NOW)
    [lease] = frontier.take("w", NOW, 1, 10)
    kinds = [Outcome.DOCUMENT, Outcome.DOCUMENT, Outcome.GONE, Outcome.NOINDEX, Outcome.TIMEOUT]
    visits = []
    for number, task in enumerate(lease.tasks):
        outcome = kinds[number % len(kinds)]
        visit = Visit(Place(SITE), task, outcome, NOW, row=number, content_hash=f"t{number % 4}")
        visit.retry_at = NOW + 60 if outcome is Outcome.TIMEOUT else None
        visits.append(visit)
    frontier.report("w", Batch("s", visits, sites=[SiteReport(Place(SITE), lease.token, lease.clock)]), NOW)


def urls_in(db: Database, state: int) -> set[str]:
    return {url for (url,) in db.execute("SELECT url FROM urls WHERE state = ?", (state,))}


def check_counters(db: Database) -> None:
    """Every kept number is what one would count."""
    queued = Counter(level for (level,) in db.execute("SELECT level FROM queue"))
    assert {int(level): n for level, n in status(db, NOW).queue_by_level.items()} == queued
    outcomes = dict(db.execute("SELECT outcome, COUNT(*) FROM urls WHERE outcome IS NOT NULL GROUP BY outcome"))
    assert dict(db.execute("SELECT outcome, urls FROM outcomes WHERE urls <> 0")) == outcomes
    kept = {text: counts for text, counts in table_statistics.leaves(db, SITE).items() if counts.known}
    assert kept == table_statistics.recount(db, SITE, path_shape)
    scheduled = db.execute("SELECT COUNT(*) FROM urls WHERE state = 1")
    assert db.execute("SELECT COUNT(*) FROM schedule") == scheduled
    pages = db.execute("SELECT COALESCE(SUM(pages), 0) FROM freshness")[0][0]
    assert pages == db.execute("SELECT COUNT(*) FROM urls WHERE bucket >= 0")[0][0]


def test_counters_stay_right_when_pages_of_all_kinds_leave_and_come_back(frontier: SqlFrontier) -> None:
    db = frontier.db
    visit_some(frontier)
    check_counters(db)
    assert removing.remove(db, "http://a.org/tag/", "asked", NOW) == len(TAGS) + 1
    assert urls_in(db, REMOVED) == {*TAGS, REFUSED_ON_ENTRY.url}
    check_counters(db)
    assert restoring.restore(db, "http://a.org/tag/", NOW) == len(TAGS)
    assert set(TAGS) <= urls_in(db, QUEUED)
    assert REFUSED_ON_ENTRY.url not in urls_in(db, QUEUED), "what was refused before is not let in by an undoing"
    check_counters(db)


def test_removing_twice_changes_nothing(frontier: SqlFrontier) -> None:
    visit_some(frontier)
    removing.remove(frontier.db, "a.org", "asked", NOW)
    assert removing.remove(frontier.db, "a.org", "asked again", NOW) == 0
    check_counters(frontier.db)
    [one] = removals.all_removals(frontier.db)
    assert one.reason == "asked again"


def test_a_removal_is_found_by_the_urls_it_covers(frontier: SqlFrontier) -> None:
    db = frontier.db
    assert removals.removal_of(db, TAGS[0]) is None
    removing.remove(db, f"={TAGS[0]}", "one", NOW)
    found = removals.removal_of(db, TAGS[0])
    assert found is not None and found.reason == "one"
    removing.remove(db, "http://a.org/tag/", "all", NOW)
    found = removals.removal_of(db, TAGS[0])
    assert found is not None and found.reason == "all", "the widest is what has to be undone"
    assert removals.removal_of(db, NEWS[0]) is None


def test_rows_of_an_older_release_count_without_a_version(frontier: SqlFrontier) -> None:
    db = frontier.db
    db.execute("INSERT INTO removals (prefix, reason, removed_at) VALUES ('http://a.org/tag/', 'old', 1.0)")
    assert removals.covered(db)(TAGS[0])
    db.execute("INSERT INTO removals (prefix, reason, removed_at) VALUES ('http://a.org/news/', 'old', 1.0)")
    assert removals.covered(db)(NEWS[0]), "nothing is remembered while the table has no version"


HOSTS = st.sampled_from(["a.org", "a.org:8080", "b.a.org", "a.orgy.com", "xn--bcher-kva.de"])
PATHS = st.sampled_from(["/", "/x", "/x/", "/x/y", "/xy", "/x?q=1", "/x.y", "/x+y(1)"])
URLS = st.builds("{}://{}{}".format, st.sampled_from(["http", "https"]), HOSTS, PATHS)
WHAT = st.one_of(
    URLS,
    URLS.map("={}".format),
    URLS.map(lambda url: url[url.index("//") :]),
    st.sampled_from(["a.org", "b.a.org", "xn--bcher-kva.de"]),
)


@given(st.lists(WHAT, max_size=4), URLS)
def test_the_filter_refuses_exactly_what_is_covered(whats: list[str], url: str) -> None:
    """Workers go by the filter, commits by the table: both must mean the same."""
    decision = Filters([filter_rule(what) for what in whats]).decide(url, NOW)
    assert (decision is not None and not decision.allowed) == Covered(whats)(url)
