"""Runs, pauses and wishes of a plan, and holds on segments: the same on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from frontier_kit import place_of_database

from gossamer.database.database import Database, open_database
from gossamer.schedule.config import Schedule
from gossamer.schedule.times import rhythm
from gossamer.supervise.schedule_runs import standing
from gossamer.tables import holds, schedules

NOW = 1_800_000_000.0
HERE = "here"


@pytest.fixture
def db(dialect: str, tmp_path: Path) -> Iterator[Database]:
    database = open_database(place_of_database(tmp_path))
    yield database
    database.close()


def test_a_run_is_running_until_its_end_is_noted(db: Database) -> None:
    began = schedules.begin(db, HERE, "nightly", NOW)
    (run,) = schedules.runs(db, HERE)
    assert (run.result, run.began_at, run.ended_at) == ("running", NOW, None)
    schedules.finish(db, HERE, schedules.Run("nightly", began, NOW + 5, 1, "no room\0 left"))
    (run,) = schedules.runs(db, HERE)
    assert (run.result, run.words, run.ended_at) == ("failed (1)", "no room left", NOW + 5)
    assert schedules.last_begun(db, HERE) == {"nightly": NOW}


def test_two_runs_at_one_instant_are_two(db: Database) -> None:
    times = [schedules.begin(db, HERE, "nightly", NOW) for _ in range(2)]
    assert len(set(times)) == 2 and len(schedules.runs(db, HERE)) == 2


def test_runs_whose_end_nobody_saw_are_interrupted(db: Database) -> None:
    schedules.begin(db, HERE, "nightly", NOW)
    schedules.begin(db, "elsewhere", "nightly", NOW)
    assert schedules.bury(db, HERE, NOW + 9) == ["nightly"]
    assert [run.result for run in schedules.runs(db, HERE)] == ["interrupted"]
    assert [run.result for run in schedules.runs(db, "elsewhere")] == ["running"]
    assert schedules.bury(db, HERE, NOW + 10) == []


def test_only_the_last_runs_are_kept(db: Database) -> None:
    for number in range(205):
        schedules.begin(db, HERE, "often", NOW + number)
    schedules.begin(db, HERE, "seldom", NOW)
    kept = schedules.runs(db, HERE, "often", 1000)
    assert len(kept) == 200 and kept[0].began_at == NOW + 204
    assert len(schedules.runs(db, HERE, "seldom")) == 1


def test_a_wish_is_fulfilled_by_the_next_run_and_known_entries_only_can_be_wished_for(db: Database) -> None:
    schedules.note_plan(db, HERE, {"nightly": "at 03:30"}, NOW)
    assert not schedules.want(db, HERE, "weekly", NOW)
    assert schedules.want(db, HERE, "nightly", NOW + 1)
    assert [one.wanted_at for one in schedules.entries(db, HERE)] == [NOW + 1]
    schedules.begin(db, HERE, "nightly", NOW + 2)
    assert [one.wanted_at for one in schedules.entries(db, HERE)] == [None]


def test_times_count_from_when_they_were_first_seen(db: Database) -> None:
    schedules.note_plan(db, HERE, {"a": "at 03:30", "b": "every 1h"}, NOW)
    schedules.note_plan(db, HERE, {"a": "at 04:30", "b": "every 1h"}, NOW + 100)
    assert {one.name: one.since for one in schedules.entries(db, HERE)} == {"a": NOW + 100, "b": NOW}
    schedules.note_plan(db, HERE, {"b": "every 1h"}, NOW + 200)
    assert [one.name for one in schedules.entries(db, HERE)] == ["b"]


@pytest.mark.parametrize("times", [{"every": "6h"}, {"at": "03:30"}])
def test_what_ran_in_a_future_that_was_taken_back_is_due_again_in_its_time(db: Database, times: dict[str, str]) -> None:
    plan = {"nightly": Schedule(run="rank", **times)}
    ahead = NOW + 10 * 86_400
    schedules.note_plan(db, HERE, {"nightly": rhythm(plan["nightly"])}, ahead)
    for number in range(3):
        began = schedules.begin(db, HERE, "nightly", ahead + number)
        schedules.finish(db, HERE, schedules.Run("nightly", began, ahead + number + 0.5, 0, ""))
    schedules.pull_back(db, HERE, NOW)
    assert len(schedules.runs(db, HERE)) == 3
    assert all(run.began_at <= NOW and (run.ended_at or 0) <= NOW for run in schedules.runs(db, HERE))
    (one,) = standing(db, HERE, plan, NOW + 86_400)
    assert NOW < (one.next_at or 0) <= NOW + 86_400


def test_a_run_under_way_keeps_its_time_when_the_clock_is_set_back(db: Database) -> None:
    began = schedules.begin(db, HERE, "nightly", NOW + 86_400)
    schedules.pull_back(db, HERE, NOW)
    schedules.finish(db, HERE, schedules.Run("nightly", began, NOW + 5, 0, "done"))
    (run,) = schedules.runs(db, HERE)
    assert (run.began_at, run.result) == (NOW + 86_400, "done")


def test_pauses_are_of_one_machine(db: Database) -> None:
    assert schedules.pause(db, HERE, "nightly", NOW)
    assert not schedules.pause(db, HERE, "nightly", NOW + 1)
    assert schedules.pauses(db, HERE) == {"nightly": NOW} and schedules.pauses(db, "elsewhere") == {}
    assert schedules.resume(db, HERE, "nightly") and not schedules.resume(db, HERE, "nightly")


def test_a_hold_lasts_while_it_is_renewed_and_is_noticed_when_lost(db: Database) -> None:
    holds.take(db, "one", NOW)
    holds.take(db, "two", NOW + 60)
    assert holds.are_held(db, NOW + holds.LASTING - 1)
    assert holds.renew(db, "one", NOW + holds.LASTING - 1)
    later = NOW + holds.LASTING + 100
    assert holds.are_held(db, later)
    with db.transaction():
        holds.go_over_lost(db, later)
    assert not holds.renew(db, "two", later) and not holds.release(db, "two")
    assert holds.release(db, "one") and not holds.are_held(db, later)
