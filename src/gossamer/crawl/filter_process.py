"""One look for automatic filters, started by `gossamer crawl` now and then; ends by itself.

All it does to the table is done in transactions, so it may be killed at any time.
"""

from __future__ import annotations

import sys
from pathlib import Path

from gossamer.clock import SystemClock
from gossamer.crawl.filtering import run_filters
from gossamer.crawl.folder import DataFolder
from gossamer.errors import GossamerError
from gossamer.frontier.database import open_database
from gossamer.settings import load


def main() -> None:
    """Look at every site of the folder named by the only argument."""
    folder = DataFolder(Path(sys.argv[1]))
    try:
        config = load(folder.root, folder.last_options()).filters
        db = open_database(folder.database, cache_mb=16)
        try:
            run_filters(folder, db, config, SystemClock().now())
        finally:
            db.close()
    except GossamerError as error:
        print(error, flush=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
