"""What is forgotten of changes, on both databases: what nobody asks for any longer, and never more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from frontier_kit import make_sql

from gossamer.database.database import Database
from gossamer.frontier.changes import departed, note_departures
from gossamer.frontier.contract import Budgets
from gossamer.tables import forgetting

pytestmark = pytest.mark.usefixtures("dialect")


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    db = make_sql(tmp_path, Budgets()).db
    yield db
    db.close()


def add(db: Database, segment: str, seq: int | None, into: str | None, created_at: float = 0.0) -> None:
    db.execute(
        "INSERT INTO segments (id, worker, created_at, pages, bytes, merged_into, seq) VALUES (?, 'w', ?, 1, 1, ?, ?)",
        (segment, created_at, into, seq),
    )


def segments(db: Database) -> set[str]:
    return {row[0] for row in db.execute("SELECT id FROM segments")}


def test_merged_segments_are_forgotten_and_neither_those_that_count_nor_those_on_the_way(db: Database) -> None:
    for number in range(600):  # more than one handful
        add(db, f"old-{number}", number + 1, "all")
    add(db, "far", 700, "between")
    add(db, "between", None, "all")
    add(db, "all", None, None)
    forgettable = segments(db) - {"far"}
    assert forgetting.unused_segments(db, lambda name: True) == segments(db) - {"all"}
    assert forgetting.unused_segments(db, lambda name: name != "between") == segments(db) - {"all", "between", "far"}
    assert forgetting.forget_segments(db, forgettable) == 600
    assert segments(db) == {"far", "between", "all"}
    assert forgetting.forget_segments(db, set()) == 0


def test_what_left_is_forgotten_up_to_a_change_and_that_is_said(db: Database) -> None:
    for change in range(1, 2501):
        note_departures(db, change, [(1, change)])
    assert forgetting.forgotten(db) == 0
    forgetting.forget_departures(db, 2400)
    assert forgetting.forgotten(db) == 2400
    assert sorted(key for _, key in departed(db, 0, 9999)) == list(range(2401, 2501))
    forgetting.forget_departures(db, 100)
    assert forgetting.forgotten(db) == 2400


def test_what_somebody_who_was_killed_left_goes_the_next_time(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    for change in range(1, 2501):
        note_departures(db, change, [(1, change)])
    with monkeypatch.context() as patch:
        patch.setattr(forgetting, "_forget_span", lambda *_: None)
        forgetting.forget_departures(db, 2400)
    assert forgetting.forgotten(db) == 2400 and len(departed(db, 0, 9999)) == 2500
    forgetting.forget_departures(db, 2400)
    assert sorted(key for _, key in departed(db, 0, 9999)) == list(range(2401, 2501))


def test_the_last_change_before_a_time(db: Database) -> None:
    for seq, created_at in ((1, 10.0), (2, 20.0), (5, 30.0)):
        add(db, f"s{seq}", seq, None, created_at)
    add(db, "merged", None, None, 1.0)
    assert [forgetting.last_change_before(db, time) for time in (10.0, 10.5, 29.0, 99.0)] == [0, 1, 2, 5]
