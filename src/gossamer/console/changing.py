"""Settings that an operator changes on the console: where they are kept, and how they come into force.

They are written into `gossamer.toml`, checked by what every command checks them with. A crawl reads its settings when
it starts; so where `gossamer run` keeps one running, it is asked, through the table of its plan, to start the crawl
anew ([decision 23](../../../docs/decisions/0023-console-runs-the-crawl.md)). Nothing that was fetched is lost by that.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Lock
from typing import Any, Literal

import msgspec

from gossamer.console.context import Crawl
from gossamer.data.crawl_settings import shared_settings
from gossamer.data.locks import is_run
from gossamer.data.machine import machine_name
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.frontier.steering import controls
from gossamer.frontier.views.site_list import machines
from gossamer.operate.configuration.applying import save_settings
from gossamer.operate.configuration.contents import read_tables
from gossamer.schedule.plan import words
from gossamer.settings import FILE_NAME, OWN_SECTIONS, Settings, describe, is_named
from gossamer.supervise.schedule_runs import Standing, plan_of, standing
from gossamer.tables import schedules

Tables = dict[str, Any]
Keeper = Literal["", "always", "times"]
"""Who starts the crawl: nobody here, a `gossamer run` that keeps it running, or one that starts it at times."""

_saving = Lock()


class Plan(msgspec.Struct, frozen=True):
    """How the crawl is started."""

    keeper: Keeper
    entry: Standing | None
    """The entry of the plan that crawls, where somebody runs the plan."""
    working: bool
    """Whether a worker is at work, whoever started it."""


def plan_now(crawl: Crawl, db: Database) -> Plan:
    """How the crawl is started, and whether it runs."""
    now, working = crawl.clock.now(), bool(machines(db, crawl.clock.now()))
    if not is_run(crawl.folder):
        return Plan("", None, working)
    plan = plan_of(crawl.settings().schedules)
    found = standing(db, machine_name(crawl.folder), plan, now)
    crawls = [one for one in found if words(plan[one.name])[:1] == ["crawl"]]
    if not crawls:
        return Plan("", None, working)
    return Plan("always" if crawls[0].always else "times", crawls[0], working)


def why_not(crawl: Crawl) -> str:
    """Why settings cannot be changed here; empty: they can."""
    folder = crawl.folder
    path = folder.root / FILE_NAME
    if folder.is_shared and not is_run(folder):
        return f"Several machines share this crawl. Edit {FILE_NAME} where `gossamer crawl` runs, and restart it there."
    if not os.access(folder.root, os.W_OK) or os.path.ismount(path) or (path.exists() and not os.access(path, os.W_OK)):
        return f"The server has no permission to write {path}. Edit the original of this file."
    return ""


def change(crawl: Crawl, edit: Callable[[Tables], None]) -> Settings:
    """Change what `gossamer.toml` says; a `UsageError` says what would be wrong with it, and nothing is changed."""
    if problem := why_not(crawl):
        raise UsageError(problem)
    with _saving:
        tables = read_tables(crawl.folder.root)
        edit(tables)
        return save_settings(crawl.folder.root, tables)


def bring_into_force(crawl: Crawl) -> str:
    """Have the crawl take up changed settings where somebody runs it; says when they count."""
    plan = crawl.ask(lambda db: plan_now(crawl, db))
    if plan.keeper == "always" and plan.entry is not None:
        if plan.entry.paused_at is None and plan.entry.is_running:
            start_anew(crawl, plan.entry.name)
            return "The crawl restarts to apply this. It takes a few seconds."
        return "This takes effect at the next start of the crawl."
    if plan.working:
        return "This takes effect when you stop the running `gossamer crawl` and start it again."
    return "This takes effect at the next start of the crawl."


def start_anew(crawl: Crawl, name: str) -> None:
    """Ask `gossamer run` to start an entry, anew where it runs."""
    machine, now = machine_name(crawl.folder), crawl.clock.now()
    crawl.change(lambda db: schedules.want(db, machine, name, now))


def start(crawl: Crawl) -> str:
    """Start the crawl where somebody can; returns what to tell. A pause, of the crawl or of its entry, ends."""
    plan, machine, now = crawl.ask(lambda db: plan_now(crawl, db)), machine_name(crawl.folder), crawl.clock.now()
    crawl.change(lambda db: controls.resume_crawl(db, now))
    if plan.entry is None:
        if plan.working:
            return "The crawl continues."
        raise UsageError(f"the console can start the crawl only through `gossamer run`: {how_to_start(crawl)}")
    entry = plan.entry
    if entry.paused_at is not None:
        crawl.change(lambda db: schedules.resume(db, machine, entry.name))
    if plan.keeper == "times":
        start_anew(crawl, entry.name)
    return "The crawl continues." if plan.working else "The crawl starts."


def how_to_start(crawl: Crawl) -> str:
    """The command that crawls, for a person."""
    return f"run `gossamer run --data {crawl.folder.root}` on the server"


def waiting_for_restart(crawl: Crawl) -> list[str]:
    """Names of settings that were changed since the crawl that is running started."""
    started = shared_settings(crawl.folder)
    if started is None or crawl.folder.is_shared:
        return []
    return differing(started, crawl.settings())


def pending(crawl: Crawl, plan: Plan) -> list[str]:
    """Names of settings that a crawl at work does not know yet."""
    return waiting_for_restart(crawl) if plan.working else []


def differing(a: Settings, b: Settings) -> list[str]:
    """Names of the settings of the crawl that differ."""
    found = []
    for one in describe():
        if one.section in OWN_SECTIONS or is_named(one.section):
            continue
        if getattr(getattr(a, one.section), one.name) != getattr(getattr(b, one.section), one.name):
            found.append(f"{one.section}.{one.name}")
    return found


def table_of(tables: Tables, section: str) -> dict[str, Any]:
    """A section to be changed; made where there is none."""
    found = tables.setdefault(section, {})
    if not isinstance(found, dict):
        raise UsageError(f"[{section}] of {FILE_NAME} is not a table: correct it by hand first")
    return found
