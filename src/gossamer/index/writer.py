"""Writes batches of pages to an index, and keeps its segments few.

A batch is written as a new segment in a scratch folder, the old versions of its pages are marked deleted in copies of
the
segments that hold them, and then one commit makes all of it count, together with the new position. A thread merges
meanwhile; documents deleted while it runs are deleted from its result before that counts.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from pathlib import Path

import msgspec
import tantivy

from gossamer.index import commits, custom, extras, schema
from gossamer.index.commits import Commit, Payload, Segment
from gossamer.index.merging import merge, plan
from gossamer.model.fields import CustomFields

log = logging.getLogger(__name__)

_HEAP = 200_000_000
_HANDED_OVER = 500
"""Documents that the library gets at once: it is woken for each time, which costs a tenth of its work if it is one."""
_SMALL_HEAP = 15_000_000
_AT_ONCE = 7
"""Segments in one scratch folder for deletions: from eight on the library would merge them."""


class IndexWriter:
    """The one writer of an index folder."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        self._folder, self._scratch = folder, scratch
        shutil.rmtree(scratch, ignore_errors=True)
        with commits.storing(folder):
            scratch.mkdir(parents=True)
        self._numbers = count()
        self._commit = commits.read(folder)
        self._opstamp = self._commit.opstamp
        if lacking := extras.missing(self._commit.payload.extras):
            log.warning("%s: %s", extras.complaint(lacking), extras.remedy(lacking))
        with commits.checking(folder):
            self._index = schema.prepare(tantivy.Index.open(str(folder)))
            self._index.config_reader(reload_policy="manual")
        commits.collect_garbage(folder, self._commit)
        self._threads = ThreadPoolExecutor(1, "index-merge")
        self._merging: _Merging | None = None
        self.rewritten = 0
        """Documents copied by merges so far."""

    @property
    def position(self) -> int:
        """The position of the last commit."""
        return self._commit.payload.position

    @property
    def extras(self) -> tuple[str, ...]:
        """The analysers that documents go through: those that the index was built with and that are installed."""
        return extras.usable(self._commit.payload.extras)

    @property
    def fields(self) -> CustomFields:
        """The operator's own fields that the index has."""
        return self._commit.payload.fields

    def has_fields(self, wanted: CustomFields) -> bool:
        """Give the index these fields of the operator's own; False if it has no room for them and must be rebuilt."""
        payload = self._commit.payload
        fields, slots = custom.assigned(wanted, payload.fields, payload.slots)
        if slots > custom.SLOTS:
            return False
        if fields != payload.fields:
            self._publish(self._commit.segments, msgspec.structs.replace(payload, fields=fields, slots=slots))
        return True

    @property
    def segments(self) -> int:
        """How many segments there are."""
        return len(self._commit.segments)

    def searcher(self) -> tantivy.Searcher:
        """Reads the last commit."""
        return self._index.searcher()

    def find(self, keys: Sequence[int]) -> list[schema.StoredDocument]:
        """The stored values of pages with these keys, as far as there are any."""
        searcher = self.searcher()
        query = tantivy.Query.term_set_query(self._index.schema, schema.KEY, list(keys))
        with commits.checking(self._folder):
            hits = searcher.search(query, len(keys), count=False).hits
            return [schema.decode(searcher.doc(address)) for _, address in hits]

    def begin(self) -> Batch:
        """Documents to be applied; the library indexes them while more come."""
        return Batch(self._folder, self._new_scratch())

    def apply(
        self, documents: Mapping[int, tantivy.Document] | Batch, gone: Collection[int], position: int, now: float,
        look: Callable[[tantivy.Index], object] = lambda index: None,
    ) -> None:  # fmt: skip
        """Add or replace documents by key, remove those `gone`, and note the position: all or nothing. `look` is called
        with an index of the new documents alone, if there are any, before any of it counts."""
        batch = documents if isinstance(documents, Batch) else self.begin()
        if not isinstance(documents, Batch):
            for key, document in documents.items():
                batch.add(key, document)
        place = batch.finish(look)
        added = self._take_in(place) if place is not None else []
        kept = self._without(self._commit.segments, {*batch.keys, *gone}, self._folder)
        payload = msgspec.structs.replace(self._commit.payload, position=position, committed_at=now)
        self._publish([*kept, *added], payload)
        if self._merging is not None:
            self._merging.deleted |= {*batch.keys, *gone}
        self.merge_some()

    def merge_some(self, wait: bool = False) -> bool:
        """Let a finished merge count and start the next one; returns whether one is running."""
        while True:
            if self._merging is not None and (wait or self._merging.result.done()):
                self._finish_merge(self._merging)
            if self._merging is None:
                self._start_merge()
            if self._merging is None or not wait:
                return self._merging is not None

    def close(self) -> None:
        """Stop; a running merge is awaited and thrown away."""
        self._threads.shutdown(wait=True)
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _without(self, segments: Sequence[Segment], keys: Collection[int], source: Path) -> list[Segment]:
        """The segments with the documents of these keys deleted."""
        holders = self._holders(keys) if source == self._folder else set(range(len(segments)))
        if not holders:
            return list(segments)
        affected = [segments[position] for position in sorted(holders)]
        left: dict[str, Segment | None] = {segment.segment_id: segment for segment in segments}
        left |= {segment.segment_id: None for segment in affected}
        for start in range(0, len(affected), _AT_ONCE):
            left |= self._delete(affected[start : start + _AT_ONCE], keys, source)
        return [segment for segment in left.values() if segment is not None and segment.alive]

    def _holders(self, keys: Collection[int]) -> set[int]:
        """Positions of the segments that hold one of the keys."""
        if not keys or not self._commit.segments:
            return set()
        query = tantivy.Query.term_set_query(self._index.schema, schema.KEY, list(keys))
        with commits.checking(self._folder):
            hits = self.searcher().search(query, limit=len(keys), count=False).hits
        return {address.segment_ord for _, address in hits}

    def _delete(self, segments: Sequence[Segment], keys: Collection[int], source: Path) -> dict[str, Segment]:
        """The remains of segments, by id; the library leaves out one without documents."""
        place = self._new_scratch()
        commits.copy(self._commit, segments, source, place)
        with commits.checking(source):
            writer = schema.prepare(tantivy.Index.open(str(place))).writer(_SMALL_HEAP, 1)
            for key in keys:
                writer.delete_documents_by_term(schema.KEY, key)
            writer.commit()
            writer.wait_merging_threads()
        return {segment.segment_id: segment for segment in self._take_in(place)}

    def _take_in(self, place: Path) -> list[Segment]:
        """Move files from a scratch folder to the index, where they do not count yet."""
        commit = commits.read(place)
        commits.link(commit.segments, place, self._folder)
        shutil.rmtree(place, ignore_errors=True)
        self._opstamp = max(self._opstamp, commit.opstamp)
        return list(commit.segments)

    def _publish(self, segments: Sequence[Segment], payload: Payload) -> None:
        old = self._commit
        opstamp = max(self._opstamp, old.opstamp) + 1
        new = Commit(tuple(segments), opstamp, payload, old.settings, old.fields)
        commits.write(self._folder, new)
        with commits.checking(self._folder):
            self._index.reload()
        self._commit = new
        commits.collect_garbage(self._folder, new)

    def _start_merge(self) -> None:
        groups = plan([(segment.max_doc, segment.alive) for segment in self._commit.segments])
        if not groups:
            return
        members = [self._commit.segments[position] for position in groups[0]]
        place = self._new_scratch()
        commits.copy(self._commit, members, self._folder, place)
        result = self._threads.submit(merge, place)
        self._merging = _Merging(members, place, result)

    def _finish_merge(self, merging: _Merging) -> None:
        self._merging = None
        try:
            merged = merging.result.result()
            if merging.deleted:
                merged = self._without(merged, merging.deleted, merging.place)
            else:
                merged = self._take_in(merging.place)
        finally:
            shutil.rmtree(merging.place, ignore_errors=True)
        old = {segment.segment_id for segment in merging.members}
        kept = [segment for segment in self._commit.segments if segment.segment_id not in old]
        self.rewritten += sum(segment.alive for segment in merged)
        self._publish([*kept, *merged], self._commit.payload)

    def _new_scratch(self) -> Path:
        return self._scratch / str(next(self._numbers))


