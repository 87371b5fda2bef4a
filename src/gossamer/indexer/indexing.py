"""The indexer: follows the crawl, change by change, and keeps the index equal to the table.

A step takes the segments of the next changes, asks the table which of their pages are documents now, and commits those
together with the number of the last change. After a kill at any point the step is done again, which changes nothing.
Pages that left since are removed. When there is nothing else to do, pages whose anchor texts changed are written anew.

A rebuild reads all segments into a new generation, and then follows.

An index may hold only a part of the documents, its *cut*: then several indexers, on as many machines, share the work.
Each of them follows the crawl by itself; none knows of the others.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

import msgspec
import tantivy

from gossamer.clock import Clock
from gossamer.courtesy import return_memory
from gossamer.data.classifier import categoriser
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.data.index_place import IndexPlace
from gossamer.database.database import Database
from gossamer.database.meta import crawl_id
from gossamer.errors import CorruptError, OperationError
from gossamer.frontier import changes
from gossamer.frontier.views.inspect import place_of, segment_ids
from gossamer.frontier.views.segments import stored_pages
from gossamer.frontier.views.sites import site_names
from gossamer.index import commits
from gossamer.index.anchors import AnchorStore
from gossamer.index.document import IndexPage, build
from gossamer.index.folder import IndexFolder
from gossamer.index.shards import WHOLE, Cut
from gossamer.index.writer import Batch, IndexWriter
from gossamer.indexer.stored_rows import StoredRows
from gossamer.model.site import key64, site_of
from gossamer.parse.fields.config import custom_fields
from gossamer.settings import load as load_settings
from gossamer.store.durable import SegmentMissingError
from gossamer.tables import alerts, forgetting
from gossamer.tables.delays import announced, note_searchable

if TYPE_CHECKING:
    from gossamer.alerts.alerting import Alerting

log = logging.getLogger(__name__)

_STEP_PAGES = 1_000
"""Stored visits of one commit: few enough for a commit a second on a slow machine."""
_REBUILD_PAGES = 5_000
"""The same where nobody waits for them: each commit costs some files, and its own copy of the most frequent words."""
_LINKS_REMEMBERED = 10_000
_LINKS_TRIED = 5
"""How often to look again for a segment that was merged meanwhile."""

Progress = Callable[[int, int], None]
"""Called with the number of stored visits done, and of all."""


class IndexBehindError(OperationError):
    """The next changes that the index needs are forgotten."""


class Indexer:
    """Keeps the index of a data folder in step with its crawl; one per folder."""

    def __init__(
        self, folder: DataFolder, db: Database, generations: IndexFolder, generation: str, clock: Clock,
        cut: Cut = WHOLE,
    ) -> None:  # fmt: skip
        self._folder, self._db, self._clock = folder, db, clock
        self._generations, self.generation = generations, generation
        self._cut = cut
        self._anchors = AnchorStore(generations.anchors(generation))
        self._writer = IndexWriter(generations.tantivy(generation), generations.scratch(generation))
        self._rows = StoredRows(folder, db)
        self._categorise = categoriser(folder)
        # Up to which change departed pages were deleted; an empty index holds none of them.
        self._gone_until = 0 if self._writer.position else changes.last_change(db)
        self._links_read: set[str] = set()
        self._search = load_settings(folder.root).search
        self._has_room = self._writer.has_fields(custom_fields(settings_of_crawl(folder.root).fields))

    @classmethod
    def open(
        cls, folder: DataFolder, db: Database, clock: Clock, progress: Progress | None = None,
        place: IndexPlace | None = None,
    ) -> Indexer:  # fmt: skip
        """The indexer of the current generation; of a new one if there is none that fits.

        An index of another cut may be wanted by its owner: it is refused, not rebuilt. `place`: the index's folder and
        its cut,
        if not all documents in the data folder."""
        place = place or IndexPlace(folder.index)
        generations = IndexFolder(place.root)
        generations.clean()
        generation = generations.current()
        if generation is not None:
            if _fits(generations, generation, db, place.cut):
                indexer = cls(folder, db, generations, generation, clock, place.cut)
                if indexer._has_room:
                    return indexer
                indexer.close()
            log.warning("the index in %s cannot be continued and is rebuilt", place.root)
        return cls.rebuild(folder, db, clock, progress, place)

    @classmethod
    def rebuild(
        cls, folder: DataFolder, db: Database, clock: Clock, progress: Progress | None = None,
        place: IndexPlace | None = None,
    ) -> Indexer:  # fmt: skip
        """Build a new generation from all segments; searches use the old one until it is complete."""
        place = place or IndexPlace(folder.index)
        generations = IndexFolder(place.root)
        generation = generations.create(crawl_id(db), place.cut)
        indexer = cls(folder, db, generations, generation, clock, place.cut)
        try:
            indexer._read_all_links()
            total = stored_pages(db)
            done = 0
            while indexer.behind():
                done += indexer.step(_REBUILD_PAGES)
                if progress is not None:
                    progress(done, max(done, total))
            indexer.finish_merges()
        except BaseException:
            indexer.close()
            generations.clean()
            raise
        generations.switch(generation)
        return indexer

    @property
    def documents(self) -> int:
        """Pages in the index."""
        return self._writer.searcher().num_docs

    def behind(self) -> int:
        """How many changes of the crawl are not in the index yet."""
        return changes.last_change(self._db) - self._writer.position

    def step(self, pages: int = 0) -> int:
        """Bring some changes into the index; returns how many stored visits were read. `pages`: how many about, if not
        as few as an index that follows a crawl takes."""
        start, last = self._writer.position, changes.last_change(self._db)
        if last <= start:
            self._writer.merge_some()
            return 0
        segments = changes.new_segments(self._db, start, last)
        taken = _first(segments, pages or _STEP_PAGES)
        until = last if len(taken) == len(segments) else taken[-1].seq
        self._read_links(taken)
        found = self._writer.begin()
        brought_by: dict[int, int] = {}
        places, using = [], self._writer.extras
        for segment in taken:
            for page in self._current_pages(segment):
                key = page.key
                found.add(key, build(page, using, self._writer.fields))
                brought_by[key] = segment.seq
                places.append((key64(site_of(page.url)), key))
        # Departed pages go first, however many wait to come in: somebody may have asked for a takedown.
        departed = changes.departed(self._db, max(start, self._gone_until), last)
        if max(start, self._gone_until) < forgetting.forgotten(self._db):  # after the read: it may lack some
            raise IndexBehindError(
                f"the index in {self._generations.root} is too far behind: the database forgot which pages left; "
                "the next start rebuilds it"
            )
        gone = self._gone(departed) - found.keys
        began = self._clock.now()
        self._commit(found, gone, until, brought_by)
        self._gone_until = last
        fields = {"gone": len(gone), "change": until, "behind": last - until, "seconds": self._clock.now() - began}
        log.info("indexed %d pages", len(found.keys), extra={"pages": len(found.keys), **fields})
        if news := announced(self._db, places):
            note_searchable(self._db, news, self._clock.now())
        return_memory()
        return sum(segment.pages for segment in taken)

    def refresh(self, limit: int = _STEP_PAGES // 2) -> int:
        """Write pages anew whose anchor texts changed; returns how many were read."""
        stale = self._anchors.stale(limit)
        if not stale:
            return 0
        urls = [stored.url for stored in self._writer.find(stale)]
        pages = self._completed(self._rows.newest(urls))
        found = {page.key: build(page, self._writer.extras, self._writer.fields) for page in pages}
        if found:
            self._writer.apply(found, (), self._writer.position, self._clock.now())
        self._anchors.indexed(stale)
        return len(stale)

    def finish_merges(self) -> None:
        """Merge until nothing is left to merge."""
        self._writer.merge_some(wait=True)

    def close(self) -> None:
        """Stop; all commits stay."""
        self._writer.close()
        self._anchors.close()

    def _commit(self, found: Batch, gone: set[int], until: int, brought_by: dict[int, int]) -> None:
        """`brought_by`: key → the change that brought the document."""
        tell = partial(self._tell_alerts, brought_by=brought_by, until=until)
        self._writer.apply(found, gone, until, self._clock.now(), tell)
        self._anchors.indexed(list(found.keys))

    def _tell_alerts(self, index: tantivy.Index, brought_by: dict[int, int], until: int) -> None:
        if alerts.active(self._db):
            self._alerting.match(index, brought_by, until)

    @cached_property
    def _alerting(self) -> Alerting:
        from gossamer.alerts.alerting import Alerting  # the whole search, which an indexer without alerts spares

        index = self._generations.tantivy(self.generation)
        return Alerting(self._db, index, str(self._cut), self._clock, self._search)

    def _current_pages(self, segment: changes.NewSegment) -> list[IndexPage]:
        try:
            return self._completed([page for page in self._rows.documents(segment) if self._holds(page.url)])
        except CorruptError as error:
            log.error("pages are missing from the index: %s", error)
            return []

    def _completed(self, pages: Sequence[IndexPage]) -> list[IndexPage]:
        """The pages with the texts of links to them, and with a category if they were stored before there were any."""
        texts = self._anchors.texts_of([page.key for page in pages])
        found = []
        for page in pages:
            category = page.category or self._categorise(page.title, page.text)[0]
            found.append(msgspec.structs.replace(page, anchors=texts.get(page.key, ()), category=category))
        return found

    def _gone(self, departed: Sequence[tuple[int, int]]) -> set[int]:
        """Of the URLs that left, those that did not come back."""
        sites: dict[int, list[int]] = defaultdict(list)
        for site_id, key in departed:
            sites[site_id].append(key)
        return {
            key
            for site_id, keys in sites.items()
            for key in set(keys) - changes.documents(self._db, site_id, keys).keys()
        }

    def _read_links(self, segments: Iterable[changes.NewSegment]) -> None:
        for segment in segments:
            self._read_links_of(segment.id)

    def _read_links_of(self, segment: str) -> None:
        """Find the segment even if it is merged into another one meanwhile."""
        for _ in range(_LINKS_TRIED):
            place = place_of(self._db, segment, 0)
            if place is None or place[0] in self._links_read or self._add_links(place[0]):
                return
        log.error("anchor texts are missing from the index: segment %s is not in its place", segment)

    def _holds(self, url: str) -> bool:
        return self._cut.is_whole or self._cut.holds(key64(url))

    def _read_all_links(self) -> None:
        for name in segment_ids(self._db):
            self._read_links_of(name)

    def _add_links(self, name: str) -> bool:
        """Add the anchor texts of a segment; False if it is gone. A repetition changes nothing, only takes time."""
        sites = set(site_names(self._db))
        try:
            self._anchors.add(
                link for link in self._rows.links(name) if site_of(link[0]) in sites and self._holds(link[0])
            )
        except SegmentMissingError:
            return False
        except CorruptError as error:
            log.error("anchor texts are missing from the index: %s", error)
        if len(self._links_read) > _LINKS_REMEMBERED:
            self._links_read.clear()
        self._links_read.add(name)
        return True


def _first(segments: Sequence[changes.NewSegment], pages: int) -> list[changes.NewSegment]:
    """The first segments that together have this many pages."""
    taken = []
    for segment in segments:
        taken.append(segment)
        pages -= segment.pages
        if pages <= 0:
            break
    return taken


def _fits(generations: IndexFolder, generation: str, db: Database, cut: Cut) -> bool:
    """Whether a generation can be continued: of this version and crawl, not ahead of it nor too far behind."""
    folder = generations.tantivy(generation)
    try:
        payload = commits.read(folder).payload
    except commits.IndexVersionError:
        return False
    commits.check_cut(folder, payload, cut)
    followed = forgetting.forgotten(db) <= payload.position <= changes.last_change(db)
    return payload.crawl == crawl_id(db) and followed
