"""The index of a data folder, held by its only indexer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple

from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.data.index_place import IndexPlace, index_lock, index_place
from gossamer.database.database import Database, open_database
from gossamer.errors import UsageError
from gossamer.index.folder import IndexFolder
from gossamer.indexer.indexer_process import follow, making_vectors
from gossamer.indexer.indexing import Indexer
from gossamer.jobs.index_build import install_shard
from gossamer.search.ranking import RankingConfig
from gossamer.settings import Settings
from gossamer.store.place import open_place
from gossamer.supervise.alert_child import AlertProcess


class HeldIndex(NamedTuple):
    """An index that no other indexer writes to meanwhile."""

    folder: DataFolder
    place: IndexPlace
    db: Database
    search: RankingConfig

    def install(self, built: str) -> None:
        """Begin with an index that the job `index-build` wrote to this place."""
        IndexFolder(self.place.root).clean()
        install_shard(open_place(built, self.folder.root / "cache"), self.place.cut, self.place.root)

    def open(self, rebuild: bool, progress: Callable[[int, int], None]) -> Indexer:
        """Its indexer; close it. A build from scratch reports how many pages are done, of how many."""
        make = Indexer.rebuild if rebuild else Indexer.open
        return make(self.folder, self.db, SystemClock(), progress, self.place)

    def follow(self, indexer: Indexer, go_on: Callable[[], bool]) -> None:
        """Keep in step with the crawl for as long as told, and send what saved searches find."""
        alerts = AlertProcess(self.folder.root, self.db)
        with making_vectors(self.place.root, self.search) as make_some:

            def between() -> None:
                alerts.tick()
                make_some()

            follow(indexer, go_on, between)
        alerts.finish()

    def make_vectors(self, progress: Callable[[int], object]) -> int:
        """Make all vectors that pages lack; returns how many pages have one then."""
        from gossamer.indexer.vector_making import open_maker  # the search and its model, which most go without

        maker = open_maker(IndexFolder(self.place.root), self.search)
        if maker is None:
            raise UsageError("there is nothing to make vectors for: set search.semantic to 0.5 (see docs/semantic.md)")
        with closing(maker):
            maker.finish(progress)
            return len(maker)


@contextmanager
def hold_index(folder: DataFolder, settings: Settings) -> Iterator[HeldIndex]:
    """Become the only indexer."""
    place = index_place(folder, settings.shards)
    with index_lock(folder, place), closing(open_database(folder.database)) as db:
        yield HeldIndex(folder, place, db, settings.search)
