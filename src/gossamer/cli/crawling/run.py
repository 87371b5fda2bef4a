"""`gossamer run`: the whole plan of the settings, unattended."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from cyclopts import App, CycloptsError, Parameter

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, check_seeds, err, out, seconds
from gossamer.cli.signals import told_to_end
from gossamer.cli.usage import sentence_of
from gossamer.cli.verbs import VERBS, module_of
from gossamer.compose.console import first_account
from gossamer.compose.plan import open_plan
from gossamer.data.folder import DataFolder
from gossamer.errors import UsageError
from gossamer.frontier.views.seed_list import has_seeds
from gossamer.model.counts import counted
from gossamer.schedule.config import Schedule
from gossamer.schedule.plan import words
from gossamer.schedule.times import rhythm
from gossamer.settings import Settings, load
from gossamer.supervise.schedule_runs import plan_of
from gossamer.tables.accounts import FIRST


def command(
    *,
    data: Data = DEFAULT_DATA,
    host: str | None = None,
    port: int | None = None,
    grace: str = "2m",
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative="")] = False,
    debug: Debug = False,
) -> None:
    """Run the plan of the settings ([schedules.NAME]) until Ctrl-C.

    Without a plan, run `crawl --watch` and `serve`: you can add the first site on the console.

    Parameters
    ----------
    host
        Address of the search page and the console, if the settings have no plan; 0.0.0.0: reachable from other
        machines.
    port
        Port of the search page and the console, if the settings have no plan.
    grace
        How long running commands may take to end after Ctrl-C: 30s, 10m.
    quiet
        Do not show the output of the commands. `gossamer schedules list` still shows the last lines of each.
    """
    lasting = seconds(grace)
    settings = load(data)
    plan = with_server(plan_of(settings.schedules), settings, host, port)
    seedless = check_commands(plan)
    DataFolder(data).create()
    if not has_plan(settings):
        out.print(f"No schedules in the settings of {data}: running `crawl --watch` and `serve`.", markup=False)
    # What is started again or killed is worth a line, whatever other commands keep to themselves.
    logging.getLogger("gossamer.supervise.unattended").setLevel(logging.WARNING)

    def tell(name: str, line: str) -> None:
        if not quiet:
            err.print(f"{name}: {line}", markup=False)

    with open_plan(data, plan, seedless, tell) as (unattended, db):
        if password := first_account(data) if sys.stdout.isatty() else "":
            out.print(f"Log in to the console as {FIRST} with the password {password} (shown only once).",
                      markup=False)  # fmt: skip
        with told_to_end(unattended.stop):
            _list(plan)
            if seedless and not has_seeds(db):
                out.print(_no_seed(data, settings, port), markup=False)
            unattended.run(lasting, lambda: out.print(f"Stopping … The commands have {grace} to end.", markup=False))


def _list(plan: Mapping[str, Schedule]) -> None:
    out.print(f"Running {counted(plan, 'entry')} of the plan. Press Ctrl-C to stop:")
    for name, entry in sorted(plan.items()):
        out.print(f"  {name:12} {rhythm(entry):14} {' '.join(words(entry))}", markup=False)


def has_plan(settings: Settings) -> bool:
    """Whether the settings name anything to run."""
    return any(words(entry) for entry in settings.schedules.values())


def _no_seed(data: Path, settings: Settings, port: int | None) -> str:
    where = settings.serve.base_url or f"http://127.0.0.1:{port or settings.serve.port}"
    console = f"on the console ({where.rstrip('/')}/console), or " if settings.console.enabled else ""
    return f"Nothing to crawl yet: add a site {console}with `gossamer inject URL --data {data}`."


def with_server(
    plan: dict[str, Schedule], settings: Settings, host: str | None, port: int | None
) -> dict[str, Schedule]:
    """A plan whose server listens where the command line says; a plan of the settings says that itself."""
    options = [("--host", host), ("--port", port)]
    line = " ".join(f"{name}={value}" for name, value in options if value is not None)
    if not line:
        return plan
    if has_plan(settings):
        raise UsageError(f"the settings have a plan: write `{line}` behind `serve` in their [schedules]")
    return {**plan, "serve": Schedule(run=f"serve {line}", always=True)}


def check_commands(plan: Mapping[str, Schedule]) -> set[str]:
    """Have the command line look at every command of a plan, without running it; returns the names of those that crawl
    and name no seed."""
    app = App(name="gossamer")
    for verb in VERBS:
        app.command(f"{module_of(verb)}:command", name=verb)
    seedless = set()
    for name, entry in plan.items():
        line = words(entry)
        try:
            whole = [*line, "--data", str(DEFAULT_DATA)]
            _, bound, _ = app.parse_args(whole, exit_on_error=False, print_error=False)
            check_seeds([word for word in bound.args if isinstance(word, str)], line[0])
            if line[0] == "crawl" and not bound.args and not bound.arguments.get("seeds_from"):
                seedless.add(name)
        except (CycloptsError, UsageError) as error:
            problem = sentence_of(error) if isinstance(error, CycloptsError) else str(error)
            raise UsageError(f"[schedules.{name}]: `gossamer {' '.join(line)}`: {problem}") from error
    return seedless
