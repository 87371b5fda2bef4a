"""Which plans are accepted: one kind of time each, commands that exist and end when they should."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gossamer.cli.verbs import VERBS as PROGRAM
from gossamer.errors import UsageError
from gossamer.schedule import check
from gossamer.schedule.config import Schedule
from gossamer.schedule.plan import DEFAULT, REFUSED, VERBS, words
from gossamer.settings import load


def test_every_command_of_the_program_is_allowed_or_refused_with_a_reason() -> None:
    missing = set(PROGRAM) - VERBS - set(REFUSED)
    assert not missing, f"say in schedule/plan.py whether a plan may run {sorted(missing)}"


def test_the_default_plan_is_a_valid_one() -> None:
    check(DEFAULT)


def test_an_entry_that_runs_nothing_is_idle() -> None:
    check({"nightly": Schedule()})


@pytest.mark.parametrize(
    "entry",
    [
        {"run": "crawl --watch", "always": True},
        {"run": "crawl https://example.org/ --watch --for 2h", "at": "20:00"},
        {"run": "crawl --seeds /etc/seeds.txt", "every": "6h"},
        {"run": "gossamer rank", "at": "sun 03:30"},
        {"run": "backup '/srv/my backup'", "at": "1 03:30", "serialise": False},
        {"run": "jobs run vocabulary -o /tmp/v", "every": "1d", "most": "6h"},
    ],
)
def test_what_can_be_run(entry: dict[str, Any]) -> None:
    check({"one": Schedule(**entry)})


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"run": "rank"}, "exactly one of every, at and always"),
        ({"run": "rank", "every": "1h", "at": "03:30"}, "exactly one"),
        ({"run": "rank", "every": "1h", "always": True}, "exactly one"),
        ({"run": "rank", "every": "soon"}, "30m"),
        ({"run": "rank", "at": "25:00"}, "03:30"),
        ({"run": "rnak", "every": "1h"}, "no command 'rnak'"),
        ({"run": "run", "every": "1h"}, "what runs the plan"),
        ({"run": "demo", "at": "03:30"}, "looking at"),
        ({"run": "serve", "at": "03:30"}, "never ends"),
        ({"run": "crawl --watch", "every": "1h"}, "never ends"),
        ({"run": "rank --data /srv/x", "every": "1h"}, "--data"),
        ({"run": "rank --data=/srv/x", "every": "1h"}, "--data"),
        ({"run": "inject -", "every": "1h"}, "standard input"),
        ({"run": "backup 'x", "every": "1h"}, "quotation"),
        ({"run": "rank", "every": "1h", "most": "long"}, "'long' is not a length of time"),
        ({"run": "serve", "always": True, "most": "1h"}, "most is for what ends"),
    ],
)
def test_what_cannot_be_run_is_told_with_its_entry(entry: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=r"^\[schedules\.nightly\]: ") as told:
        check({"nightly": Schedule(**entry)})
    assert said in str(told.value)


def test_a_crawl_that_never_ends_leaves_no_time_for_another() -> None:
    plan = {"main": Schedule(run="crawl --watch", always=True), "extra": Schedule(run="crawl x.org", every="1d")}
    with pytest.raises(UsageError, match=r"\[schedules\.extra\].*\[schedules\.main\]"):
        check(plan)


def test_words_are_cut_as_a_shell_cuts_them() -> None:
    assert words(Schedule(run="gossamer backup '/srv/my backup' --index")) == ["backup", "/srv/my backup", "--index"]


def test_a_wrong_plan_is_an_error_of_the_settings(tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text('[schedules.nightly]\nrun = "rank"\nat = "3 pm"\n')
    with pytest.raises(UsageError, match=r"schedules\.nightly"):
        load(tmp_path)


def test_names_that_would_not_fit_on_a_command_line_are_refused() -> None:
    with pytest.raises(UsageError, match="letters, digits"):
        check({"--nightly": Schedule(run="rank", every="1h")})
