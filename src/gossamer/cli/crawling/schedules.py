"""`gossamer schedules`: the plan of `gossamer run`, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec
from cyclopts import App
from rich.table import Table

from gossamer.cli.common import (
    DEFAULT_DATA,
    Data,
    Debug,
    Json,
    duration,
    operator_name,
    out,
    print_json,
)
from gossamer.cli.crawling.run import check_commands
from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.data.locks import is_run, run_lock
from gossamer.data.machine import machine_name
from gossamer.database.database import Database
from gossamer.errors import OperationError, UsageError
from gossamer.schedule.config import Schedule
from gossamer.schedule.plan import words
from gossamer.settings import load
from gossamer.supervise.schedule_runs import Standing, plan_of, require_entry, standing
from gossamer.supervise.tasks import Task
from gossamer.tables import schedules
from gossamer.tables.audit import note

command = App(name="schedules", help="List, pause, resume and start the entries of the plan that `gossamer run` runs.")


@command.command(name="list")
def show(*, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """List the entries of the plan with their next start and last run."""
    plan, folder, now = plan_of(load(data).schedules), DataFolder(data), SystemClock().now()
    with closing(folder.read()) as db:
        found = standing(db, machine_name(folder), plan, now)
    if json:
        print_json([{**msgspec.to_builtins(one), "result": one.last.result if one.last else ""} for one in found])
        return
    running = is_run(folder)
    table = Table("name", "command", "times", "next start", "last run", box=None, pad_edge=False)
    for one in found:
        table.add_row(one.name, one.run, one.rhythm, next_text(one, now), last_text(one, now, running))
    out.print(table)
    if not running:
        out.print("`gossamer run` is not running, so nothing starts.", style="yellow")


@command.command
def pause(name: str, *, data: Data = DEFAULT_DATA, debug: Debug = False) -> None:
    """Pause the entry NAME until you resume it, also over restarts. If it runs always, `gossamer run` ends it now."""
    if _changed(data, name, "pause schedule", lambda db, machine, now: schedules.pause(db, machine, name, now)):
        out.print(f"{name} is paused.", markup=False)
    else:
        out.print(f"{name} was already paused.", markup=False)


@command.command
def resume(name: str, *, data: Data = DEFAULT_DATA, debug: Debug = False) -> None:
    """Resume the paused entry NAME. If it missed starts during the pause, it starts once to make up for them."""
    if _changed(data, name, "resume schedule", lambda db, machine, now: schedules.resume(db, machine, name)):
        out.print(f"{name} is resumed.", markup=False)
    else:
        out.print(f"{name} was not paused.", markup=False)


@command.command
def now(name: str, *, data: Data = DEFAULT_DATA, debug: Debug = False) -> None:
    """Run the entry NAME now. If `gossamer run` is running, it starts the entry; otherwise this command runs it.

    `gossamer run` restarts an entry that runs always, with the present settings."""
    entry = _entry(data, name)
    if _changed(data, name, "run schedule", lambda db, machine, at: _ask(DataFolder(data), db, machine, name, at)):
        how = f"restarts {name}" if entry.always else f"starts {name} as soon as the running entries allow"
        out.print(f"`gossamer run` {how}.", markup=False)
        return
    if entry.always:
        raise UsageError(f"{name} runs always, but `gossamer run` is not running: start `gossamer run`")
    _run_here(data, name, entry)


def _ask(folder: DataFolder, db: Database, machine: str, name: str, at: float) -> bool:
    return is_run(folder) and schedules.want(db, machine, name, at)


def _run_here(data: Path, name: str, entry: Schedule) -> None:
    """Nobody runs the plan: run one entry of it, with its result written down."""
    check_commands({name: entry})
    folder, clock = DataFolder(data), SystemClock()
    with run_lock(folder), _opened(folder) as db:
        machine = machine_name(folder)
        began = schedules.begin(db, machine, name, clock.now())
        task = Task(name, [*words(entry), "--data", str(data)], began, lambda _, line: out.print(line, markup=False))
        try:
            code = task.wait()
        except BaseException:
            task.ask_to_end()
            task.wait()
            raise
        schedules.finish(db, machine, schedules.Run(name, began, clock.now(), code, task.words()))
    if code:
        raise OperationError(f"{name} failed with exit code {code}: {task.last_line()}")


def _entry(data: Path, name: str) -> Schedule:
    return require_entry(plan_of(load(data).schedules), name)


def _changed(data: Path, name: str, action: str, change: Callable[[Database, str, float], bool]) -> bool:
    """Do something to an entry that exists, with a line in the audit log; returns whether it made a difference."""
    _entry(data, name)
    folder, now_at = DataFolder(data), SystemClock().now()
    with _opened(folder) as db:
        made = change(db, machine_name(folder), now_at)
        if made:
            note(db, now_at, operator_name(), action, name)
    return made


@contextmanager
def _opened(folder: DataFolder) -> Iterator[Database]:
    with closing(folder.open_database()) as db:
        yield db


def next_text(one: Standing, at: float) -> str:
    """When an entry is started next, for a person."""
    if one.wanted:
        return "now"
    if one.paused_at is not None:
        return "paused"
    if one.always:
        return "always"
    if one.next_at is None:
        return "never"
    if one.next_at <= at:
        return "due"
    clock = time.strftime("%a %d %b %H:%M", time.localtime(one.next_at))
    return f"{clock} (in {duration(one.next_at - at)})"


def last_text(one: Standing, at: float, is_run: bool) -> str:
    """How the last run went, for a person; `is_run`: whether anybody runs the plan."""
    if one.last is None:
        return "not yet"
    if one.last.ended_at is None and not is_run:
        return f"interrupted, began {duration(at - one.last.began_at)} ago"
    if one.last.ended_at is None:
        return f"running for {duration(at - one.last.began_at)}"
    took = duration(one.last.ended_at - one.last.began_at)
    last = one.last.words.splitlines()[-1] if one.last.code and one.last.words else ""
    return f"{one.last.result}, {duration(at - one.last.ended_at)} ago, took {took}" + (f": {last}" if last else "")
