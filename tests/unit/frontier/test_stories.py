"""Who has a text, in order of time; the largest clusters; representatives. Asked of real tables."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gossamer.data.folder import DataFolder
from gossamer.database.database import Database, open_database
from gossamer.database.schema import DONE, REMOVED
from gossamer.frontier.views import stories
from gossamer.model.site import key64, site_of
from gossamer.serving.leaders import StoredLeaders
from gossamer.testing import FakeClock

A, B, C, D = "https://a.org/1", "https://b.org/1", "https://c.org/1", "https://d.org/1"


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = open_database(tmp_path / "frontier.db")
    database.execute("PRAGMA synchronous = OFF")
    yield database
    database.close()


def seen(day: str) -> float:
    return datetime.fromisoformat(f"{day}T12:00:00").replace(tzinfo=UTC).timestamp()


def add(db: Database, number: int, *pages: tuple[str, str, str], state: int = DONE) -> None:
    """A cluster of pages (URL, published, day it was seen), the first of which represents it."""
    for url, _, _ in pages:
        db.execute(
            "INSERT INTO urls (site_id, key, url, part, state, kind, via, level, depth, hops, found_at, cluster) "
            "VALUES (?, ?, ?, 0, ?, 'page', 'link', 1, 0, 0, 0, ?)",
            (key64(site_of(url)), key64(url), url, state, number),
        )
    url, published, day = pages[0]
    db.execute(
        "INSERT INTO clusters VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'published first')",
        (number, b"", b"", len(pages), key64(site_of(url)), key64(url), published, seen(day)),
    )
    for url, published, day in pages if len(pages) > 1 else ():
        values = (number, key64(site_of(url)), key64(url), published, seen(day))
        db.execute("INSERT INTO members VALUES (?, ?, ?, ?, ?)", values)


def test_a_page_leads_to_its_cluster(db: Database) -> None:
    add(db, 5, (A, "2024-05-02", "2024-06-01"), (B, "2024-05-03", "2024-06-01"))
    assert stories.cluster_of(db, B) == stories.Cluster(5, 2, A, "published first")
    assert stories.cluster_of(db, "https://nowhere.org/") is None


def test_pages_stand_in_order_of_the_day_they_were_published_or_else_seen(db: Database) -> None:
    add(
        db, 1, (A, "2024-05-04", "2024-06-01"), (B, "", "2024-05-03"), (C, "2024-05-02T08:00:00Z", "2024-07-01"),
        (D, "2024-05-04T01:00:00Z", "2024-05-20"),
    )  # fmt: skip
    assert [page.url for page in stories.members_of(db, 1, 10)] == [C, B, D, A]
    assert [page.url for page in stories.members_of(db, 1, 2)] == [C, B]


def test_a_date_after_the_page_was_seen_is_not_believed_nor_is_a_month(db: Database) -> None:
    add(db, 1, (A, "2024-05-09", "2024-05-03"), (B, "2024-04", "2024-05-02"), (C, "2024-05-04", "2024-06-01"))
    pages = stories.members_of(db, 1, 10)
    assert [(page.url, page.published) for page in pages] == [(B, ""), (A, ""), (C, "2024-05-04")]


def test_the_representative_is_marked_and_a_page_alone_is_its_own_story(db: Database) -> None:
    add(db, 1, (A, "", "2024-05-03"), (B, "", "2024-05-02"))
    add(db, 2, (C, "2024-05-01", "2024-05-03"))
    assert [(page.url, page.is_representative) for page in stories.members_of(db, 1, 9)] == [(B, False), (A, True)]
    story = stories.story_of(db, C, 9)
    assert story is not None and story.cluster.pages == 1
    assert story.pages == (stories.StoryPage(C, "2024-05-01", seen("2024-05-03"), True),)


def test_a_removed_page_has_no_story(db: Database) -> None:
    add(db, 1, (A, "", "2024-05-03"), state=REMOVED)
    assert stories.story_of(db, A, 9) is None


def test_of_a_huge_cluster_the_representative_is_never_missing(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [(f"https://s{n}.org/", "", "2024-05-03") for n in range(20)]
    add(db, 1, ("https://main.org/", "2024-05-01", "2024-05-03"), *pages)
    monkeypatch.setattr(stories, "ORDERED", 5)
    found = stories.members_of(db, 1, 100)
    assert 5 <= len(found) <= 6 and found[0].url == "https://main.org/"


def test_the_largest_clusters_come_first_and_single_pages_not_at_all(db: Database) -> None:
    add(db, 1, *[(f"https://one{n}.org/", "", "2024-05-03") for n in range(3)])
    add(db, 2, (A, "", "2024-05-03"))
    add(db, 3, *[(f"https://two{n}.org/", "", "2024-05-03") for n in range(4)])
    add(db, 4, (B, "", "2024-05-03"), (C, "", "2024-05-03"))
    found = stories.largest_clusters(db, 2)
    assert [(one.number, one.pages, one.representative) for one in found] == [
        (3, 4, "https://two0.org/"),
        (1, 3, "https://one0.org/"),
    ]


def test_nothing_is_scanned(db: Database) -> None:
    """Each question is answered by keys: SQLite says so itself."""
    asked: list[tuple[str, object]] = []
    execute = db.execute

    def listen(sql: str, values: object = ()) -> list[tuple[object, ...]]:
        asked.append((sql, values))
        return execute(sql, values)

    add(db, 1, (A, "", "2024-05-03"), (B, "", "2024-05-03"))
    db.execute = listen
    stories.story_of(db, A, 9)
    stories.largest_clusters(db, 9)
    stories.representatives(db, [1])
    assert len(asked) > 6
    for sql, values in asked:
        plan = [str(row[3]) for row in execute(f"EXPLAIN QUERY PLAN {sql}", values)]
        assert not [step for step in plan if step.startswith("SCAN")], (sql, plan)


# -- representatives for the searcher --------------------------------------------------------------


def test_representatives_are_told_by_key(db: Database) -> None:
    add(db, 1, (A, "", "2024-05-03"), (B, "", "2024-05-03"))
    add(db, 2, (C, "", "2024-05-03"))
    assert stories.representatives(db, [1, 2, 99]) == {1: key64(A), 2: key64(C)}
    assert stories.representatives(db, []) == {}


def test_leaders_answer_many_threads(db: Database, tmp_path: Path) -> None:
    for number in range(1, 300):
        add(db, number, (f"https://x{number}.org/", "", "2024-05-03"))
    leaders = StoredLeaders(DataFolder(tmp_path))
    expected = stories.representatives(db, range(1, 300))
    wrong: list[object] = []

    def ask() -> None:
        for _ in range(30):
            found = leaders.of(range(1, 300))
            if found != expected:
                wrong.append(found)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_without_a_database_there_are_no_leaders_and_later_there_are(tmp_path: Path) -> None:
    clock = FakeClock(1_000.0)
    leaders = StoredLeaders(DataFolder(tmp_path), clock)
    assert leaders.of([1]) == {}
    database = open_database(tmp_path / "frontier.db")
    add(database, 1, (A, "", "2024-05-03"))
    assert leaders.of([1]) == {}, "for a while nobody asks"
    clock.advance(10)
    assert leaders.of([1]) == {1: key64(A)}
    database.close()


def test_a_locked_or_damaged_database_breaks_no_search(db: Database, tmp_path: Path) -> None:
    add(db, 1, (A, "", "2024-05-03"))
    clock = FakeClock(1_000.0)
    leaders = StoredLeaders(DataFolder(tmp_path), clock)
    db.execute("PRAGMA journal_mode = DELETE")
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("DELETE FROM near_keys")
    assert leaders.of([1]) == {}
    db.close()
    clock.advance(10)
    assert leaders.of([1]) == {1: key64(A)}
    (tmp_path / "frontier.db").unlink()
    (tmp_path / "frontier.db").write_bytes(b"no database at all" * 100)
    assert leaders.of([1]) == {}


def test_the_database_of_a_new_crawl_takes_the_place_of_the_old_one(db: Database, tmp_path: Path) -> None:
    add(db, 1, (A, "", "2024-05-03"))
    leaders = StoredLeaders(DataFolder(tmp_path))
    assert leaders.of([1]) == {1: key64(A)}
    db.close()
    for path in tmp_path.glob("frontier.db*"):
        path.rename(tmp_path / f"old-{path.name}")
    other = open_database(tmp_path / "frontier.db")
    add(other, 1, (B, "", "2024-05-03"))
    assert leaders.of([1]) == {1: key64(B)}
    other.close()
