"""A page over time: every stored visit of a URL.

Nothing indexes old visits: the URL column of each segment is scanned, row groups whose bounds exclude the URL are
skipped.
That is linear in the size of the crawl, which is fine for a question that a person asks now and then.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.model.records import PageRow
from gossamer.store.layout import time_of
from gossamer.store.segment_folder import Segments
from gossamer.store.segments import TableFile, open_pages


class Version(msgspec.Struct, frozen=True):
    """One visit, and its place."""

    segment: str
    row: int
    page: PageRow


def versions(segments: Segments, ids: Iterable[str], url: str) -> list[Version]:
    """All visits of a canonical URL in these segments, newest first. A visit whose page was judged again is stored more
    than once: the last time counts."""
    found: list[Version] = []
    for segment_id in ids:
        pages = open_pages(segments, segment_id)
        found += [Version(segment_id, row, pages.page(row)) for row in _rows_of(pages, url)]
    found.sort(key=lambda version: (version.page.fetched_at, time_of(version.segment), version.row))
    return list({version.page.fetched_at: version for version in found}.values())[::-1]


def _rows_of(pages: TableFile, url: str) -> list[int]:
    rows: list[int] = []
    for group, start in enumerate(pages.starts[:-1]):
        if pages.may_hold(group, "url", url):
            same = pc.equal(pages.read_group(group, ["url"]).column("url"), pa.scalar(url))
            rows += [start + index for index in pc.indices_nonzero(same).to_pylist()]
    return rows
