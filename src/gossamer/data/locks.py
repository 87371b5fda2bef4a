"""Locks of a data folder. A lock is a `flock`, so the kernel frees it when its process dies, however it dies: that is
how a dead worker on this machine is told from a slow one."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from gossamer.data.folder import DataFolder
from gossamer.data.machine import MERGER, THINNER
from gossamer.errors import BusyError, StorageError

_LOOKS = 20
"""How often a lock is tried that somebody may only be looking at."""


@contextmanager
def crawl_lock(folder: DataFolder) -> Iterator[None]:
    """At most one `gossamer crawl` per folder."""
    with _lock(folder, "crawl") as locked:
        if not locked:
            raise BusyError(
                f"another `gossamer crawl` is running on {folder.root}: add seeds to it with "
                f"`gossamer inject URL --data {folder.root}`, end it first, or use another --data folder"
            )
        yield


def is_crawled(folder: DataFolder) -> bool:
    """Whether a `gossamer crawl` is at work here, as far as one may look: not on a disk that cannot be written."""
    try:
        return is_locked(folder, "crawl")
    except StorageError:
        return False


@contextmanager
def run_lock(folder: DataFolder) -> Iterator[None]:
    """At most one `gossamer run` per folder."""
    with _alone(folder, "run", f"another `gossamer run` is running on {folder.root}: end that one first"):
        yield


def is_run(folder: DataFolder) -> bool:
    """Whether a `gossamer run` is at work here."""
    return is_locked(folder, "run")


@contextmanager
def indexer_lock(folder: DataFolder) -> Iterator[None]:
    """At most one indexer per folder."""
    busy = f"an indexer is at work on {folder.root} already: the index follows the crawl by itself"
    with _alone(folder, "index", busy):
        yield


@contextmanager
def rank_lock(folder: DataFolder) -> Iterator[None]:
    """At most one ranking per folder: each deletes what those before it left."""
    busy = f"the pages of {folder.root} are being ranked already: try again when that is done"
    with _alone(folder, "rank", busy):
        yield


@contextmanager
def thinning_lock(folder: DataFolder) -> Iterator[None]:
    """Held while segments are thinned out: what is written and does not count yet is no orphan then."""
    with _alone(folder, THINNER, f"old visits of {folder.root} are being thinned out already"):
        yield


@contextmanager
def merging_lock(folder: DataFolder) -> Iterator[None]:
    """Held while segments are merged, likewise."""
    with _alone(folder, MERGER, f"segments of {folder.root} are being merged already"):
        yield


@contextmanager
def forgetting_lock(folder: DataFolder) -> Iterator[None]:
    """At most one forgets old changes."""
    with _alone(folder, "forget", f"old changes of {folder.root} are being forgotten already"):
        yield


@contextmanager
def sender_lock(folder: DataFolder) -> Iterator[bool]:
    """Whether this is the only one of this folder that sends messages and raises alarms, for as long as it is."""
    folder.create_run()
    with _lock(folder, "sender") as locked:
        yield locked


@contextmanager
def worker_lock(folder: DataFolder, worker: str) -> Iterator[None]:
    """Held by a worker for as long as it lives."""
    folder.create()
    with _lock(folder, worker) as locked:
        if not locked:
            raise BusyError(f"a worker called {worker} is running on {folder.root} already")
        yield
    drop_lock(folder, worker)


def drop_lock(folder: DataFolder, name: str) -> None:
    """Delete the file of a lock that nobody will hold again."""
    (folder.run / f"{name}.lock").unlink(missing_ok=True)


def is_locked(folder: DataFolder, name: str) -> bool:
    """Whether somebody on this machine holds a lock: `name` is a worker's, or what it does."""
    if not (folder.run / f"{name}.lock").exists():
        return False
    with _lock(folder, name) as locked:
        return not locked


@contextmanager
def _alone(folder: DataFolder, name: str, busy: str) -> Iterator[None]:
    folder.create_run()
    for _ in range(_LOOKS):  # whoever looks (`is_locked`) has the lock for an instant
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
