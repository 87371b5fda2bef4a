"""Jobs: the plan of `gossamer run` with what is due, under way and done, and what could be planned."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from starlette.responses import Response
from starlette.routing import Route

from gossamer.console.context import Asked, Console, Done
from gossamer.console.words import duration
from gossamer.data.locks import is_run
from gossamer.data.machine import machine_name
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.jobs.run import JOBS
from gossamer.schedule.config import Schedule
from gossamer.schedule.plan import words
from gossamer.supervise.schedule_runs import Standing, plan_of, require_entry, standing
from gossamer.tables import schedules

PATH = "/console/jobs"
_RUNS = 50


def routes(console: Console) -> list[Route]:
    """Where the plan is, and what can be done to it."""
    page = _Page(console)
    return [
        console.shows("/jobs", page.show),
        console.does("/jobs/pause", page.pause),
        console.does("/jobs/resume", page.resume),
        console.does("/jobs/now", page.now),
    ]


class _Page:
    """What the page shows and does."""

    def __init__(self, console: Console) -> None:
        self._console, self._crawl = console, console.crawl

    def show(self, asked: Asked) -> Response:
        """The plan, the last runs, and the jobs that there are."""
        entries, now = self._crawl.settings().schedules, self._crawl.clock.now()
        plan, machine = plan_of(entries), machine_name(self._crawl.folder)
        chosen = asked.query.get("name", "")

        def question(db: Database) -> tuple[list[Standing], list[schedules.Run]]:
            return standing(db, machine, plan, now), schedules.runs(db, machine, chosen, _RUNS)

        found, runs = self._crawl.ask(question)
        return self._console.page(
            asked, "jobs.html", entries=found, runs=runs, chosen=chosen, jobs=list(JOBS.values()), now=now,
            is_run=is_run(self._crawl.folder), is_default=not any(words(one) for one in entries.values()),
            lasting=duration, ends_console=self._ends_console,
        )  # fmt: skip

    def _ends_console(self, name: str) -> str:
        resume = f"gossamer schedules resume {shlex.quote(name)} --data {shlex.quote(str(self._crawl.folder.root))}"
        return f"This stops the search pages and this console. To start them again, run `{resume}`"

    def pause(self, asked: Asked) -> Done:
        """Start an entry no more."""
        name, _ = self._entry(asked)
        now = self._crawl.clock.now()
        self._change(lambda db, machine: schedules.pause(db, machine, name, now), f"{name} is already paused")
        return Done("pause schedule", name, f"Paused {name}. Gossamer does not start it until you resume it.", PATH)

    def resume(self, asked: Asked) -> Done:
        """Let an entry go on."""
        name, _ = self._entry(asked)
        self._change(lambda db, machine: schedules.resume(db, machine, name), f"{name} is not paused")
        return Done("resume schedule", name, f"Resumed {name}.", PATH)

    def now(self, asked: Asked) -> Done:
        """Have an entry run at once, by whoever runs the plan."""
        name, entry = self._entry(asked)
        if not is_run(self._crawl.folder):
            raise UsageError("`gossamer run` is not running: start it, or run `gossamer schedules now` on the server")
        now = self._crawl.clock.now()
        self._change(
            lambda db, machine: schedules.want(db, machine, name, now),
            f"`gossamer run` started before {name} was in the settings: restart it",
        )
        when = "restarts now" if entry.always else "starts as soon as other work allows"
        return Done("run schedule", name, f"{name} {when}.", PATH)

    def _entry(self, asked: Asked) -> tuple[str, Schedule]:
        name = asked.form.get("name", "")
        return name, require_entry(plan_of(self._crawl.settings().schedules), name)

    def _change(self, change: Callable[[Database, str], bool], otherwise: str) -> None:
        machine = machine_name(self._crawl.folder)
        if not self._crawl.change(lambda db: change(db, machine)):
            raise UsageError(otherwise)
