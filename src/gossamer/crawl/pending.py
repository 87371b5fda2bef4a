"""Results that a worker has fetched and not committed yet, and their commit.

First the files are written and synced, then one transaction makes them count. A crash in between leaves an orphan
folder that recovery deletes, and URLs that are still in the queue. If the connection to the database is lost, the
transaction may run again with other verdicts: the pages are then written again, and nothing of the first attempt is
left.

Raw responses of copies are not stored: a site may have a hundred aliases for each page, with a body each, and a copy is
fetched again before it can become a document. But raw responses are written before the transaction, and only the
transaction knows the copies. So the frontier is asked first which visits will most likely be copies, and these are left
out. If the transaction then keeps one of them, the archive is written once more, complete.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gossamer.errors import DatabaseError
from gossamer.frontier.contract import Batch, Frontier, SiteReport, Verdict, Visit
from gossamer.model.records import Discovered, Link, PageRow, Response
from gossamer.model.site import key64
from gossamer.store.layout import new_segment_id
from gossamer.store.segment_folder import Segments
from gossamer.store.segments import SegmentWriter

_LINK_BYTES = 300
"""Memory of a link or a new URL: a page of 5,000 links weighs more than its body."""


class Result(msgspec.Struct):
    """A visit with everything to store of it."""

    visit: Visit
    row: PageRow | None = None
    response: Response | None = None
    links: Sequence[Link] = ()
    found: Sequence[Discovered] = ()
    found_keys: Sequence[int] = ()
    beyond: Discovered | None = None
    """The target of its redirect, if that is on a host outside the crawl."""


class Pending:
    """Results waiting for the next commit."""

    def __init__(self) -> None:
        self.results: list[Result] = []
        self.bytes = 0
        self.robots: dict[str, bytes] = {}
        self.found: list[Discovered] = []
        """URLs that no page led to: the sitemaps named by robots.txt."""

    def add(self, result: Result) -> None:
        """Keep a result until the next commit."""
        self.results.append(result)
        self.bytes += _LINK_BYTES * (len(result.links) + len(result.found))
        if result.response is not None:
            self.bytes += len(result.response.body) + len(result.response.wire_body)

    def __bool__(self) -> bool:
        return bool(self.results or self.robots or self.found)


class Reporter:
    """Reports pending results to the frontier; subclasses store them."""

    def __init__(self, frontier: Frontier, worker: str) -> None:
        self._frontier = frontier
        self._worker = worker
        self._count = 0
        self.best_new: dict[int, int] = {}
        """The best level into which the last commit put new URLs, by the key of their site."""

    def commit(
        self,
        pending: Pending,
        sites: Sequence[SiteReport],
        addresses: Sequence[tuple[str, float]],
        now: float,
    ) -> list[Verdict]:
        """Store and report; raises without having changed anything."""
        # Parsers finish in any order; of two equal texts the one fetched first is the document.
        pending.results.sort(key=lambda result: result.visit.at)
        stored = [result for result in pending.results if result.row is not None]
        for place, result in enumerate(stored):
            result.visit.row = place
        batch = Batch(
            segment=new_segment_id(self._worker, now, self._count),
            visits=[result.visit for result in pending.results],
            sites=list(sites),
            addresses=list(addresses),
            robots=list(pending.robots.items()),
        )
        batch.found, batch.found_keys = _found(pending)
        batch.beyond = [result.beyond for result in pending.results if result.beyond is not None]
        self._count += 1
        if stored:
            verdicts = self.store(batch, pending.results, stored, now)
        else:
            verdicts = self._frontier.report(self._worker, batch, now)
        self.best_new = self._frontier.best_new
        return verdicts

    def store(self, batch: Batch, results: list[Result], stored: list[Result], now: float) -> list[Verdict]:
        """Store the results that have a row, and report all."""
        raise NotImplementedError


class Committer(Reporter):
    """Writes pending results as segments; runs in the worker's database thread."""

    def __init__(
        self, frontier: Frontier, segments: Segments, worker: str, archive: bool, info: dict[str, str]
    ) -> None:
        super().__init__(frontier, worker)
        self._segments = segments
        self._archive = archive
        self._info = info

    def store(self, batch: Batch, results: list[Result], stored: list[Result], now: float) -> list[Verdict]:
        """Write a segment of the results that have a row, and report."""
        left_out = self._likely_copies(results) if self._archive else set()
        writer = SegmentWriter(self._segments, batch.segment, archive=self._archive)
        try:
            writer.write_links([(r.visit.task.url, r.visit.at, r.links) for r in stored if r.links])
            self._write_raw(writer, stored, left_out, now)

            def write_pages(verdicts: list[Verdict]) -> None:
                rows = []
                kept = {id(result) for result, verdict in zip(results, verdicts, strict=True) if _archived(verdict)}
                if left_out & kept:
                    left_out.clear()
                    self._write_raw(writer, stored, left_out, now)
                for result, verdict in zip(results, verdicts, strict=True):
                    if result.row is not None:
                        rows.append(_judged(result.row, verdict, result.visit.reason))
                writer.write_pages(rows)
                writer.sync()
                batch.bytes_stored = writer.bytes

            return self._frontier.report(self._worker, batch, now, write_pages)
        except DatabaseError:
            # The connection may have been lost after the commit: only recovery, which asks the database, may decide
            # that the segment does not count.
            raise
        except BaseException:
            writer.abandon()
            raise

    def _likely_copies(self, results: list[Result]) -> set[int]:
        """The identities of the results whose raw response is probably not to be kept."""
        foreseen = self._frontier.foresee([result.visit for result in results])
        return {id(result) for result, is_copy in zip(results, foreseen, strict=True) if is_copy}

    def _write_raw(self, writer: SegmentWriter, stored: list[Result], left_out: set[int], now: float) -> None:
        archived = [
            r for r in stored
            if r.response is not None and id(r) not in left_out and not r.visit.outcome.meaning.unarchived
        ]  # fmt: skip
        responses = [r.response for r in archived if r.response is not None]
        for result, place in zip(archived, writer.write_archive(responses, now, self._info), strict=True):
            if place is not None and result.row is not None:
                result.row.warc_offset, result.row.warc_length = place


def _archived(verdict: Verdict) -> bool:
    return not (verdict.outcome.meaning.unarchived or verdict.outcome.meaning.refusal)


def _judged(row: PageRow, verdict: Verdict, reason: str) -> PageRow:
    """The row to store; a copy, because another attempt may come to another verdict."""
    judged = msgspec.structs.replace(
        row,
        outcome=verdict.outcome.value,
        reason=reason,
        target=verdict.target or None,
        cluster=verdict.cluster,
        joined=verdict.joined,
    )
    if verdict.outcome.meaning.forgets:
        judged.text = judged.headings = judged.description = None
    return judged


def _found(pending: Pending) -> tuple[list[Discovered], list[int]]:
    found = list(pending.found)
    keys = [key64(item.url) for item in found]
    for result in pending.results:
        found.extend(result.found)
        keys.extend(result.found_keys)
    return found, keys
