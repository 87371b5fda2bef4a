"""The jobs by name, and their temporary place to work in.

Each run has a prefix of its own in the work place, with the time in its name: a later run deletes the files of a killed
one, when they are old enough that nobody can be using them.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from gossamer.database.database import Database
from gossamer.dedup.near.registry import DEFAULT
from gossamer.engine.contract import Engine
from gossamer.errors import StorageError, UsageError
from gossamer.index.shards import MOST
from gossamer.jobs.context import JobContext, Tell
from gossamer.jobs.index_build import build_shards
from gossamer.jobs.mirror_search import mirror_search
from gossamer.jobs.near_clusters import near_clusters
from gossamer.jobs.prefix_statistics import prefix_statistics
from gossamer.jobs.segment_input import Unread
from gossamer.jobs.vocabulary import vocabulary
from gossamer.model.fields import CustomFields
from gossamer.store.place import Place, open_place

_STALE = 3 * 86_400.0
"""Seconds after which nobody uses the files of a run any more."""
_TIME = "%Y%m%dT%H%M%SZ"

log = logging.getLogger(__name__)


class JobOptions(msgspec.Struct, frozen=True):
    """Options of single jobs."""

    now: float
    method: str = DEFAULT
    """How near-duplicates are recognised."""
    shards: int = 1
    target: str = ""
    """Where an index is built: a folder, or the URL of a place."""
    model: bytes = b""
    """The classifier for pages without a category."""
    fields: CustomFields = ()
    """The operator's own fields, for an index."""


class JobResult(msgspec.Struct, frozen=True):
    """The result of a job."""

    report: Any
    files: list[str] = []
    """Names of the result's Parquet files in the work place."""

    @property
    def unread(self) -> Sequence[Unread]:
        """Pages that were left out because their segments could not be read."""
        found: Sequence[Unread] = getattr(self.report, "unread", ())
        return found


class Job(msgspec.Struct, frozen=True):
    """A job that can be run by name."""

    name: str
    about: str
    run: Callable[[JobContext, JobOptions], JobResult]
    needs_target: bool = False


def _plain(job: Callable[[JobContext], tuple[Any, list[str]]]) -> Callable[[JobContext, JobOptions], JobResult]:
    return lambda context, _: JobResult(*job(context))


def _clusters(context: JobContext, options: JobOptions) -> JobResult:
    return JobResult(*near_clusters(context, options.method))


def _index(context: JobContext, options: JobOptions) -> JobResult:
    if not 1 <= options.shards <= MOST:
        raise UsageError(f"an index can have 1 to {MOST} shards, not {options.shards}")
    return JobResult(build_shards(context, options.shards, options.target, options.now, options.model, options.fields))


JOBS = {
    job.name: job
    for job in (
        Job("prefix-statistics", "counts all URLs by site and prefix, from scratch", _plain(prefix_statistics)),
        Job("near-clusters", "finds the clusters of near-duplicates among all documents", _clusters),
        Job("mirror-search", "looks for sites that serve the same pages as others", _plain(mirror_search)),
        Job("vocabulary", "counts the words of all documents, by language", _plain(vocabulary)),
        Job("index-build", "builds the whole index, cut into shards", _index, needs_target=True),
    )
}
"""All jobs by name; link graph and ranks are made by `gossamer rank`."""


def job_named(name: str) -> Job:
    """A job; raises a `UsageError` if there is none of that name."""
    if name not in JOBS:
        raise UsageError(f"there is no job {name!r}: use one of {', '.join(JOBS)}")
    return JOBS[name]


@contextlib.contextmanager
def working(
    name: str, engine: Engine, db: Database, segments: str, work: str, now: float, tell: Tell | None = None,
    parts: int = 0,
) -> Iterator[JobContext]:  # fmt: skip
    """A context for one run of a job; its files in the work place are deleted at the end, however that comes."""
    place = open_place(work)
    sweep(place, now)
    folder = f"{datetime.fromtimestamp(now, UTC):{_TIME}}-{name}-{secrets.token_hex(4)}"
    context = JobContext(engine, db, segments, f"{place.url.rstrip('/')}/{folder}", parts)
    if tell is not None:
        context = msgspec.structs.replace(context, tell=tell)
    log.info("job %s begins", name, extra={"job": name, "run": folder})
    try:
        yield context
        log.info("job %s is done", name, extra={"job": name, "run": folder})
    except BaseException as error:
        log.info("job %s failed", name, extra={"job": name, "run": folder, "error": type(error).__name__})
        raise
    finally:
        place.delete(list(place.names(f"{folder}/")))


def sweep(place: Place, now: float) -> list[str]:
    """Delete files of runs that were killed days ago; returns their folders."""
    old: dict[str, list[str]] = {}
    for name in place.names():
        folder = name.partition("/")[0]
        started = _started(folder)
        if started is not None and started < now - _STALE:
            old.setdefault(folder, []).append(name)
    for names in old.values():
        place.delete(names)
    return sorted(old)


def _started(folder: str) -> float | None:
    try:
        return datetime.strptime(folder.partition("-")[0], _TIME).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def save_files(place: Place, names: Sequence[str], folder: Path) -> list[Path]:
    """Copy the files of a result out of the work place; each appears when it is complete."""
    saved = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            target = folder / name.replace("/", "-")
            partial = target.with_name(f".{target.name}.part")
            try:
                shutil.copyfile(place.path(name), partial)
                partial.replace(target)
            finally:
                partial.unlink(missing_ok=True)
            saved.append(target)
    except OSError as error:
        raise StorageError(f"cannot write to {folder}: {error.strerror}: choose another folder with -o") from error
    return saved
