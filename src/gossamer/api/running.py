"""A crawl that runs beside the program: its supervisor in a thread, its workers in processes of their own.

The processes are new interpreters or forks of the nursery (`supervise.nursery`), never forks of the program: so they
import nothing of it, a script needs no `if __name__ == "__main__"`, and a notebook may have an event loop. They lead
sessions of their own: Ctrl-C reaches the program alone, which tells the crawl to stop. If the program is killed, the
pipes to them close, and each commits what it has and ends.
"""

from __future__ import annotations

import atexit
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from weakref import WeakSet

from gossamer.compose.crawl import CrawlOrder, Ended, OpenCrawl, open_crawl
from gossamer.errors import OperationError
from gossamer.frontier.views.inspect import Status
from gossamer.supervise.nursery import warm_up

log = logging.getLogger("gossamer.crawl")

_LOOK = 0.2
"""Seconds after which Ctrl-C is noticed while the program waits."""


class Running:
    """A crawl under way."""

    def __init__(self, order: Callable[[], CrawlOrder]) -> None:
        """`order`: called in the crawl's thread, since it may ask the network whether a seed speaks https."""
        self._make_order = order
        self._lock = threading.Lock()
        self._stops = 0
        self._crawl: OpenCrawl | None = None
        self._opened, self._over = threading.Event(), threading.Event()
        self._error: BaseException | None = None
        self.order: CrawlOrder | None = None
        self.ended: Ended | None = None
        self.standing: Status | None = None
        """How the crawl stands, some times a second."""
        self._thread = threading.Thread(target=self._run, name="gossamer crawl", daemon=True)

    def start(self) -> None:
        """Begin; returns when the folder is this crawl's own. Raises what prevents that."""
        warm_up()
        atexit.unregister(_end_all)
        atexit.register(_end_all)  # before the nursery ends, which is registered by now: the last one comes first
        _under_way.add(self)
        self._thread.start()
        while not self._opened.wait(_LOOK):
            pass
        if self._crawl is None:
            self.join()

    @property
    def is_over(self) -> bool:
        """Whether it has ended, in whatever way."""
        return self._over.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait for its end, so long at most; whether it came."""
        return self._over.wait(seconds)

    def stop(self) -> None:
        """End it in good order: what is under way is finished and indexed. Told twice, it ends at once."""
        with self._lock:
            self._stops += 1
            if self._crawl is not None:
                self._crawl.stop()

    def join(self) -> None:
        """Wait for the end; raises the error in which it ended. Ctrl-C meanwhile ends it at once."""
        try:
            while not self._over.wait(_LOOK):
                pass
        except KeyboardInterrupt:
            self.stop()
            self.stop()
            self._over.wait()
            raise
        self._thread.join()
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def finish(self) -> None:
        """Stop it, and wait until it has ended; its errors are of no interest any more."""
        if not self.is_over:
            self.stop()
        with suppress(OperationError):
            self.join()

    def _run(self) -> None:
        try:
            self.order = self._make_order()
            with open_crawl(self.order, log.info) as crawl:
                with self._lock:
                    self._crawl = crawl
                    for _ in range(self._stops):
                        crawl.stop()
                self._opened.set()
                self.ended = crawl.run(self._note)
        except BaseException as error:
            self._error = error
        finally:
            self._opened.set()
            self._over.set()

    def _note(self, standing: Status) -> None:
        self.standing = standing


_under_way: WeakSet[Running] = WeakSet()


def _end_all() -> None:
    """A program that ends does not wait for what it has forgotten, but nothing under way is thrown away."""
    for running in list(_under_way):
        if not running.is_over:
            with suppress(BaseException):
                running.finish()
