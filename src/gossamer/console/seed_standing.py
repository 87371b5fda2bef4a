"""What became of the seeds, kept for a while: every seed is judged for it, which takes seconds where there are many.

It is worked out aside, on a connection of its own, so that no page waits for another's; and it takes a twentieth of the
time at most, as looks at the crawl do. What somebody does on the console makes it worthless at once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import closing
from threading import Lock, Thread

import msgspec

from gossamer.clock import Clock
from gossamer.data.crawl_settings import options_of
from gossamer.data.folder import DataFolder
from gossamer.data.locks import is_crawled
from gossamer.database.database import Database
from gossamer.errors import GossamerError
from gossamer.frontier.views.seed_view import documents
from gossamer.operate.next_command import Commands
from gossamer.operate.verdict import SeedVerdict, Verdict, verdict_of
from gossamer.settings import Settings

_GOOD_FOR = 10.0
"""Seconds for which it is good at the least."""
_PATIENCE = 2.0
"""Seconds that a page waits for it."""
_SHOWN = 10

log = logging.getLogger(__name__)


class SeedStanding(msgspec.Struct, frozen=True):
    """What became of all seeds together, and some of them."""

    seeds: int = 0
    failed: int = 0
    pending: int = 0
    brought: int = 0
    """Seeds that brought pages."""
    ok: bool = True
    shown: list[SeedVerdict] = []
    """A handful, those that failed first."""

    @property
    def is_fruitless(self) -> bool:
        """Whether every seed was tried and failed."""
        return self.failed > 0 and not self.brought and not self.pending


class SeedStandings:
    """How the seeds stand, for all threads of a server together."""

    def __init__(self, folder: DataFolder, settings: Callable[[], Settings], clock: Clock) -> None:
        self._folder, self._settings, self._clock = folder, settings, clock
        self._lock = Lock()
        self._found: SeedStanding | None = None
        self._by: Settings | None = None
        self._at = self._good_until = 0.0
        self._changes = 0
        self._work: Thread | None = None

    def look(self, patience: float = _PATIENCE) -> SeedStanding | None:
        """How they stand, or stood a while ago; None where that takes longer than a page waits."""
        settings = self._settings()
        with self._lock:
            if self._found is not None and self._at <= self._clock.now() < self._good_until and settings == self._by:
                return self._found
            if self._work is None:
                self._work = Thread(target=self._judge, daemon=True)
                self._work.start()
            work = self._work
        work.join(patience)
        with self._lock:
            return self._found

    def forget(self) -> None:
        """Something was changed: nobody is to see what held before."""
        with self._lock:
            self._changes += 1
            self._found = None

    def _judge(self) -> None:
        try:
            while not self._judge_once():
                pass
        except (GossamerError, OSError) as error:
            log.warning("cannot check the seeds: %s", error)
        finally:
            with self._lock:
                self._work = None

    def _judge_once(self) -> bool:
        """Whether nothing was changed meanwhile."""
        changes, began, settings = self._changes, self._clock.now(), self._settings()
        with closing(self._folder.read()) as database:
            found = standing_of(self._verdict(database, settings))
        with self._lock:
            if changes != self._changes:
                return False
            took = self._clock.now() - began
            self._by = settings
            self._found, self._at, self._good_until = found, began, began + max(_GOOD_FOR, 20 * took)
            return True

    def _verdict(self, db: Database, settings: Settings) -> Verdict:
        commands = Commands(self._folder.root, options_of(db), is_crawled(self._folder))
        return verdict_of(db, settings, commands, documents(db))


def standing_of(verdict: Verdict) -> SeedStanding:
    """A verdict in short."""
    failed = verdict.failed
    others = [seed for seed in verdict.seeds if seed.state != "failed"]
    pending = sum(seed.state == "pending" for seed in others)
    brought = sum(seed.state == "kept" for seed in others)
    return SeedStanding(
        len(verdict.seeds), len(failed), pending, brought, verdict.ok, [*failed[:_SHOWN], *others][:_SHOWN]
    )  # fmt: skip
