"""Segments that never counted, and who may remove them."""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

from gossamer.store import layout
from gossamer.store.segment_folder import Segments


class Found(NamedTuple):
    """The segments that are stored, whether they count or not."""

    published: list[str]
    unfinished: list[str]


def survey(segments: Segments) -> Found:
    """The stored segments. Only afterwards ask the database which of them count: see `delete_orphans`."""
    return Found(segments.ids(), segments.unfinished())


def delete_orphans(
    segments: Segments,
    found: Found,
    known_ids: Set[str],
    live_workers: Set[str],
    *,
    dead_workers: Set[str] = frozenset(),
    older_than: float = 0.0,
    now: float = 0.0,
) -> list[str]:
    """Remove segments that never counted; returns those that are gone.

    `known_ids` are the segments with files of their own, not those merged into another. Read them and the workers
    *after* the
    survey: a segment that is committed in between is then known, and one that is begun in between was not found.
    `older_than`
    are seconds by which a segment must be older than `now`, unless its worker is one of `dead_workers`, who can commit
    no
    more."""

    def is_orphan(name: str) -> bool:
        age = 0.0 if layout.worker_of(name) in dead_workers else older_than
        return layout.is_orphan(name, live_workers, age, now)

    gone = [name for name in found.published if name not in known_ids and is_orphan(name) and segments.discard(name)]
    gone += [name for name in found.unfinished if is_orphan(name) and segments.discard_unfinished(name)]
    return sorted(set(gone))
