"""Once a minute the figures of a crawl are written down, for the charts of the console and for service levels.

What cannot be written is left out: figures are no reason to stop a crawl.
"""

from __future__ import annotations

import logging

from gossamer.clock import Clock
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.errors import GossamerError
from gossamer.frontier.freshness import collection_freshness
from gossamer.frontier.views.inspect import Status
from gossamer.revisit.config import RevisitConfig
from gossamer.tables import samples

log = logging.getLogger(__name__)

_MEBIBYTE = 1024 * 1024


class Sampler:
    """Writes samples; a supervisor calls `tick` whenever it has looked at the crawl, and `finish` at its end."""

    def __init__(self, db: Database, folder: DataFolder, config: RevisitConfig, clock: Clock) -> None:
        self._db, self._folder, self._config, self._clock = db, folder, config, clock
        self._minute = -1

    def tick(self, standing: Status) -> None:
        """Keep how the crawl stands, where this minute has no sample yet."""
        now = self._clock.now()
        minute = int(now // samples.MINUTE)
        if minute != self._minute:
            self._minute = minute
            self._write(standing, now)

    def finish(self, standing: Status) -> None:
        """Keep how the crawl ended."""
        self._write(standing, self._clock.now(), last=True)

    def _write(self, standing: Status, now: float, last: bool = False) -> None:
        try:
            fresh = collection_freshness(self._db, self._config, now)
            free = self._folder.free_mebibytes() * _MEBIBYTE
            figures = samples.figures_of(standing, now, free, (fresh.fresh, fresh.age), self._db)
            samples.note(self._db, figures, last)
        except (GossamerError, OSError) as error:
            log.warning("cannot store the figures of this minute: %s", error)
