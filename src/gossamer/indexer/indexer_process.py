"""The process of the indexer: `gossamer crawl` starts it, and closes its pipe to end it.

It follows the crawl while the pipe is open, then indexes the rest and ends. If it fails, its last words go to standard
output, one line for a person; the crawl continues without it.
"""

from __future__ import annotations

import logging
import os
import select
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer import settings as settings_file
from gossamer.clock import SystemClock
from gossamer.courtesy import give_way
from gossamer.data.folder import DataFolder
from gossamer.data.index_place import IndexPlace, index_lock, index_place
from gossamer.data.logged import configure_logs
from gossamer.database.database import open_database
from gossamer.errors import BusyError, GossamerError, SemanticError
from gossamer.index.folder import IndexFolder
from gossamer.index.vectors.store import VectorFolder
from gossamer.indexer.indexing import Indexer
from gossamer.search.ranking import RankingConfig

if TYPE_CHECKING:
    from gossamer.indexer.vector_making import VectorMaker

log = logging.getLogger(__name__)

PAUSE = 0.15
"""Seconds between two checks while there is nothing to do."""
_QUIET = 2.0
"""Seconds without a change after which anchor texts are indexed."""
_LAST_WAIT = 10.0
"""Seconds that a crawl which ends waits for another indexer."""


def follow(indexer: Indexer, go_on: Callable[[], bool], between: Callable[[], None] = lambda: None) -> None:
    """Keep the index in step until told to stop, then index the rest; `between` is called now and then."""
    busy = time.monotonic()
    while go_on():
        between()
        if indexer.step():
            busy = time.monotonic()
        elif time.monotonic() - busy < _QUIET or not indexer.refresh():
            time.sleep(PAUSE)
    catch_up(indexer)


def catch_up(indexer: Indexer) -> None:
    """Index everything the crawl has, with all anchor texts, and finish the merges."""
    while True:
        while indexer.behind():
            indexer.step()
        while indexer.refresh():
            pass
        indexer.finish_merges()
        if not indexer.behind():  # else a crawl has ended meanwhile and relied on this indexer
            return


@contextmanager
def making_vectors(root: Path, config: RankingConfig) -> Iterator[Callable[[], None]]:
    """What is to be called now and then, so that pages get the vectors that the settings ask for."""
    maker = _maker(root, config)

    def make_some() -> None:
        if maker is not None:
            maker.tick()

    try:
        yield make_some
    finally:
        if maker is not None:
            maker.close()


def _maker(root: Path, config: RankingConfig) -> VectorMaker | None:
    if not config.semantic and not VectorFolder(root).manifest.exists():
        return None
    from gossamer.indexer.vector_making import open_maker  # the search and its model, which most go without

    try:
        return open_maker(IndexFolder(root), config)
    except SemanticError as error:  # the index follows the crawl all the same
        log.error("%s", error)
        return None


def _lock(stack: ExitStack, folder: DataFolder, place: IndexPlace) -> None:
    """Try to become the only indexer. If another process already is, wait for it briefly and leave the work to it."""
    last = None
    while True:
        try:
            return stack.enter_context(index_lock(folder, place))
        except BusyError:
            if _is_told_to_finish():
                last = last or time.monotonic() + _LAST_WAIT
                if time.monotonic() > last:
                    raise
        time.sleep(PAUSE)


def _is_told_to_finish() -> bool:
    return bool(select.select([0], [], [], 0)[0])


def main() -> None:
    """Index the folder named by the only argument until standard input ends."""
    configure_logs(Path(sys.argv[1]), "indexer")
    folder, clock = DataFolder(Path(sys.argv[1])), SystemClock()
    try:
        settings = settings_file.load(folder.root)
        give_way(settings.crawl.nice // 2)  # readers come first, but new pages should be searchable soon
        place = index_place(folder, settings.shards)
        with ExitStack() as stack:
            _lock(stack, folder, place)
            db = open_database(folder.database, cache_mb=16)
            db.outlast()
            indexer = Indexer.open(folder, db, clock, place=place)
            try:
                with making_vectors(place.root, settings.search) as between:
                    follow(indexer, lambda: not _is_told_to_finish(), between)
            finally:
                indexer.close()
                db.close()
    except GossamerError as error:
        print(error, flush=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
    os._exit(0)  # everything is committed and closed; skip the slow clean-up of memory
