"""Clicks on results on their way into the frontier database: the server's `ClickService`."""

from __future__ import annotations

from collections import Counter

from gossamer.clock import Clock
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.revisit.config import RevisitConfig
from gossamer.serving.tally import PAUSE, Tally
from gossamer.tables import clicks


class StoredClicks(Tally[str]):
    """`web.clicks.ClickService` of a data folder: counts URLs; what is no document is found out when it writes."""

    what = "clicks of readers"

    def __init__(self, folder: DataFolder, config: RevisitConfig, clock: Clock, pause: float = PAUSE) -> None:
        """`config`: how the visits that clicks bring forward are planned."""
        super().__init__(folder, pause)
        self._config, self._clock = config, clock

    def record(self, db: Database, counts: Counter[str]) -> int:
        """In one transaction; returns how many documents it concerned."""
        written = clicks.record(db, counts, self._config, self._clock.now())
        counts.clear()
        return written
