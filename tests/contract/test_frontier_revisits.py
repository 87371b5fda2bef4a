"""Pages are visited again: when they are due, in fair shares with new ones, and as often as they change."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random

import pytest
from frontier_kit import NOW, Crew, Hand, page, pages, place_of_database, sql_on

from gossamer.database.database import open_database
from gossamer.errors import LeaseLost
from gossamer.frontier.contract import Budgets
from gossamer.frontier.freshness import collection_freshness
from gossamer.frontier.guidance import Guidance
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.steering.operate import recrawl, remove
from gossamer.frontier.views.inspect import find_url, status
from gossamer.model.outcome import Outcome
from gossamer.model.records import LEVELS
from gossamer.revisit.config import DAY, HOUR, FeedConfig, RevisitConfig

pytestmark = pytest.mark.usefixtures("dialect")

SITE = "a.example.org"
A, B = f"https://{SITE}/a", f"https://{SITE}/b"
QUIET = FeedConfig(poll=False)


def crew_with(folder: Path, budgets: Budgets | None = None, **revisit: object) -> Crew:
    guidance = Guidance(revisit=RevisitConfig(**revisit), feeds=QUIET)
    return Crew(sql_on(open_database(place_of_database(folder)), budgets or Budgets(lease=1e9), guidance))


@pytest.fixture
def crew(tmp_path: Path) -> Crew:
    return crew_with(tmp_path)


def db_of(crew: Crew):
    assert isinstance(crew.frontier, SqlFrontier)
    return crew.frontier.db


def fetch_all(worker: Hand, outcome: Outcome = Outcome.DOCUMENT, text: str = "") -> list[str]:
    """Lease the site, visit what is due, give it back."""
    done = []
    for lease in worker.take():
        for task in list(lease.tasks):
            hashed = text or f"text of {task.url}"
            worker.report(worker.visit(task, outcome, content_hash=hashed if outcome is Outcome.DOCUMENT else ""))
            done.append(task.url)
        worker.release(lease.site)
    return done


def due_in(crew: Crew, url: str) -> float:
    record = find_url(db_of(crew), url)
    assert record is not None
    assert record.due_at is not None
    return record.due_at - crew.now


class TestWhen:
    def test_a_page_is_handed_out_again_when_it_is_due_and_not_before(self, crew: Crew) -> None:
        crew.add(page(A))
        worker = crew.worker("w")
        assert fetch_all(worker) == [A]
        wait = due_in(crew, A)
        assert wait > HOUR
        crew.wait(wait - 1)
        assert fetch_all(worker) == []
        crew.wait(2)
        assert fetch_all(worker) == [A]

    def test_no_page_comes_back_by_itself_where_the_policy_is_none(self, tmp_path: Path) -> None:
        crew = crew_with(tmp_path, policy="none")
        crew.add(page(A))
        worker = crew.worker("w")
        fetch_all(worker)
        crew.wait(1000 * DAY)
        assert fetch_all(worker) == []
        assert status(db_of(crew), crew.now).next_due_at is None

    def test_another_text_brings_the_next_visit_nearer_and_the_same_one_puts_it_off(self, crew: Crew) -> None:
        crew.add(page(A), page(B))
        worker = crew.worker("w")
        fetch_all(worker)
        for round_ in range(4):
            crew.wait(max(due_in(crew, A), due_in(crew, B)) + 1)
            [lease] = worker.take()
            for task in list(lease.tasks):
                text = f"news {round_}" if task.url == A else "text of " + B
                worker.report(worker.visit(task, content_hash=text))
            worker.release(SITE)
        assert due_in(crew, A) < due_in(crew, B)

    def test_a_page_that_says_not_modified_is_as_unchanged_as_one_with_the_same_text(self, tmp_path: Path) -> None:
        waits = []
        for answer in (Outcome.DOCUMENT, Outcome.NOT_MODIFIED):
            crew = crew_with(tmp_path / answer.value)
            crew.add(page(A))
            worker = crew.worker("w")
            fetch_all(worker)
            crew.wait(due_in(crew, A) + 1)
            assert fetch_all(worker, answer) == [A]
            waits.append(due_in(crew, A))
        assert waits[0] == pytest.approx(waits[1])

    def test_what_failed_for_good_or_points_elsewhere_is_looked_at_after_the_longest_time(self, crew: Crew) -> None:
        crew.add(page(A), page(B))
        worker = crew.worker("w")
        worker.take()
        worker.did(A, Outcome.GONE)
        worker.did(B, Outcome.REDIRECT, target="https://elsewhere.example/")
        assert due_in(crew, A) == due_in(crew, B) == 90 * DAY

    def test_refused_pages_are_not_looked_at_again(self, crew: Crew) -> None:
        crew.add(page(A), page(B))
        worker = crew.worker("w")
        worker.take()
        worker.did(A, Outcome.ROBOTS_DENIED)
        worker.did(B, Outcome.REFUSED)
        worker.release(SITE)
        crew.wait(1000 * DAY)
        assert fetch_all(worker) == []

    def test_visits_keep_to_the_budget(self, tmp_path: Path) -> None:
        """Each page every seven days on average: two hundred pages, of very different habits, in four weeks."""
        crew = crew_with(tmp_path, Budgets(lease=1e9, per_site=1000), every=7 * DAY)
        crew.add(*pages(SITE, 200))
        worker, chance = crew.worker("w"), Random(3)
        periods = {item.url: DAY * chance.lognormvariate(3, 1.5) for item in pages(SITE, 200)}
        versions = dict.fromkeys(periods, 0)

        def visit_due() -> int:
            visits = []
            for lease in worker.take():
                for task in lease.tasks:
                    gap = crew.now - (task.checked_at or crew.now)
                    versions[task.url] += chance.random() < 1 - math.exp(-gap / periods[task.url])
                    visits.append(worker.visit(task, content_hash=f"{task.url} {versions[task.url]}"))
            if visits:
                worker.report(*visits)
                worker.release(SITE)
            return len(visits)

        weeks = []
        for _ in range(8):
            crew.wait(0 if not weeks else DAY)
            weeks.append(visit_due())
            for _ in range(6):
                crew.wait(DAY)
                weeks[-1] += visit_due()
        assert sum(weeks[4:]) == pytest.approx(4 * 200, rel=0.2)

    def test_clicks_of_readers_bring_the_next_visit_nearer(self, crew: Crew) -> None:
        crew.add(page(A), page(B))
        worker = crew.worker("w")
        db_of(crew).execute("UPDATE urls SET clicks = 100 WHERE url = ?", (A,))
        fetch_all(worker)
        assert due_in(crew, A) < due_in(crew, B)


class TestShares:
    def test_new_and_old_pages_share_the_requests_while_both_wait(self, tmp_path: Path) -> None:
        crew = crew_with(tmp_path, Budgets(lease=1e9, per_site=20), share=0.25)
        worker = crew.worker("w")
        crew.add(*pages(SITE, 20))
        fetch_all(worker)
        crew.wait(100 * DAY)
        crew.add(*(page(f"https://{SITE}/new{n}") for n in range(50)))
        [lease] = worker.take()
        again = [task for task in lease.tasks if task.previous]
        assert (len(lease.tasks), len(again)) == (20, 5)
        assert all(task.level >= LEVELS for task in again)
        kinds = [bool(task.previous) for task in lease.tasks]
        assert kinds != sorted(kinds), "old pages do not all wait for the end of the handful"

    def test_whoever_is_alone_gets_all_places(self, tmp_path: Path) -> None:
        crew = crew_with(tmp_path, Budgets(lease=1e9, per_site=20), share=0.25)
        worker = crew.worker("w")
        crew.add(*pages(SITE, 20))
        fetch_all(worker)
        crew.wait(100 * DAY)
        assert len(fetch_all(worker)) == 20

    def test_no_share_means_only_when_nothing_new_waits(self, tmp_path: Path) -> None:
        crew = crew_with(tmp_path, Budgets(lease=1e9, per_site=10), share=0.0)
        worker = crew.worker("w")
        crew.add(page(A))
        fetch_all(worker)
        crew.wait(100 * DAY)
        crew.add(*(page(f"https://{SITE}/new{n}") for n in range(10)))
        assert A not in fetch_all(worker)
        assert fetch_all(worker) == [A]


class TestNothingIsLost:
    def test_a_due_page_that_was_handed_out_to_a_dead_worker_is_handed_out_again(self, tmp_path: Path) -> None:
        crew = crew_with(tmp_path, Budgets(lease=60))
        crew.add(page(A))
        fetch_all(crew.worker("first"))
        crew.wait(100 * DAY)
        dead = crew.worker("dead")
        assert dead.urls() == [A]
        crew.wait(61)
        assert crew.worker("next").urls() == []  # the site counts as just asked
        crew.wait(10)
        assert crew.worker("later").urls() == [A]
        with pytest.raises(LeaseLost):
            dead.did(A)

    def test_a_failed_visit_keeps_the_document_and_is_tried_again(self, crew: Crew) -> None:
        crew.add(page(A))
        worker = crew.worker("w")
        fetch_all(worker)
        crew.wait(100 * DAY)
        worker.take()
        worker.did(A, Outcome.TIMEOUT, retry_at=crew.now + 60)
        worker.release(SITE)
        record = find_url(db_of(crew), A)
        assert record is not None
        assert record.outcome == "document"
        crew.wait(61)
        assert fetch_all(worker) == [A]
        assert due_in(crew, A) > 0

    def test_an_operator_may_have_it_at_once_and_it_comes_once(self, crew: Crew) -> None:
        crew.add(page(A))
        worker = crew.worker("w")
        fetch_all(worker)
        assert recrawl(db_of(crew), A, crew.now) == 1
        assert fetch_all(worker) == [A]
        crew.wait(due_in(crew, A) + 1)
        assert fetch_all(worker) == [A]
        assert db_of(crew).execute("SELECT COUNT(*) FROM revisits") == [(1,)]

    def test_a_removed_page_does_not_come_back(self, crew: Crew) -> None:
        crew.add(page(A), page(B))
        worker = crew.worker("w")
        fetch_all(worker)
        remove(db_of(crew), A, "asked for", crew.now)
        crew.wait(1000 * DAY)
        assert fetch_all(worker) == [B]
        assert collection_freshness(db_of(crew), RevisitConfig(), crew.now).pages == 1


class TestFreshness:
    def test_it_falls_with_time_and_a_visit_restores_it(self, crew: Crew) -> None:
        def fresh() -> float:
            return collection_freshness(db_of(crew), RevisitConfig(), crew.now).fresh

        crew.add(*pages(SITE, 10))
        worker = crew.worker("w")
        fetch_all(worker)
        at_first = fresh()
        assert at_first > 0.99
        crew.wait(60 * DAY)
        stale = fresh()
        assert stale < 0.5
        fetch_all(worker)
        assert fresh() > 0.99

    def test_only_documents_count(self, crew: Crew) -> None:
        crew.add(page(A), page(B), page(f"https://{SITE}/c"))
        worker = crew.worker("w")
        worker.take()
        worker.did(A, content_hash="x")
        worker.did(B, Outcome.NOINDEX)
        worker.did(f"https://{SITE}/c", Outcome.GONE)
        assert collection_freshness(db_of(crew), RevisitConfig(), crew.now).pages == 1

    def test_an_empty_collection_has_no_stale_page(self, crew: Crew) -> None:
        found = collection_freshness(db_of(crew), RevisitConfig(), NOW)
        assert (found.pages, found.fresh, found.age) == (0, 1.0, 0.0)
