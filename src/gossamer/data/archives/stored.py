"""The raw responses of a crawl, one after the other, for whoever writes them elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import NamedTuple

from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.data.holding import held
from gossamer.database.database import Database
from gossamer.errors import CorruptError, GossamerError, OperationError
from gossamer.frontier.steering.removals import covered
from gossamer.frontier.views import inspect
from gossamer.store import layout
from gossamer.store.archive import Record, iter_records

Lost = dict[str, CorruptError]
"""Segments that could not be read, or not whole, and why."""


class Stored(NamedTuple):
    """A raw response and its segment."""

    segment: str
    record: Record


def stored_responses(folder: DataFolder, db: Database, lost: Lost | None = None) -> Iterator[Stored]:
    """All raw responses that hold a body, in the order in which they were stored; none of a page that was taken down.
    A 304 is left out: it says no more than that the page before it still holds."""
    out, done = covered(db), 0
    with ExitStack() as stack:
        are_kept: Callable[[], bool] = _nobody_merges
        # A process that cannot write here need not fear a merge.
        with suppress(GossamerError):
            are_kept = stack.enter_context(held(folder, SystemClock(), lambda: done))
        for segment in inspect.segment_ids(db):
            if folder.segments.size(segment, layout.RESPONSES) is None and folder.segments.size(segment, layout.PAGES):
                continue  # the crawl kept no archive then
            try:
                for record in iter_records(folder.segments.file(segment, layout.RESPONSES)):
                    done += 1
                    if record.headers.get("warc-type") == "response" and not out(record.url):
                        yield Stored(segment, record)
            except CorruptError as error:
                if not are_kept():
                    raise OperationError(
                        f"the export stopped for so long that segment {segment} was merged into another: run it again"
                    ) from error
                if lost is None:
                    raise
                lost[segment] = error


def _nobody_merges() -> bool:
    return True
