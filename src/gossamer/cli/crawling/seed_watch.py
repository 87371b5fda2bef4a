"""Tells of a seed that fails as soon as it does, while the crawl goes on or waits to try again."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

from gossamer import logs
from gossamer.cli.common import duration, err
from gossamer.clock import Clock
from gossamer.database.database import Database
from gossamer.frontier.views.inspect import Status
from gossamer.frontier.views.seed_view import seed_urls, seed_views
from gossamer.operate.next_command import Commands
from gossamer.operate.verdict import Judge, SeedVerdict
from gossamer.settings import Settings

_EVERY = 2.0
"""Seconds between two looks."""
_MOST = 200
"""Seeds that are watched; the verdict at the end names all that fail."""

log = logging.getLogger(__name__)


class SeedWatch:
    """Looks now and then at the seeds that have no pages yet."""

    def __init__(self, db: Database, settings: Settings, commands: Commands, clock: Clock, enabled: bool) -> None:
        self._db, self._judge, self._clock = db, Judge(settings, commands), clock
        # What failed in an earlier crawl, and is not asked again now, is no news.
        self._open = [url for url, seed in self._judged(seed_urls(db)[-_MOST:] if enabled else []) if seed is None]
        self._next_look = time.monotonic() + _EVERY

    def beside(self, show: Callable[[Status], None]) -> Callable[[Status], None]:
        """A watcher of the crawl that looks at the seeds, too."""

        def watch(status: Status) -> None:
            show(status)
            if self._open and time.monotonic() >= self._next_look:
                self._look()
                self._next_look = time.monotonic() + _EVERY

        return watch

    def _look(self) -> None:
        judged = self._judged(self._open)
        for _, seed in judged:
            if seed is not None and seed.state == "failed":
                self._tell(seed)
        self._open = [url for url, seed in judged if seed is None]

    def _judged(self, urls: Sequence[str]) -> list[tuple[str, SeedVerdict | None]]:
        """What became of each; None where its turn has not come, perhaps once more: what it ended in before does not
        count then."""
        judged = []
        for view in seed_views(self._db, urls):
            seed, again = self._judge(view), any(one.state == "waiting" and one.outcome for one in view.chain)
            judged.append((view.url, None if again or seed.state == "pending" else seed))
        return judged

    def _tell(self, seed: SeedVerdict) -> None:
        again = ""
        if seed.tries_again_at is not None:
            again = f"; next try in {duration(seed.tries_again_at - self._clock.now())}"
        words = f"{seed.url}: {seed.cause}{again}"
        if logs.is_json():
            log.warning("%s", words, extra={"seed": seed.url, "why": seed.why})
        else:
            err.print(words, markup=False)
