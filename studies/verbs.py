"""`python -m studies`: each study with tables, pictures and a page; run all of them, or make up a web."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import App, Group, Parameter
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from gossamer import __version__
from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, duration, err, out, print_json
from gossamer.cli.lab.record import Output, save
from gossamer.clock import SystemClock
from gossamer.errors import OperationError, UsageError
from gossamer.evaluate import collections
from studies.classic.searcher import compare
from studies.hubs.subject import show as show_subject
from studies.hubs.subject import subject_of
from studies.options import DEFAULT_OUT, DEFAULT_SEED, Asked, Cache, Out, Quick, Seed, Webs, check_out
from studies.reports import publish
from studies.reports.stored import Stored, load, settled
from studies.study import STUDIES, run_study
from studies.webs.made_up.news import news_web

PROGRAM = "python -m studies"
command = App(name=PROGRAM, help="Studies of the crawler's policies: tables, pictures, a page each.")

_STUDIES = Group("Studies", sort_key=0)
_ROOT = Path(__file__).parents[1]


def _study_command(name: str, sentence: str) -> Callable[..., None]:
    def study(
        *,
        quick: Quick = False,
        seed: Seed = DEFAULT_SEED,
        webs: Webs = None,
        cache: Cache = None,
        folder: Out = DEFAULT_OUT,
        json: Json = False,
        debug: Debug = False,
    ) -> None:
        run_one(name, Asked(quick, seed, webs, cache, folder), json)

    study.__doc__ = sentence
    return study


for _name, _sentence in STUDIES.items():
    command.command(_study_command(_name, _sentence), name=_name, group=_STUDIES)


@command.command(name="all")
def run_all(
    *,
    only: Annotated[str, Parameter(name="--only")] = "",
    quick: Quick = False,
    seed: Seed = DEFAULT_SEED,
    webs: Webs = None,
    cache: Cache = None,
    folder: Out = DEFAULT_OUT,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Run all studies one after the other, and write the page that leads to them.

    One that fails is told, and does not stop the others.

    Parameters
    ----------
    only
        Run these only: names with commas between them.
    """
    names, asked = _chosen(only), Asked(quick, seed, webs, cache, folder)
    publish.check_pictures()
    asked.options(lambda _: None)  # a folder that is not there is told once, not ten times
    check_out(folder)
    done: list[Stored] = []
    for place, name in enumerate(names, 1):
        if not json:
            err.print(f"{place} of {len(names)}: {name}. {STUDIES[name]}", markup=False)
        if _in_a_process_of_its_own(name, asked, json, debug):
            done.append(load(folder / name))
    page = publish.write_index(folder)
    failed = [name for name in names if name not in {one.report.name for one in done}]
    if json:
        print_json({"studies": done, "failed": failed, "page": str(page)})
    else:
        _print_goals(done)
        _print_times(done, page)
    if failed:
        raise OperationError(f"{len(failed)} of {len(names)} studies failed, see above: {', '.join(failed)}")


@command.command(name="list")
def show(*, json: Json = False, debug: Debug = False) -> None:
    """List the studies."""
    if json:
        print_json([{"name": name, "about": about} for name, about in STUDIES.items()])
        return
    width = max(map(len, STUDIES))
    for name, about in STUDIES.items():
        out.print(f"{name:{width}}  {about}", markup=False)


@command.command
def redraw(folder: Path = DEFAULT_OUT, /, *, debug: Debug = False) -> None:
    """Make the pages and pictures of a folder again from the figures of the last runs; nothing is measured.

    Parameters
    ----------
    folder
        What was given as --out.
    """
    studies = publish.redraw(folder) if folder.is_dir() else []
    if not studies:
        raise UsageError(f"there is no report in {folder}: run `{PROGRAM} all --out {folder}` first")
    out.print(f"{len(studies)} studies: {folder / 'index.html'}", markup=False)


