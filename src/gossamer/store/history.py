"""The history of a page: its stored visits, and what changed between two of them.

Old visits are found by looking through the segments (`versions`), which takes longer the more was crawled. So the
newest segments come first, and whoever cannot wait gives a deadline: what was not looked through by then is missing
at the old end, and the history says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from gossamer.dedup.difference import Difference, difference
from gossamer.model.records import PageRow
from gossamer.store.segment_folder import Segments
from gossamer.store.segments import read_page
from gossamer.store.versions import versions

MAX_VISITS = 500
"""Visits that a history lists, the newest."""
_FACTS = ("title", "date", "updated", "author", "page_type", "category")
"""What is compared beside the text."""


class PageVisit(msgspec.Struct, frozen=True, kw_only=True):
    """One stored visit, without its text."""

    fetched_at: float
    """Seconds since 1970; tells it from the other visits of the page."""
    outcome: str
    status: int
    reason: str = ""
    title: str = ""
    characters: int | None = None
    """Length of the text; None where there is none."""
    cluster: int | None = None
    """Number of its near-duplicate cluster."""
    segment: str = ""
    row: int = 0

    @property
    def has_text(self) -> bool:
        """Whether it can be compared."""
        return self.characters is not None


class FactChange(msgspec.Struct, frozen=True):
    """Something about the page that was said differently; empty where nothing was said."""

    name: str
    old: str
    new: str


class Comparison(msgspec.Struct, frozen=True):
    """What changed between two visits."""

    older: PageVisit
    newer: PageVisit
    facts: tuple[FactChange, ...]
    text: Difference

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed."""
        return not self.facts and self.text.is_empty


class History(msgspec.Struct, frozen=True):
    """The stored visits of a page, the newest first."""

    url: str
    visits: tuple[PageVisit, ...]
    is_complete: bool = True
    """Whether all segments were looked through."""
    comparison: Comparison | None = None


def visit(page: PageRow, segment: str = "", row: int = 0) -> PageVisit:
    """A stored visit without its text."""
    return PageVisit(
        fetched_at=page.fetched_at, outcome=page.outcome, status=page.status, reason=page.reason,
        title=page.title or "", characters=None if page.text is None else len(page.text), cluster=page.cluster,
        segment=segment, row=row,
    )  # fmt: skip


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


def newest_two(visits: Sequence[PageVisit]) -> tuple[PageVisit, PageVisit] | None:
    """The two newest visits that have a text, the older one first."""
    texts = [one for one in visits if one.has_text][:2]
    return (texts[1], texts[0]) if len(texts) == 2 else None


def compare(segments: Segments, older: PageVisit, newer: PageVisit) -> Comparison:
    """What changed from one stored visit to another."""
    old, new = (read_page(segments, one.segment, one.row) for one in (older, newer))
    return compare_pages(older, newer, old, new)


def compare_pages(older: PageVisit, newer: PageVisit, old: PageRow, new: PageRow) -> Comparison:
    """What changed from one page to another."""
    said = [(name, getattr(old, name) or "", getattr(new, name) or "") for name in _FACTS]
    facts = tuple(FactChange(*one) for one in said if one[1] != one[2])
    return Comparison(older, newer, facts, difference(old.text or "", new.text or ""))
