"""S2.7 on both databases: what is taken down leaves the table in handfuls, and no commit brings it back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from frontier_kit import LEASE, Crew, Hand, dump_tables, make_sql, page, pages

from gossamer.database.database import Database
from gossamer.database.schema import QUEUED
from gossamer.errors import UsageError
from gossamer.frontier.changes import departed, documents, last_change
from gossamer.frontier.contract import Budgets, Verdict
from gossamer.frontier.recording import requeue
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.steering import operate, removals, removing, restoring
from gossamer.frontier.views import url_search
from gossamer.frontier.views.inspect import find_url, status
from gossamer.model.outcome import Outcome
from gossamer.model.site import key64

pytestmark = pytest.mark.usefixtures("dialect")

SITE = "www.one.org"
A, B, C = (f"https://{SITE}/{name}" for name in ("x/a", "x/b", "y/c"))
X = f"https://{SITE}/x/"


@pytest.fixture
def frontier(tmp_path: Path) -> SqlFrontier:
    return make_sql(tmp_path, Budgets(lease=LEASE, per_site=50))


@pytest.fixture
def crew(frontier: SqlFrontier) -> Crew:
    return Crew(frontier)


def state(db: Database, url: str) -> str:
    record = find_url(db, url)
    return record.state if record is not None else "unknown"


def busy(crew: Crew, *urls: str) -> Hand:
    """A worker that holds the site of these URLs."""
    crew.add(*(page(url) for url in urls))
    worker = crew.worker("w")
    worker.take()
    return worker


def outside_the_plan(db: Database) -> bool:
    """Whether nothing waits anywhere."""
    tables = dump_tables(db)
    return not any(tables[name] for name in ("queue", "schedule", "revisits")) and status(db, 0.0).urls_due == 0


class TestInFlight:
    """Between the order and the last commit of a worker that did not know of it."""

    def test_a_visit_is_refused_whose_row_has_not_left_yet(self, crew: Crew, frontier: SqlFrontier) -> None:
        worker, db = busy(crew, A, C), frontier.db
        [a, c] = worker.tasks(A, C)
        with db.transaction():
            removals.enter(db, X, "asked for", crew.now)  # the removal has begun, its handfuls have not
        verdicts = worker.report(worker.visit(a, content_hash="t", row=0), worker.visit(c, content_hash="u", row=1))
        assert [one.outcome for one in verdicts] == [Outcome.REFUSED, Outcome.DOCUMENT]
        assert state(db, A) == "refused"
        assert documents(db, key64(SITE), [key64(A), key64(C)]).keys() == {key64(C)}
        assert removing.remove(db, X, "asked for", crew.now) == 1
        assert state(db, A) == "removed"

    def test_a_known_page_that_is_visited_again_meanwhile_leaves(self, crew: Crew, frontier: SqlFrontier) -> None:
        worker, db = busy(crew, A), frontier.db
        worker.did(A, content_hash="t", row=0)
        operate.recrawl(db, A, crew.now)
        [a] = worker.tasks(A)
        with db.transaction():
            removals.enter(db, X, "asked for", crew.now)
        before = last_change(db)
        worker.report(worker.visit(a, content_hash="t2", row=0), segment="s2")
        assert (key64(SITE), key64(A)) in departed(db, before, last_change(db))
        assert documents(db, key64(SITE), [key64(A)]) == {}

    def test_a_failure_is_not_tried_again(self, crew: Crew, frontier: SqlFrontier) -> None:
        worker, db = busy(crew, A), frontier.db
        [a] = worker.tasks(A)
        with db.transaction():
            removals.enter(db, X, "asked for", crew.now)
        worker.report(worker.visit(a, Outcome.TIMEOUT, retry_at=crew.now + 60))
        assert state(db, A) == "refused" and outside_the_plan(db)

    def test_what_a_worker_finds_that_does_not_know_yet_is_refused(self, crew: Crew, frontier: SqlFrontier) -> None:
        worker, db = busy(crew, C), frontier.db
        operate.remove(db, X, "asked for", crew.now)
        worker.did(C, content_hash="t", found=[page(A), page(B)])
        assert (state(db, A), state(db, B)) == ("refused", "refused")
        record = find_url(db, A)
        assert record is not None and record.rule == f"filter.removed.{X}"
        assert outside_the_plan(db)

    def test_a_page_in_flight_when_its_row_left_is_not_kept(self, crew: Crew, frontier: SqlFrontier) -> None:
        worker, db = busy(crew, A), frontier.db
        [a] = worker.tasks(A)
        operate.remove(db, "=" + A, "asked for", crew.now)
        assert worker.report(worker.visit(a, content_hash="t", row=0)) == [Verdict(Outcome.REFUSED)]
        assert state(db, A) == "removed" and outside_the_plan(db)


class TestForms:
    """A URL, a beginning, both schemes, a host."""

    URLS = (
        "https://www.one.org/x", "https://www.one.org/x/1", "http://www.one.org/x/1", "https://www.one.org:8443/x/1",
        "https://www.one.org.evil.org/x/1", "https://two.org/x/1",
    )  # fmt: skip

    @pytest.mark.parametrize(
        ("what", "gone"),
        [
            ("=https://www.one.org/x", [0]),
            ("https://www.one.org/x", [0, 1]),
            ("//www.one.org/x/", [1, 2]),
            ("www.one.org", [0, 1, 2, 3]),
            ("//www.one.org:8443/", [3]),
        ],
    )
    def test_only_what_is_meant_leaves(self, crew: Crew, frontier: SqlFrontier, what: str, gone: list[int]) -> None:
        crew.add(*(page(url) for url in self.URLS))
        assert removing.remove(frontier.db, what, "asked", crew.now) == len(gone)
        states = [state(frontier.db, url) for url in self.URLS]
        assert [place for place, one in enumerate(states) if one == "removed"] == gone
        out = removals.covered(frontier.db)
        assert [place for place, url in enumerate(self.URLS) if out(url)] == gone


class TestMany:
    """More URLs than one handful."""

    def test_handfuls_leave_one_after_the_other_and_counters_stay_right(
        self, crew: Crew, frontier: SqlFrontier, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(removing, "HANDFUL", 7)
        crew.add(*pages(SITE, 40), page(C))
        handfuls: list[int] = []
        urls = removing.remove(
            frontier.db, f"https://{SITE}/", "asked", crew.now, lambda keys: handfuls.append(len(keys))
        )
        assert urls == 41 == sum(handfuls) and max(handfuls) == 7
        assert outside_the_plan(frontier.db)
        assert frontier.db.execute("SELECT COALESCE(SUM(queued), 0) FROM levels") == [(0,)]
        assert removals.unfinished(frontier.db) == {}

    def test_what_broke_off_is_marked_and_carried_on(
        self, crew: Crew, frontier: SqlFrontier, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(removing, "HANDFUL", 7)
        crew.add(*pages(SITE, 40))
        db, what = frontier.db, f"https://{SITE}/"

        def dies(_keys: object) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            removing.remove(db, what, "asked", crew.now, dies)
        assert removals.unfinished(db) == {what: "asked"}
        [one] = removals.all_removals(db)
        assert one.unfinished
        assert crew.add(page(f"https://{SITE}/new")).new == 0, "the removal holds from its first moment"
        assert removing.remove(db, what, "asked", crew.now) == 34  # 33 that were left, and the one refused above
        assert removals.unfinished(db) == {} and outside_the_plan(db)


class TestRestore:
    """Undone: it is fetched anew, unless something else keeps it out."""

    def test_removed_pages_are_queued_again(self, crew: Crew, frontier: SqlFrontier) -> None:
        worker, db = busy(crew, A, B, C), frontier.db
        worker.did(A, content_hash="t", row=0, etag='"1"')
        operate.remove(db, X, "asked", crew.now)
        assert crew.add(page(f"{X}later")).new == 0
        assert restoring.restore(db, X, crew.now) == 3
        assert {state(db, url) for url in (A, B, f"{X}later")} == {"waiting"}
        assert status(db, crew.now).urls_due == 4
        [a] = worker.tasks(A)
        assert not a.etag, "an unchanged page must bring its text again"
        assert worker.report(worker.visit(a, content_hash="t", row=0), segment="s2") == [Verdict(Outcome.DOCUMENT)]
        assert removals.all_removals(db) == []

    def test_another_removal_keeps_out_what_it_covers(self, crew: Crew, frontier: SqlFrontier) -> None:
        crew.add(page(A), page(B))
        operate.remove(frontier.db, "=" + A, "one", crew.now)
        operate.remove(frontier.db, X, "two", crew.now)
        assert restoring.restore(frontier.db, X, crew.now) == 1
        assert (state(frontier.db, A), state(frontier.db, B)) == ("removed", "waiting")

    def test_there_is_nothing_to_undo(self, frontier: SqlFrontier, crew: Crew) -> None:
        assert restoring.restore(frontier.db, X, crew.now) is None


def test_one_url_is_queued_again_by_name(crew: Crew, frontier: SqlFrontier) -> None:
    worker, db = busy(crew, A, B), frontier.db
    worker.did(A, Outcome.GONE)
    assert operate.recrawl_url(db, A, crew.now) == 1
    assert operate.recrawl_url(db, A, crew.now) == 0
    operate.remove(db, "=" + B, "asked", crew.now)
    for url, said in ((B, "undo the takedown first"), (C, "gossamer inject")):
        with pytest.raises(UsageError, match=said):
            operate.recrawl_url(db, url, crew.now)


def test_the_hits_of_alerts_leave_with_their_pages(crew: Crew, frontier: SqlFrontier) -> None:
    db = frontier.db
    for url in (A, B, C):
        row = ("alert", key64(url), crew.now, url, "title", "excerpt", "")
        db.execute(
            "INSERT INTO alert_hits (alert, key, at, url, title, excerpt, published) VALUES (?, ?, ?, ?, ?, ?, ?)", row
        )
    operate.remove(db, "=" + A, "asked", crew.now)
    assert {url for (url,) in db.execute("SELECT url FROM alert_hits")} == {B, C}
    operate.remove(db, SITE, "asked", crew.now)
    assert db.execute("SELECT url FROM alert_hits") == []


class TestBrokenOff:
    """A removal that is undone, killed or repeated while it is under way."""

    def test_what_is_undone_meanwhile_leaves_no_more(
        self, crew: Crew, frontier: SqlFrontier, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(removing, "HANDFUL", 7)
        crew.add(*pages(SITE, 40))
        db, what = frontier.db, f"https://{SITE}/"
        undone: list[int | None] = []

        def undo_once(_keys: object) -> None:
            if not undone:
                undone.append(restoring.restore(db, what, crew.now))

        removing.remove(db, what, "asked", crew.now, undo_once)
        assert undone == [7], "the first handful had left"
        states = [row[0] for row in db.execute("SELECT state FROM urls")]
        assert set(states) == {QUEUED}, "nothing keeps them out, and nobody could bring them back"
        assert status(db, crew.now).urls_due == 40
        assert db.execute("SELECT COUNT(*), COUNT(DISTINCT key) FROM queue") == [(40, 40)]

    def test_the_queue_is_swept_by_whoever_carries_on(self, crew: Crew, frontier: SqlFrontier) -> None:
        crew.add(*pages(SITE, 10))
        db, what = frontier.db, f"https://{SITE}/"
        with pytest.raises(KeyboardInterrupt):
            removing.remove(db, what, "asked", crew.now, killed)
        assert removing.remove(db, what, "asked", crew.now) == 0, "all had left, but not the queue"
        assert outside_the_plan(db)
        assert db.execute("SELECT COALESCE(SUM(queued), 0) FROM levels") == [(0,)]

    def test_undone_after_a_kill_each_url_waits_once(self, crew: Crew, frontier: SqlFrontier) -> None:
        crew.add(*pages(SITE, 10))
        db, what = frontier.db, f"https://{SITE}/"
        with pytest.raises(KeyboardInterrupt):
            removing.remove(db, what, "asked", crew.now, killed)
        assert restoring.restore(db, what, crew.now) == 10
        assert db.execute("SELECT COUNT(*), COUNT(DISTINCT key) FROM queue") == [(10, 10)]
        assert status(db, crew.now).urls_due == 10

    def test_an_undoing_that_was_killed_is_carried_on_by_undoing_again(
        self, crew: Crew, frontier: SqlFrontier, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(removing, "HANDFUL", 7)
        crew.add(*pages(SITE, 20))
        db, what = frontier.db, f"https://{SITE}/"
        removing.remove(db, what, "asked", crew.now)
        with pytest.raises(KeyboardInterrupt):
            restoring.restore(db, what, crew.now, killed)
        assert restoring.restore(db, what, crew.now) == 13
        assert status(db, crew.now).urls_due == 20
        assert restoring.restore(db, what, crew.now) is None, "all is back"


def killed(_keys: object) -> None:
    """Whoever removes is killed after a handful."""
    raise KeyboardInterrupt


def test_many_urls_are_queued_again_by_handfuls_and_nobody_waits_for_all_of_them(
    crew: Crew, frontier: SqlFrontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removing, "HANDFUL", 3)
    monkeypatch.setattr(operate, "HANDFUL", 3)
    monkeypatch.setattr(operate, "_REST", 0.0)
    urls = [f"{X}{n}" for n in range(8)]
    worker, db = busy(crew, *urls, C), frontier.db
    for url in (*urls, C):
        worker.did(url, Outcome.GONE)
    handfuls: list[int] = []

    def counted(database: Database, site_id: int, keys: Sequence[int], now: float) -> int:
        handfuls.append(len(keys))
        return requeue(database, site_id, keys, now)

    monkeypatch.setattr(operate, "requeue", counted)
    assert operate.recrawl_failed(db, crew.now, SITE) == 9
    assert operate.recrawl_failed(db, crew.now) == 0 and status(db, crew.now).urls_due == 9
    for url in (*urls, C):
        worker.did(url, Outcome.GONE)
    assert operate.recrawl(db, X, crew.now) == 8
    assert handfuls == [3, 3, 3, 3, 3, 2]


def test_known_urls_are_found_by_a_part_of_them(crew: Crew, frontier: SqlFrontier) -> None:
    crew.add(page(A), page(B), page(C))
    assert [one.url for one in url_search.urls_like(frontier.db, "ORG/Y", 9)] == [C]
    assert [one.url for one in url_search.urls_of(frontier.db, SITE, "/x/", 9)] == [A, B]
    assert url_search.sites_like(frontier.db, "one.o", 9) == [SITE]
