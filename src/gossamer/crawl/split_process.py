"""One look for sites to be split, started by `gossamer crawl` now and then; ends by itself."""

from __future__ import annotations

import sys
from pathlib import Path

from gossamer.clock import SystemClock
from gossamer.crawl.folder import DataFolder
from gossamer.crawl.splitting import split_sites
from gossamer.errors import GossamerError
from gossamer.settings import load


def main() -> None:
    """Look at every site of the folder named by the only argument."""
    folder = DataFolder(Path(sys.argv[1]))
    try:
        settings = load(folder.root, folder.last_options())
        db = folder.open_database()
        try:
            split_sites(folder, db, settings, SystemClock().now())
        finally:
            db.close()
    except GossamerError as error:
        print(error, flush=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
