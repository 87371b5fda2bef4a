"""Worker processes on this machine, for a crawl that runs here or elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.data.opening import open_frontier
from gossamer.supervise.crew import Crew

_TICK = 0.2
_AGAIN = 2.0
"""Seconds before a worker that died is replaced: one that is killed at each start must not keep the machine busy."""


class Workforce:
    """Workers until somebody stops them."""

    def __init__(self, data: Path, workers: int = 1, name: str = "", debug: bool = False) -> None:
        """`name`: of the only worker; default: new names."""
        folder = DataFolder(data)
        found = folder.read()
        found.close()
        self.where = found.where if folder.is_shared else str(data)
        """The crawl they work on."""
        settings = settings_of_crawl(data)
        open_frontier(folder, settings).db.close()  # segments of another crawl are refused before anything is started
        self._crew, self._workers, self._name = Crew(settings, folder, debug, workers), workers, name
        self._stops = 0

    def stop(self) -> None:
        """End them in good order; told twice, they end at once."""
        self._stops += 1

    def run(self, died: Callable[[str], object], stopping: Callable[[], object]) -> None:
        """Work until told to stop; `died` gets the name of a worker that is about to be replaced."""
        try:
            for _ in range(self._workers):
                self._crew.start(self._name)
            while not self._stops:
                time.sleep(_TICK)
                self._replace_dead(died)
            stopping()
            self._crew.stop(lambda: self._stops < 2)
        finally:
            self._crew.kill()

    def _replace_dead(self, died: Callable[[str], object]) -> None:
        for dead in self._crew.bury_dead():
            died(dead)
            time.sleep(_AGAIN)
            self._crew.start()
