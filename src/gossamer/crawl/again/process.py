"""The process that judges stored pages again: `python -m gossamer.crawl.again.process FOLDER` does it once and ends;
with `settled` before the folder, only for sites of which nothing new was learned for a while.

A crawl starts one when more is known of a site than when its first pages were read. It changes the database in
transactions only, so you may kill it at any time; the next one continues.
"""

from __future__ import annotations

import sys
from pathlib import Path

from gossamer.clock import SystemClock
from gossamer.courtesy import give_way
from gossamer.crawl.again.rereading import Rereader
from gossamer.crawl.reading import PageParser
from gossamer.crawl.scope import LiveScope
from gossamer.data.classifier import model_bytes
from gossamer.data.crawl_settings import last_options
from gossamer.data.folder import DataFolder
from gossamer.data.locks import rereading_lock
from gossamer.data.logged import configure_logs
from gossamer.database.database import open_database
from gossamer.dedup.near.registry import DEFAULT, near_method
from gossamer.errors import GossamerError
from gossamer.settings import load


def main(root: Path, settled: bool = False) -> None:
    """Judge again what is stale in a data folder; prints an error for people as one line."""
    configure_logs(root, "reread")
    folder = DataFolder(root)
    try:
        settings = load(root, last_options(folder))
        give_way(settings.crawl.nice)
        db = open_database(folder.database, cache_mb=16)
        db.outlast()
        try:
            with rereading_lock(folder):
                parser = PageParser(LiveScope(settings, db, model_bytes(folder)).parser_config())
                near = near_method(DEFAULT if settings.dedup.near == "none" else settings.dedup.near)
                Rereader(folder, db, near, parser, settings.parse.max_bytes, SystemClock().now).run(settled)
        finally:
            db.close()
    except GossamerError as error:
        print(error, flush=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main(Path(sys.argv[-1]), settled="settled" in sys.argv[1:-1])
