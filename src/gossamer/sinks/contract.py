"""What a sink is."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Protocol

import msgspec

from gossamer.api.changes import Change, position_of
from gossamer.errors import OperationError


class SinkError(OperationError):
    """A sink cannot take pages now; the same part may be tried again."""


class Mark(msgspec.Struct, frozen=True):
    """How far a sink is."""

    crawl: str
    """Which crawl it follows."""
    position: str
    """The place in the crawl's changes behind which it goes on."""


class Sink(Protocol):
    """A system that is kept in step; used from one thread."""

    at_once: int
    """Most changes of one part."""
    to_start_over: str
    """What a person does to begin anew, as an imperative."""

    def mark(self) -> Mark | None:
        """How far it is; None for one that never took anything."""
        ...

    def take(self, changes: Sequence[Change], mark: Mark) -> None:
        """Take a part, then keep the mark; each URL is in it once. A `SinkError` if it cannot: some of the part may
        have been taken."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


def id_of(url: str) -> str:
    """A URL as an id of hexadecimal digits."""
    return blake2b(url.encode(), digest_size=16).hexdigest()


def version_of(position: str) -> int:
    """A number that grows with the position: what is newer wins."""
    at = position_of(position)
    return (at.number << 20) + at.entries


def document_of(change: Change) -> dict[str, Any]:
    """A page as a document: the fields of `gossamer.Page` and its Markdown; of one that left, no more than its URL."""
    head = {"kind": change.kind, "change": change.number, "position": change.position}
    if change.page is None:
        return {**head, "url": change.url}
    return {**head, **change.page.as_dict(markdown=True)}
