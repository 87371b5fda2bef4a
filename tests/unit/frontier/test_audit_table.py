"""The audit log keeps what was done, in order, and finds it again."""

from __future__ import annotations

import pytest

from gossamer.database.database import Database
from gossamer.tables import audit
from gossamer.tables.audit import Filter


def test_the_newest_line_comes_first(db: Database) -> None:
    for at, url in ((10.0, "a"), (30.0, "c"), (20.0, "b")):
        audit.note(db, at, "ada", "remove", url, "spam")
    assert [line.subject for line in audit.entries(db)] == ["c", "b", "a"]
    assert audit.entries(db)[0] == audit.Entry(30.0, "ada", "remove", "c", "spam")


def test_two_lines_of_one_moment_are_both_kept(db: Database) -> None:
    audit.note(db, 10.0, "ada", "pause", "a.test")
    audit.note(db, 10.0, "ada", "pause", "a.test")
    assert audit.count(db) == 2


def test_lines_are_found_by_who_what_and_a_part_of_the_subject(db: Database) -> None:
    audit.note(db, 1.0, "ada", "remove", "https://a.test/100%_sure")
    audit.note(db, 2.0, "bob", "remove", "https://a.test/100xysure")
    audit.note(db, 3.0, "ada", "pause site", "B.test")
    assert [line.at for line in audit.entries(db, Filter(who="ada"))] == [3.0, 1.0]
    assert [line.at for line in audit.entries(db, Filter(action="remove"))] == [2.0, 1.0]
    assert [line.at for line in audit.entries(db, Filter(who="ada", action="remove"))] == [1.0]
    assert [line.at for line in audit.entries(db, Filter(subject="100%_"))] == [1.0]
    assert [line.at for line in audit.entries(db, Filter(subject="b.TEST"))] == [3.0]
    assert audit.count(db, Filter(subject="a.test")) == 2


def test_pages_follow_each_other_without_gap_or_repetition(db: Database) -> None:
    for at in range(25):
        audit.note(db, float(at), "ada", "remove", str(at))
    seen = [line.subject for offset in range(0, 25, 10) for line in audit.entries(db, None, 10, offset)]
    assert seen == [str(at) for at in reversed(range(25))]


def test_a_line_belongs_to_the_transaction_it_is_written_in(db: Database) -> None:
    with pytest.raises(RuntimeError), db.transaction():
        audit.note(db, 1.0, "ada", "remove", "a")
        raise RuntimeError
    assert audit.count(db) == 0


def test_what_no_database_can_hold_is_kept_as_well_as_can_be(db: Database) -> None:
    audit.note(db, 1.0, "ada", "remove", "a\x00b\ud800c", "x" * 100_000)
    (line,) = audit.entries(db)
    assert line.subject == "a\ufffdb?c"
    assert len(line.detail) == 4000 and line.detail.endswith("…")


def test_choices_are_offered_once_each(db: Database) -> None:
    for who in ("bob", "ada", "bob"):
        audit.note(db, 1.0, who, "pause", "x")
    assert audit.known(db) == (["ada", "bob"], ["pause"])
