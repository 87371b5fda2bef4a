"""The process of every chore: `python -m gossamer.upkeep.process CHORE FOLDER` does it once and ends.

A crawl starts one now and then (`supervise/chores.py`). A chore changes the database in transactions only, so you may
kill its process at any time. Each chore imports its own code only: merging needs no SciPy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from gossamer.clock import SystemClock
from gossamer.courtesy import give_way
from gossamer.data.crawl_settings import last_options
from gossamer.data.folder import DataFolder
from gossamer.data.locks import rank_lock
from gossamer.data.logged import configure_logs
from gossamer.database.database import Database, open_database
from gossamer.errors import BusyError, GossamerError, UsageError
from gossamer.settings import Settings, load


def _filter(folder: DataFolder, settings: Settings, now: float) -> None:
    from gossamer.data.stored_links import stored_in
    from gossamer.upkeep.filters.run import run_filters

    with _writing(folder) as db:
        run_filters(stored_in(folder), db, settings.filters, now)


def _split(folder: DataFolder, settings: Settings, now: float) -> None:
    from gossamer.data.stored_links import stored_in
    from gossamer.upkeep.splitting import split_sites

    with _writing(folder) as db:
        split_sites(stored_in(folder), db, settings, now)


def _merge(folder: DataFolder, _settings: Settings, now: float) -> None:
    from gossamer.upkeep.compacting import merge

    with _writing(folder) as db:
        merge(folder, db, now)


def _thin(folder: DataFolder, settings: Settings, now: float) -> None:
    from gossamer.upkeep.thinning import thin_out

    with _writing(folder) as db:
        thin_out(folder, db, settings.storage.keep_old, now)


def _forget(folder: DataFolder, _settings: Settings, now: float) -> None:
    from gossamer.upkeep.forgetting import forget_old_changes

    with _writing(folder) as db:
        forget_old_changes(folder, db, now)


def _rank(folder: DataFolder, settings: Settings, now: float) -> None:
    """Uses one core of this machine, beside the workers, unless the settings name a cluster."""
    from gossamer.data.stored_ranks import rank_place
    from gossamer.engine.opening import open_engine
    from gossamer.upkeep.ranking_run import run_ranking

    config = settings.engine
    engine = open_engine(msgspec.structs.replace(config, workers=1) if config.kind == "local" else config)
    db = folder.read()
    try:
        with rank_lock(folder):
            run_ranking(folder, db, engine, rank_place(folder.root, settings), settings.rank, now)
    except (UsageError, BusyError):
        pass  # nothing is stored yet, or another process ranks now: wait for the next time
    finally:
        db.close()
        engine.close()


CHORES: dict[str, Callable[[DataFolder, Settings, float], None]] = {
    "filter": _filter, "split": _split, "merge": _merge, "thin": _thin, "forget": _forget, "rank": _rank,
}  # fmt: skip


@contextmanager
def _writing(folder: DataFolder) -> Iterator[Database]:
    db = open_database(folder.database, cache_mb=16)
    db.outlast()
    try:
        yield db
    finally:
        db.close()


def main(chore: str, root: Path) -> None:
    """Do one chore for the data folder; prints an error for people as one line."""
    configure_logs(root, chore)
    folder = DataFolder(root)
    try:
        settings = load(root, last_options(folder))
        give_way(settings.crawl.nice)
        CHORES[chore](folder, settings, SystemClock().now())
    except GossamerError as error:
        print(error, flush=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
