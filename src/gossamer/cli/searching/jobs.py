"""`gossamer jobs`: what is computed over the whole crawl at once, on the engine of the settings."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from gossamer.cli.common import (
    DEFAULT_DATA,
    Data,
    Debug,
    Json,
    duration,
    err,
    out,
    print_json,
    size,
)
from gossamer.clock import SystemClock
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.engine.opening import open_engine
from gossamer.errors import UsageError
from gossamer.jobs.context import JobContext
from gossamer.model.counts import counted

command = App(name="jobs", help="Run jobs over the whole crawl, on this machine or on a Ray or Spark cluster.")

_SHOWN = 10


@command.command(name="list")
def show(*, json: Json = False, debug: Debug = False) -> None:
    """List the jobs."""
    from gossamer.jobs.run import JOBS

    if json:
        print_json([{"name": job.name, "about": job.about} for job in JOBS.values()])
        return
    width = max(map(len, JOBS))
    for job in JOBS.values():
        out.print(f"{job.name:{width}}  {job.about}", markup=False)


@command.command
def run(
    name: str,
    *,
    output: Annotated[str, Parameter(name=["--output", "-o"])] = "",
    parts: int = 0,
    shards: int = 1,
    method: str = "",
    data: Data = DEFAULT_DATA,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Run the job NAME on the engine of the settings (`[engine]`). A crawl may run at the same time.

    Parameters
    ----------
    name
        A job of `gossamer jobs list`.
    output
        A folder for the Parquet files of the result; for index-build, the place for the index: a folder or
        s3://bucket/prefix.
    parts
        How many partitions the job cuts its data into; default: by size. The result does not depend on it.
    shards
        index-build: how many shards the index has.
    method
        near-clusters: minhash, supershingles or simhash; default: the method of the crawl.
    """
    from gossamer.data.classifier import model_bytes
    from gossamer.jobs.run import JobOptions, job_named, save_files
    from gossamer.parse.fields.config import custom_fields

    job = job_named(name)
    if parts < 0:
        raise UsageError("--parts must be at least 1, or 0: by size")
    if job.needs_target and not output:
        raise UsageError(f"{name} needs a place for its index: name a folder with -o")
    settings, folder = settings_of_crawl(data), DataFolder(data)
    near = method or (settings.dedup.near if settings.dedup.near != "none" else "minhash")
    target = output if "://" in output else str(Path(output).absolute())
    options = JobOptions(SystemClock().now(), near, shards, target, model_bytes(folder), custom_fields(settings.fields))
    started = time.monotonic()
    with _Stages(enabled=not json) as stages, job_context(name, data, stages.tell, parts) as context:
        result = job.run(context, options)
        saved = save_files(context.place, result.files, Path(output)) if output and not job.needs_target else []
        engine = context.engine.name
    seconds = time.monotonic() - started
    for one in result.unread:
        err.print(
            f"[yellow]warning:[/yellow] left out segment {one.segment} with {counted(one.pages, 'page')}:", end=" "
        )
        err.print(one.problem, markup=False)
    if json:
        skipped = len({one.segment for one in result.unread})
        names = [str(path) for path in saved]
        print_json({"job": name, "engine": engine, "skipped": skipped, "files": names, "report": result.report})
        return
    _print_report(result.report)
    where = f"; {counted(saved, 'file')} in {output}" if saved else ""
    out.print(f"{name} took {duration(seconds)} on {engine}{where}.", markup=False)


@contextlib.contextmanager
def job_context(
    name: str, data: Path, tell: Any = None, parts: int = 0, database: Database | None = None
) -> Iterator[JobContext]:
    """Engine, database and a place to work in for one run of a job, as the settings of a data folder say."""
    from gossamer.jobs.run import working

    settings = settings_of_crawl(data)
    folder, config = DataFolder(data), settings.engine
    db = database or folder.read()
    try:
        with closing(open_engine(config)) as engine:
            work, now = config.work_url(data), SystemClock().now()
            with working(name, engine, db, folder.segments.url, work, now, tell, parts) as context:
                yield context
    finally:
        if database is None:
            db.close()


class _Stages(Progress):
    """A bar for the stage that runs."""

    def __init__(self, enabled: bool) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        super().__init__(*columns, console=err, transient=True, disable=not enabled or not err.is_terminal)
        self._task = self.add_task("", total=None)

    def tell(self, stage: str, done: int, total: int) -> None:
        """Called after every task."""
        self.update(self._task, description=stage, completed=done, total=total)


def _print_report(report: Any) -> None:
    """Figures one a line; of lists the beginning."""
    for name in report.__struct_fields__:
        value = getattr(report, name)
        if name == "unread" or value in ("", []):
            continue
        if isinstance(value, list):
            out.print(f"{name}:")
            for one in value[:_SHOWN]:
                out.print(f"  {_line(one)}", markup=False)
            if len(value) > _SHOWN:
                out.print(f"  and {len(value) - _SHOWN} more")
        else:
            out.print(f"{name:12} {size(value) if name == 'bytes' else value}", markup=False)


def _line(value: Any) -> str:
    if not hasattr(value, "__struct_fields__"):
        return " → ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    fields = ((name, getattr(value, name)) for name in value.__struct_fields__)
    return ", ".join(f"{name} {_short(one)}" for name, one in fields if one != "")


def _short(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(str(getattr(one, "word", one)) for one in value[:_SHOWN])
    return str(value)
