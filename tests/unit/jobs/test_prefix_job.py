"""Counting from scratch gives what the crawl keeps, puts right what is wrong, and does not disturb a crawl."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from stored_kit import KINDS, Stored, row

from gossamer.database.database import open_database
from gossamer.database.schema import REFUSED, REMOVED
from gossamer.engine.contract import InlineEngine
from gossamer.errors import UsageError
from gossamer.frontier.prefixes import PrefixTally
from gossamer.frontier.views import table_statistics
from gossamer.jobs.prefix_statistics import counted_leaves, prefix_statistics, rebuild_counters
from gossamer.jobs.url_table import export_urls
from gossamer.model.outcome import Outcome
from gossamer.model.site import key64
from gossamer.scope.shape import path_shape
from gossamer.scope.statistics import Counts


@pytest.fixture(params=KINDS)
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stored]:
    """Two sites with URLs of every fate."""
    stored = Stored(tmp_path, request.param)
    stored.write([row(f"http://a.test/news/{number}", str(number)) for number in range(5)])
    stored.write(
        [
            row("http://a.test/news/5", outcome="duplicate"),
            row("http://a.test/shop/cart?id=1", outcome="timeout"),
            row("http://b.test/x/y", outcome="alias"),
            row("http://b.test/x/z", outcome="gone"),
        ]
    )
    for number in range(3):
        stored.know(f"http://b.test/later/{number}")
    stored.know("http://b.test/refused")
    stored.know("http://b.test/removed", "document")
    stored.db.execute(f"UPDATE urls SET state = {REFUSED} WHERE url = 'http://b.test/refused'")
    stored.db.execute(f"UPDATE urls SET state = {REMOVED} WHERE url = 'http://b.test/removed'")
    stored.db.execute("UPDATE urls SET fit = 1 WHERE url LIKE 'http://a.test/news/%'")
    yield stored
    stored.db.close()


def counted(stored: Stored, parts: int = 3) -> dict[tuple[str, str], Counts]:
    context = stored.context(parts)
    return dict(counted_leaves(context.place, prefix_statistics(context)[1]))


@pytest.mark.parametrize("parts", [1, 2, 9])
def test_the_job_counts_what_a_recount_of_each_site_counts(stored: Stored, parts: int) -> None:
    expected = {
        (site, prefix): counts
        for site in ("a.test", "b.test")
        for prefix, counts in table_statistics.recount(stored.db, site, path_shape).items()
    }
    assert counted(stored, parts) == expected
    assert expected["a.test", "/news/"] == Counts(known=6, fit=6, visited=6, documents=5, duplicates=1)
    assert expected["b.test", "/later/"] == Counts(known=3)


def test_files_of_a_row_each_give_the_same(stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = counted(stored)
    monkeypatch.setattr("gossamer.jobs.prefix_statistics.export_urls", lambda c: export_urls(c, rows_of_a_file=1))
    assert counted(stored) == expected


def test_near_copies_are_documents_that_joined_a_page_of_their_own_site(stored: Stored) -> None:
    stored.db.execute(
        "INSERT INTO clusters (id, fingerprint, near_keys, pages, site_id, key, published, seen_at, reason) "
        "VALUES (7, ?, ?, 3, ?, ?, '', 1.0, '')",
        (b"", b"", key64("a.test"), key64("http://a.test/news/0")),
    )
    stored.write([row("http://b.test/x/copy", "0")])
    stored.db.execute("UPDATE urls SET cluster = 7 WHERE url IN ('http://a.test/news/0', 'http://a.test/news/1')")
    stored.db.execute("UPDATE urls SET joined = 1, cluster = 7 WHERE url = 'http://a.test/news/1'")
    stored.db.execute("UPDATE urls SET joined = 1, cluster = 7 WHERE url = 'http://b.test/x/copy'")
    found = counted(stored)
    assert found["a.test", "/news/"].near == 1
    assert found["b.test", "/x/"].near == 0


def test_a_rebuild_puts_wrong_missing_and_surplus_counters_right(stored: Stored) -> None:
    tally = PrefixTally()
    tally.entered(key64("a.test"), "/news/<n>", True, 100)
    tally.entered(key64("b.test"), "/nothing/here", False, 3)
    tally.flush(stored.db)
    report, wrong = rebuild_counters(stored.context())
    assert (report.urls, report.sites) == (12, 2)
    assert {(one.site, one.prefix) for one in wrong} >= {("a.test", "/news/"), ("b.test", "/nothing/")}
    kept = {leaf: counts for leaf, counts in table_statistics.all_leaves(stored.db).items() if counts != Counts()}
    assert kept == counted(stored)
    assert rebuild_counters(stored.context())[1] == [], "nothing is left to put right"


def test_what_a_crawl_counts_while_the_job_runs_is_not_lost(stored: Stored) -> None:
    """The URL below comes after the job has read the table, and is counted by the crawl."""
    tally = PrefixTally()
    tally.entered(key64("a.test"), "/news/<n>", True, 100)
    tally.flush(stored.db)
    other = open_database(stored.where)
    done = []

    def tell(stage: str, _done: int, _total: int) -> None:
        if stage == "counting URLs" and not done:
            done.append(stage)
            with other.transaction():
                crawled = PrefixTally()
                crawled.entered(key64("a.test"), "/news/<n>", True)
                crawled.visited(key64("a.test"), "/news/<n>", "", Outcome.DOCUMENT, False)
                crawled.flush(other)

    rebuild_counters(stored.context(tell=tell))
    other.close()
    expected = counted(stored)["a.test", "/news/"] + Counts(known=1, fit=1, visited=1, documents=1)
    assert table_statistics.all_leaves(stored.db)["a.test", "/news/"] == expected


def test_the_table_is_read_at_one_moment(stored: Stored) -> None:
    """A crawl that adds a URL and counts it between the reading of counters and of URLs makes nothing wrong."""
    rebuild_counters(stored.context())
    other = open_database(stored.where)

    def tell(stage: str, _done: int, _total: int) -> None:
        if stage == "reading the URL table":
            with other.transaction():
                crawled = PrefixTally()
                crawled.entered(key64("b.test"), "/later/<n>", False)
                crawled.flush(other)

    assert rebuild_counters(stored.context(tell=tell))[1] == []
    other.close()


def test_an_empty_table_is_said_so(tmp_path: Path) -> None:
    stored = Stored(tmp_path / "empty")
    with pytest.raises(UsageError, match="no URL is known yet"):
        prefix_statistics(stored.context(engine=InlineEngine()))
    stored.db.close()
