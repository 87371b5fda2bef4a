"""Reads stored responses once more, so that the first pages of a crawl are as good as the last.

A page is parsed when it comes in, by what is known of its site at that moment. When more is known, documents that were
read before are judged again by what is stored of them (`doubt`). Those that may say something else now are parsed again
from the archive, without a request. Those that do are stored anew, in a segment of their own, as the visit that they
were.

Left alone: pages without a stored response (`crawl.archive`, noarchive), and pages whose scripts were run, since what
is stored of those is the shell.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import msgspec

from gossamer.courtesy import return_memory
from gossamer.crawl.again.doubt import doubtful_rows
from gossamer.crawl.parser_config import SiteKnown
from gossamer.crawl.reading import PageParser
from gossamer.crawl.render.choice import RENDERED
from gossamer.crawl.understand import fill_row
from gossamer.data.folder import DataFolder
from gossamer.data.machine import REREADER, helper_name
from gossamer.database.database import Database
from gossamer.dedup.clusters import MIN_CONFIDENCE
from gossamer.dedup.near.contract import NearMethod
from gossamer.errors import DatabaseError, GossamerError
from gossamer.fetch.decode import decode
from gossamer.fetch.limits import Trouble
from gossamer.frontier import rereading
from gossamer.frontier.contract import Verdict, Visit
from gossamer.frontier.knowledge import Learning, learning_of, sites_to_judge_again
from gossamer.frontier.rereading import Again, Judged, Stale
from gossamer.frontier.views.inspect import place_of
from gossamer.model.outcome import Outcome
from gossamer.model.records import Kind, PageRow, Parsed, ParseJob, Response
from gossamer.site.facts import Facts
from gossamer.site.judgement import KnownSite
from gossamer.store.archive import StoredResponse
from gossamer.store.durable import SegmentMissingError
from gossamer.store.layout import new_segment_id
from gossamer.store.segments import SegmentWriter, open_pages, read_page, read_response

log = logging.getLogger(__name__)

_LOOKED_AT, _ROWS = 4_000, 500
"""Pages whose judgements are looked at together, and those whose rows are read together. Pages come by key and are in
all segments, so each time reads most row groups of the site; rows have texts, so they are fewer."""
_BATCH = 100
"""Pages parsed for one transaction."""
_TRIED, _WORTH_IT = 1_000, 0.03
"""Pages that are parsed before the rest is left alone, if fewer than this share of them changed: those of an older
version, of which no judgement is stored. Of the others hardly any is parsed in vain."""


class _Stored(msgspec.Struct, frozen=True):
    """A page as it is stored."""

    stale: Stale
    segment: str
    """Where it is now."""
    row: PageRow


class _Read(msgspec.Struct):
    """A stored page, read again."""

    stale: Stale
    row: PageRow
    response: StoredResponse
    parsed: Parsed

    @property
    def is_changed(self) -> bool:
        """Whether it says something else than before."""
        old, new = self.row, self.parsed
        fields = [one.written for one in new.fields] or None
        return (old.text, old.title, old.page_type, old.lang, old.fields) != (
            new.text, new.title, new.page_type or None, new.language or None, fields,
        )  # fmt: skip


class Rereader:
    """Judges the pages of a data folder again; one process at a time (`data.locks.rereading_lock`)."""

    def __init__(
        self, folder: DataFolder, db: Database, near: NearMethod, parser: PageParser, max_bytes: int,
        now: Callable[[], float],
    ) -> None:  # fmt: skip
        self._folder, self._db, self._near, self._parser = folder, db, near, parser
        self._max_bytes, self._now = max_bytes, now
        self._worker, self._count = helper_name(folder, REREADER), 0

    def run(self, settled: bool = False) -> int:
        """Judge again whatever is stale; returns how many pages were stored anew. `settled`: only of sites of which
        nothing new was learned for a while."""
        settled_at = self._now() if settled else math.inf
        return sum(self._site(site_id) for site_id in sites_to_judge_again(self._db, settled_at))

    def _site(self, site_id: int) -> int:
        """All stale pages of a site; one that is learned anew meanwhile waits for the next time."""
        learning, site = learning_of(self._db, site_id), rereading.site_name(self._db, site_id)
        self._parser.know(SiteKnown(site, learning.version, learning.facts))
        looked_at, parsed, written = 0, 0, 0
        for batch, rows in self._batches(site_id, learning):
            if learning_of(self._db, site_id).version != learning.version:
                break
            if parsed >= _TRIED and written < _WORTH_IT * parsed and not self._parser.fields:
                self._batch(site, learning.version, (), {})
                break
            looked_at, parsed = looked_at + len(batch), parsed + len(rows)
            written += self._batch(site, learning.version, batch, rows)
            return_memory()
        self._parser.know(SiteKnown(site, 0, b""))
        fields = {"site": site, "looked_at": looked_at, "parsed": parsed, "pages": written}
        log.info("judged pages of %s again", site, extra=fields)
        return written

    def _batches(self, site_id: int, learning: Learning) -> Iterator[tuple[Sequence[Stale], Mapping[int, _Stored]]]:
        """The stale pages of a site by key; with each batch, by key, those of it that must be parsed. The last is
        empty."""
        known, after = KnownSite(msgspec.msgpack.decode(learning.facts, type=Facts)), learning.reread
        while after is not None:
            stale = rereading.stale_pages(self._db, site_id, learning.version, after, _LOOKED_AT)
            doubtful = self._doubtful(stale, known)
            for some in _in_batches(stale, doubtful, _ROWS):
                rows = self._rows([one for one in some if one.task.key in doubtful])
                for batch in _in_batches(some, doubtful, _BATCH):
                    yield batch, {one.task.key: rows[one.task.key] for one in batch if one.task.key in rows}
            after = stale[-1].task.key if stale else None

    def _doubtful(self, stale: Sequence[Stale], known: KnownSite) -> set[int]:
        """Keys of the pages that must be parsed."""
        found: set[int] = set()
        for segment, rows in self._by_segment(stale):
            urls = {row: one.task.url for row, one in rows.items()}
            try:
                file = open_pages(self._folder.segments, segment)
                found.update(rows[row].task.key for row in doubtful_rows(file, urls, known, self._parser.fields))
            except GossamerError:
                found.update(one.task.key for one in rows.values())  # whoever parses them finds out
        return found

    def _rows(self, stale: Sequence[Stale]) -> dict[int, _Stored]:
        """The rows of some pages by key, segment by segment: each row group is read once."""
        found: dict[int, _Stored] = {}
        for segment, rows in self._by_segment(stale):
            try:
                for number, row in open_pages(self._folder.segments, segment).pages(rows):
                    found[rows[number].task.key] = _Stored(rows[number], segment, row)
            except SegmentMissingError:
                continue  # merged at this moment: its pages stay as they are
            except GossamerError as error:
                log.warning("cannot read stored pages again: %s", error)
        return found

    def _by_segment(self, stale: Sequence[Stale]) -> list[tuple[str, dict[int, Stale]]]:
        places: dict[str, tuple[str, int] | None] = {}
        segments: dict[str, dict[int, Stale]] = {}
        for one in stale:
            if one.segment not in places:
                places[one.segment] = place_of(self._db, one.segment, 0)
            if (place := places[one.segment]) is not None:
                segments.setdefault(place[0], {})[place[1] + one.row] = one
        return sorted(segments.items())

    def _batch(self, site: str, version: int, stale: Sequence[Stale], rows: Mapping[int, _Stored]) -> int:
        changed = [read for stored in rows.values() if (read := self._read(stored)) is not None and read.is_changed]
        again = Again(site, version, list(stale), [(read.stale, _visit(read, site)) for read in changed])
        if not changed:
            return self._db.patiently(
                lambda: rereading.record_again(self._db, self._near, again, self._now(), lambda _: None)
            )
        again.segment, again.worker = new_segment_id(self._worker, self._now(), self._count), self._worker
        self._count += 1
        return self._store(again, {read.stale.task.key: read for read in changed})

    def _store(self, again: Again, read: dict[int, _Read]) -> int:
        """First the raw responses, then one transaction with the rows."""
        writer = SegmentWriter(self._folder.segments, again.segment)
        try:
            responses = [_response(one) for one in read.values()]
            places = dict(zip(read, writer.write_archive(responses, self._now()), strict=True))
            # Links count only beside the newest row of their page.
            writer.write_links([(one.row.url, one.row.fetched_at, one.parsed.links) for one in read.values()])

            def write_pages(judged: Sequence[Judged]) -> None:
                writer.write_pages([_row(read[visit.task.key], verdict, places) for visit, verdict in judged])
                writer.sync()
                again.bytes_stored = writer.bytes

            written = self._db.patiently(
                lambda: rereading.record_again(self._db, self._near, again, self._now(), write_pages)
            )
        except DatabaseError:
            raise  # it may have been committed: only recovery, which asks the database, may delete it
        except BaseException:
            writer.abandon()
            raise
        if not written:
            writer.abandon()
        return written

    def _read(self, stored: _Stored) -> _Read | None:
        stale, row = stored.stale, stored.row
        if row.url != stale.task.url or row.warc_offset is None or (row.method or "").startswith(RENDERED):
            return None
        try:
            return self._parsed(stale, row, self._response(stored, row.warc_offset, row.warc_length))
        except Trouble:
            return None  # it cannot be decoded any more
        except SegmentMissingError:
            return None  # deleted at this moment: the page stays as it is
        except GossamerError as error:
            log.warning("cannot read stored pages again: %s", error)
            return None

    def _response(self, stored: _Stored, offset: int, length: int | None) -> StoredResponse:
        """The raw response of a page, which may have been merged into another segment since its row was read."""
        segments = self._folder.segments
        try:
            return read_response(segments, stored.segment, offset, length)
        except SegmentMissingError:
            place = place_of(self._db, stored.stale.segment, stored.stale.row)
            if place is None or place[0] == stored.segment:
                raise
            row = read_page(segments, *place)
            if row.warc_offset is None:
                raise
            return read_response(segments, place[0], row.warc_offset, row.warc_length)

    def _parsed(self, stale: Stale, row: PageRow, response: StoredResponse) -> _Read | None:
        parsed = self._parser.read(self._job(stale, response))
        return _Read(stale, row, response, parsed) if parsed.ok and not parsed.noindex else None

    def _job(self, stale: Stale, response: StoredResponse) -> ParseJob:
        named = [(name.lower(), value) for name, value in response.headers]
        encodings = [value for name, value in named if name == "content-encoding"]
        return ParseJob(
            stale.task.url, Kind.PAGE, response.header("content-type"),
            decode(response.wire_body, encodings, self._max_bytes, partial=True),
            [value for name, value in named if name == "x-robots-tag"],
            [value for name, value in named if name == "link"],
        )  # fmt: skip


def _in_batches(stale: Sequence[Stale], doubtful: Collection[int], size: int) -> Iterator[list[Stale]]:
    """Pages in their order, as many as have so many doubtful ones; an empty batch if there are none."""
    batch: list[Stale] = []
    number = 0
    for one in stale:
        batch.append(one)
        number += one.task.key in doubtful
        if number == size:
            yield batch
            batch, number = [], 0
    if batch or not stale:
        yield batch


def _visit(read: _Read, site: str) -> Visit:
    visit, parsed = rereading.visit_again(read.stale, site), read.parsed
    visit.at, visit.status = read.row.fetched_at, read.row.status
    visit.content_hash, visit.fingerprint, visit.near_keys = parsed.content_hash, parsed.fingerprint, parsed.near_keys
    visit.published = parsed.date if parsed.date_confidence >= MIN_CONFIDENCE else ""
    return visit


def _row(read: _Read, verdict: Verdict, places: dict[int, tuple[int, int] | None]) -> PageRow:
    """The row of the visit, with what is read in it now."""
    row = msgspec.structs.replace(
        read.row, outcome=verdict.outcome.value, target=verdict.target or None, cluster=verdict.cluster,
        joined=verdict.joined, new=False,
    )  # fmt: skip
    fill_row(row, read.parsed)
    row.warc_offset, row.warc_length = places[read.stale.task.key] or (None, None)
    if verdict.outcome.meaning.forgets:
        row.text = row.headings = row.description = row.judged = row.fields = row.field_sources = None
    return row


def _response(read: _Read) -> Response:
    """The stored response, to be stored once more beside its new row."""
    at, stored = read.row.fetched_at, read.response
    return Response(
        stored.url, Outcome.DOCUMENT, at, at, at, stored.status, headers=stored.headers, wire_body=stored.wire_body,
        address=read.row.address,
    )  # fmt: skip