class Batch:
    """Documents of one commit, written as new segments in a scratch folder."""

    def __init__(self, folder: Path, place: Path) -> None:
        self._folder, self._place = folder, place
        self._index: tantivy.Index | None = None
        self._writer: tantivy.IndexWriter | None = None
        self._waiting: list[tuple[int, tantivy.Document, bool]] = []
        """Each with its key, and whether it replaces another one."""
        self.keys: set[int] = set()

    def add(self, key: int, document: tantivy.Document) -> None:
        """Add a document, or replace the one with this key; returns before the library has indexed it."""
        self._waiting.append((key, document, key in self.keys))
        self.keys.add(key)
        if len(self._waiting) >= _HANDED_OVER:
            self._hand_over()

    def _hand_over(self) -> None:
        with commits.checking(self._folder):
            writer = self._writer or self._open()
            for key, document, again in self._waiting:
                if again:
                    writer.delete_documents_by_term(schema.KEY, key)
                writer.add_document(document)
        self._waiting.clear()

    def finish(self, look: Callable[[tantivy.Index], object]) -> Path | None:
        """The folder with all documents; None if there are none."""
        if self._waiting:
            self._hand_over()
        if self._writer is None or self._index is None:
            return None
        with commits.checking(self._folder):
            self._writer.commit()
            self._writer.wait_merging_threads()
        look(self._index)
        return self._place

    def _open(self) -> tantivy.IndexWriter:
        with commits.storing(self._folder):
            self._place.mkdir()
        self._index = schema.prepare(tantivy.Index(schema.build(), str(self._place)))
        self._writer = self._index.writer(_HEAP, 1)
        return self._writer


class _Merging:
    """A running merge, and the deletions meanwhile."""

    def __init__(self, members: list[Segment], place: Path, result: Future[list[Segment]]) -> None:
        self.members, self.place, self.result = members, place, result
        self.deleted: set[int] = set()
