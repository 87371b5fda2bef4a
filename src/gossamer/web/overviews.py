"""What the start page says of the index: computed aside and kept, so that a visit costs nothing.

An overview takes as long as a dozen searches. It is computed on a thread of its own when the index has changed, and
rests for a hundred times as long as it took. Readers get the last one meanwhile; only the first of all waits for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock, Thread

from gossamer.errors import GossamerError
from gossamer.search.results import IndexState, Overview
from gossamer.web.service import SearchService

SHORTEST_REST = 2.0
"""Seconds between two overviews, at least."""
_SHARE = 0.01
"""Share of a core that overviews may take."""
_FIRST = 2.0
"""Seconds that the first reader waits."""


class Overviews:
    """The newest overview; safe to share between threads."""

    def __init__(self, service: SearchService, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._service, self._now = service, monotonic
        self._lock = Lock()
        self._known: Overview | None = None
        self._of: tuple[str, int] | None = None
        self._rests_until = 0.0
        self._running: Thread | None = None

    def current(self, state: IndexState) -> Overview:
        """What is known of the index in this state; empty where nothing is known yet."""
        running = self._begin((state.generation, state.position))
        if self._known is None and running is not None:
            running.join(_FIRST)
        return self._known or Overview()

    def _begin(self, wanted: tuple[str, int]) -> Thread | None:
        """The thread that computes, begun here where there is reason to."""
        with self._lock:
            if self._running is None and self._of != wanted and self._now() >= self._rests_until:
                self._running = Thread(target=self._compute, args=(wanted,), name="search-overview", daemon=True)
                self._running.start()
            return self._running

    def _compute(self, wanted: tuple[str, int]) -> None:
        began, found = self._now(), None
        try:
            found = self._service.overview()
        except GossamerError:
            pass  # the page says what is wrong with the index; the next visit tries again
        finally:
            with self._lock:
                if found is not None:
                    self._known, self._of = found, wanted
                took = self._now() - began
                self._rests_until = self._now() + max(SHORTEST_REST, took / _SHARE)
                self._running = None
