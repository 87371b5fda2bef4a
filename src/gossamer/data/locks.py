"""Locks of a data folder.

A lock is a `flock`, so the kernel frees it when its process dies, however it dies: so a dead worker on this machine
differs from a slow one.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from gossamer.data.folder import DataFolder
from gossamer.data.machine import MERGER, REREADER, THINNER
from gossamer.errors import BusyError, StorageError

_LOOKS = 20
"""How often a lock is tried that another process may only be checking."""


@contextmanager
def crawl_lock(folder: DataFolder) -> Iterator[None]:
    """At most one `gossamer crawl` per folder."""
    with _lock(folder, "crawl") as locked:
        if not locked:
            raise BusyError(
                f"another `gossamer crawl` is running on {folder.root}: add seeds to it with "
                f"`gossamer inject URL --data {folder.root}`, stop it first, or use another --data folder"
            )
        yield


def is_crawled(folder: DataFolder) -> bool:
    """Whether a `gossamer crawl` is running here, as far as can be seen: not on a read-only disk."""
    try:
        return is_locked(folder, "crawl")
    except StorageError:
        return False


@contextmanager
def run_lock(folder: DataFolder) -> Iterator[None]:
    """At most one `gossamer run` per folder."""
    with _alone(folder, "run", f"another `gossamer run` is running on {folder.root}: stop it first"):
        yield


def is_run(folder: DataFolder) -> bool:
    """Whether a `gossamer run` is running here."""
    return is_locked(folder, "run")


@contextmanager
def indexer_lock(folder: DataFolder) -> Iterator[None]:
    """At most one indexer per folder."""
    busy = f"an indexer is already running on {folder.root}: it updates the index by itself"
    with _alone(folder, "index", busy):
        yield


@contextmanager
def rank_lock(folder: DataFolder) -> Iterator[None]:
    """At most one ranking per folder: each deletes remains of earlier ones."""
    busy = f"another process is already ranking the pages of {folder.root}: try again when it is done"
    with _alone(folder, "rank", busy):
        yield


@contextmanager
def thinning_lock(folder: DataFolder) -> Iterator[None]:
    """Held while segments are thinned out: new files that do not count yet are no orphans then."""
    with _alone(folder, THINNER, f"another process is already thinning out old visits of {folder.root}"):
        yield


@contextmanager
def merging_lock(folder: DataFolder) -> Iterator[None]:
    """Held while segments are merged, likewise."""
    with _alone(folder, MERGER, f"another process is already merging segments of {folder.root}"):
        yield


@contextmanager
def rereading_lock(folder: DataFolder) -> Iterator[None]:
    """Held while stored pages are judged again, likewise."""
    with _alone(folder, REREADER, f"another process is already judging stored pages of {folder.root} again"):
        yield


@contextmanager
def forgetting_lock(folder: DataFolder) -> Iterator[None]:
    """At most one forgets old changes."""
    with _alone(folder, "forget", f"another process is already forgetting old changes of {folder.root}"):
        yield


@contextmanager
def sender_lock(folder: DataFolder) -> Iterator[bool]:
    """Whether this is the only process of this folder that sends messages and raises alarms, for as long as it is."""
    folder.create_run()
    with _lock(folder, "sender") as locked:
        yield locked


@contextmanager
def worker_lock(folder: DataFolder, worker: str) -> Iterator[None]:
    """Held by a worker for as long as it lives."""
    folder.create()
    with _lock(folder, worker) as locked:
        if not locked:
            raise BusyError(f"a worker called {worker} is already running on {folder.root}")
        yield
    drop_lock(folder, worker)


def drop_lock(folder: DataFolder, name: str) -> None:
    """Delete the file of a lock that nobody will hold again."""
    (folder.run / f"{name}.lock").unlink(missing_ok=True)


def is_locked(folder: DataFolder, name: str) -> bool:
    """Whether a process on this machine holds a lock: `name` is a worker's, or a role."""
    if not (folder.run / f"{name}.lock").exists():
        return False
    with _lock(folder, name) as locked:
        return not locked


@contextmanager
def _alone(folder: DataFolder, name: str, busy: str) -> Iterator[None]:
    folder.create_run()
    for _ in range(_LOOKS):  # `is_locked` takes the lock for an instant
        with _lock(folder, name) as locked:
            if locked:
                yield
                return
        time.sleep(0.05)
    raise BusyError(busy)


@contextmanager
def _lock(folder: DataFolder, name: str) -> Iterator[bool]:
    try:
        descriptor = os.open(folder.run / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise StorageError(f"cannot write in {folder.run}: {error.strerror}: check its permissions") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
    finally:
        os.close(descriptor)
