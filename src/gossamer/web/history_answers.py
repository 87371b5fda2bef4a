"""What the API answers about the past of a page."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from gossamer.dedup.difference import Change
from gossamer.model.moments import timestamp
from gossamer.store.visits import Comparison, FactChange, History, PageVisit


class ApiVisit(Struct, frozen=True, kw_only=True):
    """A stored visit to a page."""

    fetched_at: Annotated[str | None, Meta(description="Time of the visit, RFC 3339, UTC.")]
    outcome: Annotated[str, Meta(description="Outcome, such as document or not_modified.")]
    status: Annotated[int, Meta(description="HTTP status; 0 if there was no response.")]
    reason: str
    title: str
    characters: Annotated[int | None, Meta(description="Length of the text in characters; null if there is no text.")]
    cluster: Annotated[int | None, Meta(description="Number of the near-duplicate cluster.")]


class ApiComparison(Struct, frozen=True, kw_only=True):
    """What changed between two visits."""

    older: Annotated[str, Meta(description="Time of the older visit.")]
    newer: Annotated[str, Meta(description="Time of the newer visit.")]
    facts: Annotated[tuple[FactChange, ...], Meta(description="Changes other than the text, such as title or date.")]
    changes: Annotated[tuple[Change, ...], Meta(description="Changes of the text, paragraph by paragraph.")]


class HistoryAnswer(Struct, frozen=True, kw_only=True):
    """The stored visits to a page."""

    url: str
    complete: Annotated[bool, Meta(description="False if only the newest part of the crawl was searched.")]
    visits: Annotated[tuple[ApiVisit, ...], Meta(description="Visits, newest first.")]
    comparison: Annotated[ApiComparison | None, Meta(description="Null if fewer than two visits have text.")]


def history_answer(history: History) -> HistoryAnswer:
    """A history for a program."""
    return HistoryAnswer(
        url=history.url, complete=history.is_complete, visits=tuple(_visit_answer(one) for one in history.visits),
        comparison=_comparison_answer(history.comparison) if history.comparison is not None else None,
    )  # fmt: skip


def _visit_answer(visit: PageVisit) -> ApiVisit:
    return ApiVisit(
        fetched_at=timestamp(visit.fetched_at) or None, outcome=visit.outcome, status=visit.status,
        reason=visit.reason, title=visit.title, characters=visit.characters, cluster=visit.cluster,
    )  # fmt: skip


def _comparison_answer(compared: Comparison) -> ApiComparison:
    return ApiComparison(
        older=timestamp(compared.older.fetched_at), newer=timestamp(compared.newer.fetched_at), facts=compared.facts,
        changes=compared.text.changes,
    )  # fmt: skip
