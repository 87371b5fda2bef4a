"""The visits to a URL, and what its newest stored one brought: read from the segments, for a while and not for ever.

Visits that brought nothing store nothing; of those the table knows the last. Of a page that was taken down only times
and outcomes are told.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from gossamer.data.folder import DataFolder
from gossamer.data.raw_pages import StoredPage, html_of
from gossamer.database.database import Database
from gossamer.errors import CorruptError
from gossamer.frontier.views.inspect import UrlRecord, place_of, segment_ids
from gossamer.model.outcome import Outcome
from gossamer.model.records import PageRow
from gossamer.parse.limits import ParseLimits
from gossamer.store.durable import SegmentMissingError
from gossamer.store.segments import read_page
from gossamer.store.versions import versions

MOST_VISITS = 100
MOST_TEXT = 20_000
"""Characters of a text that are shown."""
MOST_SOURCE = 100_000
_SAME = 1.0
"""Seconds within which a stored visit is the one that the table tells of."""


class Fetch(msgspec.Struct, frozen=True):
    """One visit."""

    at: float
    outcome: str
    status: int
    sentence: str
    """What the outcome means, and what else was said."""
    duration: float | None = None
    size: int | None = None
    address: str = ""
    segment: str = ""
    row: int = 0
    is_error: bool = False


class Fetches(msgspec.Struct, frozen=True):
    """The visits, the newest first."""

    visits: list[Fetch]
    is_complete: bool
    """Whether all segments were looked through."""
    problem: str = ""


class Extracted(msgspec.Struct, frozen=True):
    """What a stored visit brought."""

    page: PageRow
    text: str
    text_cut: bool
    source: str
    """The page as it came, as text; empty where it is not archived."""
    source_cut: bool


def fetches(
    folder: DataFolder, ids: list[str], url: str, record: UrlRecord | None, go_on: Callable[[], bool]
) -> Fetches:
    """The visits that are found while `go_on` says so; `ids` are the segments that count, the oldest first."""
    found: list[Fetch] = []
    is_complete, problem = True, ""
    for segment in reversed(ids):
        if not go_on() or len(found) > MOST_VISITS:
            is_complete = False
            break
        try:
            stored = versions(folder.segments, [segment], url)
        except CorruptError as error:  # damaged, or merged into another meanwhile
            problem = str(error)
            continue
        found += [_fetch(one.page, segment, one.row) for one in stored]
    last = _last(record, found)
    visits = sorted([*found, *([last] if last else [])], key=lambda one: one.at, reverse=True)
    return Fetches(visits[:MOST_VISITS], is_complete, problem)


def _fetch(page: PageRow, segment: str, row: int) -> Fetch:
    return Fetch(
        page.fetched_at, page.outcome, page.status, _sentence(page.outcome, page.reason), page.duration, page.size,
        page.address, segment, row, _is_error(page.outcome),
    )  # fmt: skip


def _last(record: UrlRecord | None, found: list[Fetch]) -> Fetch | None:
    """The visit that the table tells of, where nothing was stored of it."""
    if record is None or record.fetched_at is None:
        return None
    if any(abs(one.at - record.fetched_at) <= _SAME for one in found):
        return None
    outcome = record.outcome or ""
    return Fetch(
        record.fetched_at, outcome, record.status or 0, _sentence(outcome, record.reason or ""),
        is_error=_is_error(outcome),
    )  # fmt: skip


def _sentence(outcome: str, reason: str) -> str:
    try:
        meaning = Outcome(outcome).meaning.sentence
    except ValueError:
        meaning = ""
    return f"{meaning}: {reason}" if meaning and reason and meaning not in reason else reason or meaning


def _is_error(outcome: str) -> bool:
    try:
        return Outcome(outcome).meaning.error
    except ValueError:
        return False


def extracted(folder: DataFolder, db: Database, record: UrlRecord, limits: ParseLimits) -> Extracted | None:
    """What the visit brought that counts; None where nothing is stored."""
    for _ in range(3):
        if record.segment is None or record.segment_row is None:
            return None
        place = place_of(db, record.segment, record.segment_row)
        if place is None:
            return None
        try:
            page = read_page(folder.segments, *place)
        except SegmentMissingError:  # merged meanwhile
            continue
        return _extracted(folder, page, place[0], limits)
    return None


def _extracted(folder: DataFolder, page: PageRow, segment: str, limits: ParseLimits) -> Extracted:
    stored = StoredPage(page.url, "", "", "", segment, page.warc_offset, page.warc_length)
    try:
        source = html_of(folder, stored, limits) or ""
    except CorruptError as error:
        source = f"({error})"
    text = page.text or ""
    return Extracted(page, text[:MOST_TEXT], len(text) > MOST_TEXT, source[:MOST_SOURCE], len(source) > MOST_SOURCE)


def counting_segments(db: Database) -> list[str]:
    """The segments that count, the oldest first."""
    return segment_ids(db)
