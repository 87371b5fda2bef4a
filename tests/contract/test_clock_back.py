"""After a clock that ran ahead, no stored time lies in the false future: on both databases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from frontier_kit import LEASE, NAMES, NOW, SQL_MAKERS, Crew, pages

from gossamer.database import schema
from gossamer.database.database import Database
from gossamer.frontier.contract import Budgets
from gossamer.frontier.sql import SqlFrontier
from gossamer.revisit.polls import Habit
from gossamer.robots.verdict import Kind, RobotsState
from gossamer.tables.clock_back import latest_written, turn_back

AHEAD = 30 * 86_400.0
THEN = NOW + AHEAD
KEPT = {"partitions", "mirrors", "rules", "filters", "seeds", "removals", "accounts", "alerts", "audit", "evaluations",
        "schedule_pauses", "desk"}  # fmt: skip
"""Tables whose times are only shown."""


@pytest.fixture(params=SQL_MAKERS, ids=NAMES[1:])
def sql(request: pytest.FixtureRequest, tmp_path: Path) -> SqlFrontier:
    make: Callable[[Path, Budgets], SqlFrontier] = request.param
    return make(tmp_path, Budgets(lease=LEASE))


def robots(db: Database, origin: str) -> RobotsState:
    return msgspec.msgpack.decode(
        db.execute("SELECT state FROM robots WHERE origin = ?", (origin,))[0][0], type=RobotsState
    )


def put_robots(db: Database, origin: str, state: RobotsState) -> None:
    db.execute("INSERT INTO robots VALUES (?, ?)", (origin, msgspec.msgpack.encode(state)))


def test_what_a_false_clock_wrote_of_robots_txt_and_sources_comes_back_with_it(sql: SqlFrontier) -> None:
    db = sql.db
    right = RobotsState(Kind.RULES, "rules", NOW - 60, NOW + 86_340, good_at=NOW - 60)
    wrong = RobotsState(Kind.UNREACHABLE, "503", THEN, THEN + 600, THEN + 600, b"x", NOW - 500, THEN - 50, 3)
    habit = Habit(1.0, 3600.0, polled_at=THEN, news_at=NOW - 5)
    with db.transaction():
        put_robots(db, "http://a.test", right)
        put_robots(db, "http://b.test", wrong)
        db.execute(
            "INSERT INTO sources (site_id, key, kind, habit) VALUES (1, 2, 'feed', ?)", (msgspec.msgpack.encode(habit),)
        )
        turn_back(db, NOW, AHEAD)
    assert robots(db, "http://a.test") == right
    assert robots(db, "http://b.test") == RobotsState(
        Kind.UNREACHABLE, "503", NOW, NOW + 600, NOW + 600, b"x", NOW - 500, NOW - 50, 3
    )
    found = msgspec.msgpack.decode(db.execute("SELECT habit FROM sources")[0][0], type=Habit)
    assert (found.polled_at, found.news_at) == (NOW, NOW - 5)


def test_a_wait_lasts_as_long_as_it_was_meant_to_from_the_last_that_was_written(sql: SqlFrontier) -> None:
    crew = Crew(sql)
    crew.add(*pages("one.org", 2))
    db = sql.db
    with db.transaction():
        db.execute("UPDATE sites SET not_before = ?", (THEN + 3600 + 300,))
        db.execute(
            "INSERT INTO segments (id, worker, created_at, pages, bytes) VALUES ('s', 'w', ?, 1, 1)", (THEN + 3600,)
        )
        turn_back(db, NOW, latest_written(db, THEN) - NOW)
    assert db.execute("SELECT not_before FROM sites")[0][0] == pytest.approx(NOW + 300)
    assert db.execute("SELECT created_at FROM segments")[0][0] == pytest.approx(NOW)


def test_a_lease_of_a_false_clock_ends_and_one_of_today_does_not(sql: SqlFrontier) -> None:
    sql.register("living", NOW)
    sql.register("false", THEN)
    with sql.db.transaction():
        turn_back(sql.db, NOW, AHEAD)
    ends = dict(sql.db.execute("SELECT id, expires_at FROM workers"))
    assert ends == {"living": NOW + LEASE, "false": NOW + LEASE}


def times() -> dict[str, list[str]]:
    """The columns that hold a time, by table."""
    found: dict[str, list[str]] = {}
    for statement in schema.TABLES.split(";"):
        head, _, body = statement.strip().partition("(")
        if head.startswith("CREATE TABLE"):
            named = [line.split()[0] for line in body.splitlines() if "DOUBLE PRECISION" in line]
            found[head.split()[2]] = [name for name in named if name.endswith("_at") or name in TIMES]
    return {table: columns for table, columns in found.items() if columns}


TIMES = ("at", "since", "until", "not_before")


def test_every_time_of_the_tables_is_turned_back_or_known_to_be_only_shown() -> None:
    """A column that is added later must be thought of."""
    from gossamer.tables.clock_back import _EVENTS, _PLANS

    own = {"workers": ("started_at", "expires_at"), "logins": ("began_at", "expires_at")}
    turned = {table: {*_PLANS.get(table, ()), *_EVENTS.get(table, ()), *own.get(table, ())} for table in times()}
    left = {table: sorted(set(columns) - turned[table]) for table, columns in times().items() if table not in KEPT}
    assert {table: columns for table, columns in left.items() if columns} == {}
