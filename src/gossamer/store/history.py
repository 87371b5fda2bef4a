"""The history of a page: its stored visits, and the changes between two of them.

Old visits are found by scanning the segments (`versions`), which takes longer the more was crawled. So the newest
segments
come first, and a caller that cannot wait sets a deadline: visits not found by then are missing at the old end, and the
history says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gossamer.store.segment_folder import Segments
from gossamer.store.segments import read_page
from gossamer.store.versions import versions
from gossamer.store.visits import Comparison, PageVisit, compare_pages, visit

MAX_VISITS = 500
"""Visits that a history lists, the newest."""


def read_history(
    segments: Segments, ids: Iterable[str], url: str, go_on: Callable[[], bool] = lambda: True
) -> tuple[list[PageVisit], bool]:
    """The visits of a canonical URL, the newest first, and whether those are all; `ids` from the newest segment on."""
    found: list[PageVisit] = []
    is_complete = True
    for segment in ids:
        if not go_on():
            is_complete = False
            break
        found += [visit(one.page, one.segment, one.row) for one in versions(segments, [segment], url)]
    found.sort(key=lambda one: (one.fetched_at, one.segment, one.row), reverse=True)
    return found[:MAX_VISITS], is_complete and len(found) <= MAX_VISITS


def compare(segments: Segments, older: PageVisit, newer: PageVisit) -> Comparison:
    """What changed from one stored visit to another."""
    old, new = (read_page(segments, one.segment, one.row) for one in (older, newer))
    return compare_pages(older, newer, old, new)
