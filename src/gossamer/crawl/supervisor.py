"""What `gossamer crawl` does: recover, add seeds, start workers and the indexer, watch, end.

Workers are processes. One that dies is buried (its sites are freed at once, its
unfinished segment deleted) and replaced; one that fails with an error for a person
(disk full, database gone) ends the crawl. The crawl is over when no worker holds a
site and nothing becomes due within `crawl.linger` seconds; one that watches ends when it is told to.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import msgspec

from gossamer.clock import Clock
from gossamer.crawl.children import Child
from gossamer.crawl.compacting import compact_once
from gossamer.crawl.folder import DataFolder
from gossamer.crawl.pushing import HubCaller
from gossamer.crawl.worker_process import Job
from gossamer.errors import OperationError, StorageError
from gossamer.frontier.inspect import Status, status
from gossamer.frontier.sql import SqlFrontier
from gossamer.settings import Settings

log = logging.getLogger(__name__)

_TICK = 0.1
_COMPACT_EVERY = 5.0
_DEATHS = 50
"""Deaths in a row, without a page in between, after which something must be wrong for good."""

Watcher = Callable[[Status], None]


class Supervisor:
    """Runs a crawl on this machine until it is done or told to stop."""

    def __init__(
        self,
        settings: Settings,
        folder: DataFolder,
        frontier: SqlFrontier,
        clock: Clock,
        debug: bool = False,
        companions: Sequence[Child] = (),
    ) -> None:
        self._settings, self._folder, self._frontier, self._clock = settings, folder, frontier, clock
        self._debug = debug
        self._workers: dict[str, subprocess.Popen[bytes]] = {}
        self._stopping = False
        self._damaged: set[str] = set()
        self._deaths = 0
        self._last_fetched = -1
        self._children = list(companions)
        if settings.crawl.index:
            self._children.append(Child("indexer", "gossamer.crawl.indexer_process", [str(folder.root)]))
        self._hubs = HubCaller(folder.database, settings, settings.push, clock)
        self._filters: Child | None = None
        self._next_filters = time.monotonic() + settings.filters.every

    def stop(self) -> None:
        """End the crawl in good order."""
        self._stopping = True

    def run(self, until: float | None = None, watch: Watcher | None = None) -> Status:
        """Crawl; returns how it stood at the end."""
        try:
            self._check_disk()
            for _ in range(self._settings.workers):
                self._start_worker()
            self._loop(until, watch)
            self._stop_workers()
        finally:
            self._kill_workers()
            if self._filters is not None:
                self._filters.kill()
            for child in self._children:
                child.ask_to_finish()
        self._compact()
        self._wait_for_children()
        return status(self._frontier.db, self._clock.now())

    def _loop(self, until: float | None, watch: Watcher | None) -> None:
        next_compaction = time.monotonic() + _COMPACT_EVERY
        looking = 0.0
        while not self._stopping:
            # Looking costs more the more sites there are: never more than a twentieth of the time.
            time.sleep(max(_TICK, 20 * looking))
            self._bury_dead()
            for child in self._children:
                child.watch()
            now, started = self._clock.now(), time.monotonic()
            standing = status(self._frontier.db, now)
            looking = time.monotonic() - started
            self._note_progress(standing)
            if watch is not None:
                watch(standing)
            if self._is_over(standing, now) or (until is not None and now >= until):
                return
            self._hubs.tick()
            self._look_for_filters()
            if time.monotonic() >= next_compaction:
                self._compact()
                self._check_disk()
                next_compaction = time.monotonic() + _COMPACT_EVERY

    def _is_over(self, standing: Status, now: float) -> bool:
        if standing.sites_active:
            return False
        if self._frontier.page_limit_reached():
            return True
        if self._settings.crawl.watch:
            return False
        return standing.next_due_at is None or standing.next_due_at > now + self._settings.crawl.linger

    def _start_worker(self) -> None:
        name = f"w{secrets.token_hex(4)}"
        process = subprocess.Popen(
            [sys.executable, "-m", "gossamer.crawl.worker_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        job = Job(str(self._folder.root), self._settings, name, self._debug)
        payload = msgspec.msgpack.encode(job)
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it is dead already, and will be buried
            process.stdin.write(len(payload).to_bytes(4, "little") + payload)
            process.stdin.flush()
        self._workers[name] = process

    def _bury_dead(self) -> None:
        for name, process in list(self._workers.items()):
            code = process.poll()
            if code is None:
                continue
            del self._workers[name]
            _raise_failure(process)
            self._deaths += 1
            if self._deaths > _DEATHS:
                raise OperationError(f"workers died {_DEATHS} times without fetching a page: see the messages above")
            log.warning("worker %s died of signal %d and is replaced", name, -code)
            self._folder.recover(self._frontier, self._clock.now())
            self._start_worker()

    def _note_progress(self, standing: Status) -> None:
        if standing.fetched > self._last_fetched:
            self._last_fetched, self._deaths = standing.fetched, 0

    def _check_disk(self) -> None:
        free = self._folder.free_mebibytes()
        if free < self._settings.crawl.min_free_disk:
            self._stop_workers()
            raise StorageError(
                f"only {free} MiB are free on the disk of {self._folder.root} (crawl.min_free_disk): "
                "the crawl stopped in good order; free some space and start it again"
            )

    def _look_for_filters(self) -> None:
        """Now and then, a process of its own looks for what the crawl could do without."""
        if self._filters is not None and not self._filters.is_running:
            self._filters.wait(0)
            self._filters = None
        if self._filters is None and self._settings.filters.mode != "off" and time.monotonic() >= self._next_filters:
            self._next_filters = time.monotonic() + self._settings.filters.every
            self._filters = Child("search for filters", "gossamer.crawl.filter_process", [str(self._folder.root)])
            self._filters.watch()

    def _compact(self) -> None:
        compact_once(self._frontier.db, self._folder.segments, self._clock.now(), self._damaged)

    def _wait_for_children(self) -> None:
        """The index takes in what is left; whoever cannot wait kills the crawl and loses nothing."""
        self._stopping = False
        for child in self._children:
            while child.is_running and not self._stopping:
                time.sleep(_TICK / 2)
            child.wait(0 if self._stopping else None)

    def _stop_workers(self) -> None:
        """Closing the pipe asks a worker to stop; it has the time a download may take."""
        for process in self._workers.values():
            if process.stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.close()
        deadline = time.monotonic() + self._settings.fetch.total_timeout + 10
        for process in self._workers.values():
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                log.warning("worker process %d did not stop in time and is killed", process.pid)
        for process in self._workers.values():
            _raise_failure(process)

    def _kill_workers(self) -> None:
        for process in self._workers.values():
            if process.poll() is None:
                process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
        self._workers.clear()
        self._folder.recover(self._frontier, self._clock.now())


def _raise_failure(process: subprocess.Popen[bytes]) -> None:
    """A worker that ended with an error said why in its last words."""
    if process.returncode is None or process.returncode <= 0:
        return
    words = process.stdout.read().decode("utf-8", "replace") if process.stdout is not None else ""
    raise OperationError(words.strip() or "a worker failed; everything committed is safe")
