"""Near duplicates are in one cluster, which somebody represents, as pages come, change and go."""

from __future__ import annotations

from pathlib import Path

import pytest
from frontier_kit import LEASE, MAKERS, NAMES, Crew, Hand, Make, make_sql, page, prints, requeue_all

from gossamer.frontier.contract import Budgets, Verdict
from gossamer.frontier.copies.copying import LOWERED
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.steering import operate
from gossamer.model.outcome import Outcome

ONE, TWO, THREE = "https://one.org/", "https://two.org/", "https://three.org/"


@pytest.fixture(params=MAKERS, ids=NAMES)
def crew(request: pytest.FixtureRequest, tmp_path: Path) -> Crew:
    make: Make = request.param
    return Crew(make(tmp_path, Budgets(lease=LEASE, copies=1000)))


def started(crew: Crew, *urls: str) -> Hand:
    crew.add(*(page(url) for url in urls))
    hand = crew.worker("hand")
    hand.take()
    return hand


def read(hand: Hand, url: str, text: str, published: str = "") -> Verdict:
    hand.crew.wait(1)
    return hand.did(url, content_hash=text, published=published, **prints(text))


def test_near_duplicates_of_different_sites_are_both_documents_and_in_one_cluster(crew: Crew) -> None:
    hand = started(crew, ONE, TWO, THREE)
    first, second, third = read(hand, ONE, "t1"), read(hand, TWO, "t1b"), read(hand, THREE, "t2")
    assert {first.outcome, second.outcome, third.outcome} == {Outcome.DOCUMENT}
    assert first.cluster == second.cluster != third.cluster
    assert (first.joined, second.joined, third.joined) == (False, True, False)


def test_equal_texts_of_different_domains_are_in_one_cluster(crew: Crew) -> None:
    hand = started(crew, ONE, TWO)
    assert read(hand, ONE, "t1").cluster == read(hand, TWO, "t1").cluster


def test_two_near_duplicates_in_one_batch_find_each_other(crew: Crew) -> None:
    hand = started(crew, ONE, TWO)
    tasks = hand.tasks(ONE, TWO)
    first, second = hand.report(hand.read(tasks[0], "t1"), hand.read(tasks[1], "t1b"))
    assert first.cluster == second.cluster


def test_a_page_too_short_to_compare_is_in_no_cluster(crew: Crew) -> None:
    hand = started(crew, ONE)
    assert read(hand, ONE, "short").cluster is None


def test_a_page_that_changes_leaves_its_cluster_and_others_stay(crew: Crew) -> None:
    hand = started(crew, ONE, TWO, THREE)
    founder = read(hand, ONE, "t1")
    read(hand, TWO, "t1b")
    requeue_all(crew.frontier, [ONE], crew.now)
    changed = read(hand, ONE, "t2")
    assert changed.cluster != founder.cluster, "its number is not taken along: others are still in there"
    assert read(hand, THREE, "t1").cluster == founder.cluster, "the cluster is still found, though its founder left"


def test_an_unchanged_page_stays_what_it_was(crew: Crew) -> None:
    hand = started(crew, ONE, TWO)
    read(hand, ONE, "t1")
    before = read(hand, TWO, "t1b")
    requeue_all(crew.frontier, [TWO], crew.now)
    after = read(hand, TWO, "t1b")
    assert (after.cluster, after.joined) == (before.cluster, True)


def test_a_cluster_without_pages_is_forgotten(crew: Crew) -> None:
    hand = started(crew, ONE, TWO)
    gone = read(hand, ONE, "t1")
    requeue_all(crew.frontier, [ONE], crew.now)
    hand.did(ONE, Outcome.GONE)
    assert read(hand, TWO, "t1").cluster != gone.cluster


def test_a_shape_whose_pages_are_near_duplicates_waits_lower(crew: Crew) -> None:
    """New ones are queued lower, and those in the queue move down before they are handed out."""
    pages_ = [f"https://one.org/print/{number}" for number in range(12)]
    hand = started(crew, *pages_)
    for number, url in enumerate(pages_):
        hand.did(url, content_hash=f"h{number}", **prints("t1b" if number else "t1"))
    crew.add(page("https://one.org/print/77"), page("https://one.org/news/5"))
    queued = hand.refill("one.org")
    assert [task.url for task in queued] == ["https://one.org/news/5", "https://one.org/print/77"]
    assert queued[1].level - queued[0].level == queued[1].lowered == pytest.approx(LOWERED, abs=1)


def test_urls_that_wait_already_move_down_when_their_shape_turns_out_to_copy(crew: Crew) -> None:
    seen = [f"https://one.org/print/{number}" for number in range(12)]
    waiting = [f"https://one.org/print/{number}" for number in range(100, 140)]
    hand = started(crew, *seen, *waiting, "https://one.org/news/1")
    for number, url in enumerate(seen):
        hand.did(url, content_hash=f"h{number}", **prints("t1"))
    first, *others = hand.refill("one.org")
    assert first.url == "https://one.org/news/1"
    assert [task.url for task in others] == waiting, "first in, first out among those that moved"


# What an operator does, and what only tables can show.


@pytest.fixture
def sql(tmp_path: Path) -> Crew:
    return Crew(make_sql(tmp_path, Budgets(lease=LEASE)))


def representative(crew: Crew) -> tuple[str, str]:
    assert isinstance(crew.frontier, SqlFrontier)
    rows = crew.frontier.db.execute(
        "SELECT u.url, c.reason FROM clusters c JOIN urls u ON u.site_id = c.site_id AND u.key = c.key "
        "WHERE c.pages > 1"
    )
    assert len(rows) == 1
    return rows[0][0], rows[0][1]


def test_the_page_published_first_represents_the_cluster_whichever_was_seen_first(sql: Crew) -> None:
    hand = started(sql, ONE, TWO, THREE)
    read(hand, ONE, "t1", "2023-05-05")
    read(hand, TWO, "t1b", "2023-05-04")
    read(hand, THREE, "t1b", "2023-05-06")
    assert representative(sql) == (TWO, "published first")


def test_another_page_represents_the_cluster_when_the_first_is_removed(sql: Crew) -> None:
    assert isinstance(sql.frontier, SqlFrontier)
    hand = started(sql, ONE, TWO, THREE)
    for url in (ONE, TWO, THREE):
        read(hand, url, "t1")
    assert representative(sql) == (ONE, "seen first")
    operate.remove(sql.frontier.db, ONE, "asked", sql.now)
    assert representative(sql) == (TWO, "seen first")


def test_fingerprints_of_another_method_are_not_compared(sql: Crew) -> None:
    assert isinstance(sql.frontier, SqlFrontier)
    hand = started(sql, ONE, TWO)
    first = read(hand, ONE, "t1")
    db = sql.frontier.db
    with db.transaction():
        db.execute("UPDATE meta SET value = 'something else' WHERE key = 'near'")
    SqlFrontier(db, Budgets(), sql.frontier._politeness, sql.frontier._shape_of, sql.frontier._near)
    assert read(hand, TWO, "t1").cluster != first.cluster
