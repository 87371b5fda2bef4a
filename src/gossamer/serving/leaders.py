"""The representatives of clusters, for the searcher: read from the frontier database as it stands now.

A search must not fail because the crawl cannot be asked: then the best hit speaks for its cluster, and for a
while nobody asks again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gossamer.clock import Clock, SystemClock
from gossamer.data.connection import SharedConnection
from gossamer.data.folder import DataFolder
from gossamer.errors import GossamerError
from gossamer.frontier.views.stories import representatives

_REST = 5.0
"""Seconds without questions after one that was not answered."""


class StoredLeaders:
    """`search.ordering.Leaders` of a data folder; safe to share between threads."""

    def __init__(self, folder: DataFolder, clock: Clock | None = None) -> None:
        self._reader = SharedConnection(folder.database)
        self._clock = clock or SystemClock()
        self._resting_until = 0.0

    def of(self, clusters: Sequence[int]) -> Mapping[int, int]:
        """Cluster → key of the page that represents it; empty where that cannot be told now."""
        if not clusters or self._clock.now() < self._resting_until:
            return {}
        try:
            return self._reader.ask(lambda db: representatives(db, clusters))
        except (GossamerError, OSError):
            self._resting_until = self._clock.now() + _REST
            return {}
