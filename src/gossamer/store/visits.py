"""The visits of a page and the changes between two of them: values, apart from the segments they come from."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gossamer.dedup.difference import Difference, difference
from gossamer.model.records import PageRow

_FACTS = ("title", "date", "updated", "author", "page_type", "category")
"""What is compared beside the text."""


class PageVisit(msgspec.Struct, frozen=True, kw_only=True):
    """One stored visit, without its text."""

    fetched_at: float
    """Seconds since 1970; identifies it among the visits of the page."""
    outcome: str
    status: int
    reason: str = ""
    title: str = ""
    characters: int | None = None
    """Length of the text; None if there is none."""
    cluster: int | None = None
    """Number of its near-duplicate cluster."""
    segment: str = ""
    row: int = 0

    @property
    def has_text(self) -> bool:
        """Whether it can be compared."""
        return self.characters is not None


class FactChange(msgspec.Struct, frozen=True):
    """A change of the title, date or another fact; empty if the page did not state it."""

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
    """Whether all segments were scanned."""
    comparison: Comparison | None = None


def visit(page: PageRow, segment: str = "", row: int = 0) -> PageVisit:
    """A stored visit without its text."""
    return PageVisit(
        fetched_at=page.fetched_at, outcome=page.outcome, status=page.status, reason=page.reason,
        title=page.title or "", characters=None if page.text is None else len(page.text), cluster=page.cluster,
        segment=segment, row=row,
    )  # fmt: skip


def newest_two(visits: Sequence[PageVisit]) -> tuple[PageVisit, PageVisit] | None:
    """The two newest visits that have a text, the older one first."""
    texts = [one for one in visits if one.has_text][:2]
    return (texts[1], texts[0]) if len(texts) == 2 else None


def compare_pages(older: PageVisit, newer: PageVisit, old: PageRow, new: PageRow) -> Comparison:
    """What changed from one page to another."""
    said = [(name, getattr(old, name) or "", getattr(new, name) or "") for name in _FACTS]
    facts = tuple(FactChange(*one) for one in said if one[1] != one[2])
    return Comparison(older, newer, facts, difference(old.text or "", new.text or ""))
