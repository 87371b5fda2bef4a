"""The groups of a page of results whose results are counted."""

from __future__ import annotations

import msgspec


class Crowd(msgspec.Struct, frozen=True):
    """Groups by number."""

    field: str = ""
    """Of the index, whose values they are."""
    numbers: tuple[int, ...] = ()
    largest: bool = False
    """Whether the largest groups are wanted, since nobody knows yet which are shown."""
