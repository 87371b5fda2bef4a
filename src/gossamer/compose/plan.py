"""The plan of a data folder, run unattended."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from gossamer.clock import WallClock
from gossamer.data.folder import DataFolder
from gossamer.data.locks import run_lock
from gossamer.data.machine import machine_name
from gossamer.database.database import Database
from gossamer.schedule.config import Schedule
from gossamer.supervise.unattended import Unattended


@contextmanager
def open_plan(
    data: Path, plan: Mapping[str, Schedule], seedless: Collection[str], tell: Callable[[str, str], None]
) -> Iterator[tuple[Unattended, Database]]:
    """Take a folder for a plan; `seedless`: its crawls that wait for a first seed; `tell` gets each line that a
    command prints, with the command's name."""
    folder = DataFolder(data)
    with run_lock(folder), closing(folder.open_database()) as db:
        # Times of day are those of the machine, also where its clock is set right after the start.
        yield Unattended(data, machine_name(folder), db, plan, WallClock(), tell, seedless), db