@command.command
def make_up(
    *,
    sites: int = 40,
    days: float = 7.0,
    seed: int = 1,
    file: Output = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Make up a web of news sites: articles, lists, feeds, copies, errors, changes.

    Parameters
    ----------
    sites
        How many.
    days
        How long articles are published.
    seed
        Same seed, same web.
    file
        The file to write; default: NAME.web.parquet.
    """
    if sites < 1 or days < 0:
        raise UsageError("a web has one site at least, and lasts 0 days or more")
    save(news_web(sites, days, seed=seed), file, json)


@command.command
def classic(collection: str, /, *, k: int = 10, json: Json = False, debug: Debug = False) -> None:
    """Compare our rankings with the score of the papers' search engine: rank + 0.5 · title + 0.1 · text.

    Parameters
    ----------
    collection
        What `gossamer evaluate` reads: queries, judgements and documents.
    k
        Results that are judged.
    """
    chosen = collections.load(collection)
    if not chosen.documents:
        raise UsageError(f"{collection} has judgements without documents: name a collection that has both")
    runs = compare(chosen, k)
    if json:
        print_json({one.name: one.mean for one in runs})
        return
    for one in runs:
        out.print(
            f"{one.name:8} nDCG@{k} {one.mean.scores.ndcg:.4f}, recall {one.mean.scores.recall:.4f}", markup=False
        )


@command.command
def hubs(query: str, /, *, data: Data = DEFAULT_DATA, top: int = 10, json: Json = False, debug: Debug = False) -> None:
    """Show hubs and authorities (HITS) around what a search finds, in the link graph of a crawl's last ranking.

    Parameters
    ----------
    query
        What is searched for.
    top
        Pages that are listed of either kind.
    """
    found = subject_of(data, query, top)
    if json:
        print_json(found)
    else:
        show_subject(query, found)


def run_one(name: str, asked: Asked, json: bool) -> None:
    """Run a study in this process, write its page and the index, and print what it found."""
    publish.check_pictures()
    started = time.monotonic()
    with _Telling(name, enabled=not json) as telling:
        options = asked.options(telling.tell)
        check_out(asked.out)
        report = settled(run_study(name, options))
    seconds = round(time.monotonic() - started, 1)
    line = f"{PROGRAM} {shlex.join([name, *asked.words()])}"
    date = time.strftime("%Y-%m-%d", time.gmtime(SystemClock().now()))
    found = Stored(report, publish.Run(line, __version__, asked.seed, asked.quick, date, seconds))
    page = publish.publish(report, asked.out, found.run)
    publish.write_index(asked.out)
    if json:
        print_json(found)
        return
    out.print(report.ours, markup=False)
    _print_goals([found])
    out.print(f"{name} took {duration(seconds)}: {page}", markup=False)


def _in_a_process_of_its_own(name: str, asked: Asked, quiet: bool, debug: bool) -> bool:
    """Run a study so that neither its crash nor its memory is the next one's; whether it went well."""
    words = [name, *asked.words(), *(["--json"] if quiet else []), *(["--debug"] if debug else [])]
    path = os.pathsep.join((str(_ROOT), os.environ.get("PYTHONPATH", ""))).strip(os.pathsep)
    line, variables = [sys.executable, "-m", "studies", *words], {**os.environ, "PYTHONPATH": path}
    code = subprocess.run(line, stdout=subprocess.DEVNULL, env=variables, check=False).returncode
    if code:
        how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        err.print(f"[yellow]warning:[/yellow] {name} failed ({how}); a page of an earlier run is left as it is")
    return code == 0


def _chosen(only: str) -> list[str]:
    names = [name.strip() for name in only.split(",") if name.strip()]
    for name in names:
        if name not in STUDIES:
            raise UsageError(f"there is no study called {name!r}: known are {', '.join(STUDIES)}")
    return [name for name in STUDIES if name in names or not names]


class _Telling(Progress):
    """What a study does at the moment: one line that changes on a terminal, a line each elsewhere."""

    def __init__(self, name: str, enabled: bool) -> None:
        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        super().__init__(*columns, console=err, transient=True, disable=not enabled or not err.is_terminal)
        self._name, self._lines = name, enabled and not err.is_terminal
        self._task = self.add_task(name, total=None)

    def tell(self, text: str) -> None:
        """Called by the study now and then."""
        line = f"{self._name}: {' '.join(text.split())}"
        self.update(self._task, description=line)
        if self._lines:
            err.print(line, markup=False)


def _print_goals(studies: Sequence[Stored]) -> None:
    table = Table(box=None, pad_edge=False)
    for head in ("study", "goal", "found", ""):
        table.add_column(head)
    for one in studies:
        for goal in one.report.goals:
            verdict = Text("met", style="green") if goal.met else Text("missed", style="red")
            table.add_row(one.report.name, Text(goal.text), Text(goal.found), verdict)
    if table.row_count:
        out.print(table)


def _print_times(studies: Sequence[Stored], page: Path) -> None:
    each = ", ".join(f"{one.report.name} {duration(one.run.seconds)}" for one in studies)
    total = duration(sum(one.run.seconds for one in studies))
    out.print(f"{len(studies)} studies took {total}{f' ({each})' if each else ''}: {page}", markup=False)
