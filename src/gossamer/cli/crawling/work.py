"""`gossamer work`: workers beside those of `gossamer crawl`, on this or on another machine."""

from __future__ import annotations

import time

from gossamer.cli.common import DEFAULT_DATA, Data, Database, Debug, Segments, out, settings_of_crawl
from gossamer.cli.signals import told_to_end
from gossamer.data.folder import DataFolder, remember_storage
from gossamer.errors import UsageError
from gossamer.supervise.crew import Crew

_TICK = 0.2
_AGAIN = 2.0
"""Seconds before a worker that died is replaced: one that is killed at each start must not keep the machine busy."""


def command(
    *,
    data: Data = DEFAULT_DATA,
    database: Database = None,
    segments: Segments = None,
    workers: int = 1,
    name: str = "",
    debug: Debug = False,
) -> None:
    """Work on a crawl until stopped (Ctrl-C): the one in the data folder, or the one of a database server.

    Parameters
    ----------
    workers
        Worker processes on this machine.
    name
        The worker's name, where there is one; default: a new one.
    """
    if workers < 1 or (name and workers > 1):
        raise UsageError("--workers must be at least 1, and 1 where a --name is given")
    remember_storage(data, database, segments)
    folder = DataFolder(data)
    found = folder.read()
    found.close()
    settings = settings_of_crawl(data)
    folder.open_frontier(settings).db.close()  # segments of another crawl are refused before anything is started
    crew = Crew(settings, folder, debug, workers)
    stopped: list[bool] = []
    out.print(f"Working on {found.where if folder.is_shared else data}; press Ctrl-C to stop.", markup=False)
    with told_to_end(lambda: stopped.append(True)):
        try:
            for _ in range(workers):
                crew.start(name)
            while not stopped:
                time.sleep(_TICK)
                for dead in crew.bury_dead():
                    out.print(f"worker {dead} died and is replaced", markup=False)
                    time.sleep(_AGAIN)
                    crew.start()
            out.print("Stopping … Press Ctrl-C again to stop at once.")
            crew.stop(lambda: len(stopped) < 2)
        finally:
            crew.kill()
