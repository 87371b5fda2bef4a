"""`gossamer work`: workers beside those of `gossamer crawl`, on this or on another machine."""

from __future__ import annotations

from gossamer.cli.common import DEFAULT_DATA, Data, Database, Debug, Segments, out
from gossamer.cli.signals import told_to_end
from gossamer.compose.work import Workforce
from gossamer.data.storage import remember_storage
from gossamer.errors import UsageError


def command(
    *,
    data: Data = DEFAULT_DATA,
    database: Database = None,
    segments: Segments = None,
    workers: int = 1,
    name: str = "",
    debug: Debug = False,
) -> None:
    """Start further workers for a crawl, on this or another machine, until Ctrl-C.

    They work on the crawl of the data folder, or of the database server.

    Parameters
    ----------
    workers
        Worker processes on this machine.
    name
        Name of the worker, if you start one; default: a new name.
    """
    if workers < 1 or (name and workers > 1):
        raise UsageError("--workers must be at least 1, and with --name exactly 1")
    remember_storage(data, database, segments)
    workforce = Workforce(data, workers, name, debug)
    out.print(f"Working on {workforce.where}; press Ctrl-C to stop.", markup=False)
    with told_to_end(workforce.stop):
        workforce.run(
            lambda dead: out.print(f"worker {dead} died; starting another", markup=False),
            lambda: out.print("Stopping … Press Ctrl-C again to stop at once."),
        )
