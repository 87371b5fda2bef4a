"""An import into a data folder: `with open_import(settings, data) as importing: importing.run(paths)`."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from gossamer import __version__
from gossamer.clock import Clock, CorrectedClock, SystemClock
from gossamer.compose.index import hold_index
from gossamer.crawl.alive.heartbeat import set_by_database
from gossamer.crawl.archived.files import check
from gossamer.crawl.archived.importing import Imported, Importer
from gossamer.crawl.parsers import ParserPool
from gossamer.crawl.pending import Committer
from gossamer.crawl.scope import LiveScope
from gossamer.data.classifier import model_bytes
from gossamer.data.folder import DataFolder
from gossamer.data.locks import crawl_lock, worker_lock
from gossamer.data.opening import open_frontier
from gossamer.data.recovery import check_clock, recover
from gossamer.errors import BusyError
from gossamer.frontier.contract import CrawlFrontier
from gossamer.indexer.indexer_process import catch_up
from gossamer.settings import Settings

Watch = Callable[[Imported], None]


class Importing:
    """An import that holds its folder."""

    def __init__(self, settings: Settings, folder: DataFolder, frontier: CrawlFrontier, clock: Clock) -> None:
        self._settings, self._folder, self._frontier, self._clock = settings, folder, frontier, clock
        self._importer: Importer | None = None
        self._is_stopped = False
        self.done = Imported()

    def stop(self) -> None:
        """End after the batch under way."""
        self._is_stopped = True
        if self._importer is not None:
            self._importer.stop()

    def run(self, paths: Sequence[Path], watch: Watch = lambda done: None) -> bool:
        """Import the files; returns whether it came to their end."""
        return asyncio.run(self._run(paths, watch))

    async def _run(self, paths: Sequence[Path], watch: Watch) -> bool:
        settings, frontier, name = self._settings, self._frontier, f"i{secrets.token_hex(4)}"
        scope = LiveScope(settings, frontier.db, model_bytes(self._folder))
        info = {"software": f"Gossamer/{__version__}"}
        committer = Committer(frontier, self._folder.segments, name, settings.crawl.archive, info)
        parsers = ParserPool(scope.parser_config(), settings.crawl.parsers, settings.crawl.parse_timeout)
        with worker_lock(self._folder, name):
            frontier.register(name, self._clock.now())
            try:
                async with parsers:
                    importer = Importer(settings, frontier, scope, committer, name, self._clock, parsers)
                    self._importer, self.done = importer, importer.done
                    return not self._is_stopped and await importer.run(paths, watch)
            finally:
                frontier.retire(name, self._clock.now())

    def index(self) -> int | None:
        """Bring the index up to date; the number of its pages, or None if another indexer does it."""
        with (
            suppress(BusyError),
            hold_index(self._folder, self._settings) as held,
            closing(held.open(False, lambda done, total: None)) as indexer,
        ):
            catch_up(indexer)
            return indexer.documents
        return None


@contextmanager
def open_import(settings: Settings, data: Path, paths: list[Path]) -> Iterator[Importing]:
    """Check the files, take the folder, and repair what an earlier command left."""
    check(paths)
    folder, clock = DataFolder(data), CorrectedClock(SystemClock())
    folder.create()
    with crawl_lock(folder):
        frontier = open_frontier(folder, settings, founding=True)
        with closing(frontier.db):
            if not frontier.db.only_one("crawl"):
                raise BusyError(f"a crawl is running on {frontier.db.where}: import when it has ended")
            set_by_database(clock, frontier.db)
            check_clock(frontier, clock.now(), accept=False)
            recover(folder, frontier, clock.now())
            yield Importing(settings, folder, frontier, clock)
