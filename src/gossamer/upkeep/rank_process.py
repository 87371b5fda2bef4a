"""One ranking, started by `gossamer crawl` now and then; ends by itself, and may be killed at any time.

It runs on one core of this machine, beside the workers, unless the settings name a cluster.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.data.logged import configure_logs
from gossamer.data.stored_ranks import rank_place
from gossamer.engine.config import open_engine
from gossamer.errors import BusyError, GossamerError, UsageError
from gossamer.settings import Settings, load
from gossamer.upkeep.ranking_run import run_ranking


def main() -> None:
    """Rank the pages of the folder named by the only argument."""
    root = Path(sys.argv[1])
    configure_logs(root, "rank")
    try:
        settings = load(root, DataFolder(root).last_options())
        _rank(DataFolder(root), settings)
    except (UsageError, BusyError):
        pass  # nothing is stored yet, or somebody ranks at this moment: the next turn will do
    except GossamerError as error:
        print(error, flush=True)
        sys.exit(error.exit_code)


def _rank(folder: DataFolder, settings: Settings) -> None:
    config = settings.engine
    engine = open_engine(msgspec.structs.replace(config, workers=1) if config.kind == "local" else config)
    db = folder.read()
    try:
        with folder.rank_lock():
            run_ranking(folder, db, engine, rank_place(folder.root, settings), settings.rank, SystemClock().now())
    finally:
        db.close()
        engine.close()


if __name__ == "__main__":
    main()
