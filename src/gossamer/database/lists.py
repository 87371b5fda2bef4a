"""Helpers for lists in SQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

CHUNK = 256
"""Values in one IN list: under SQLite's old limit of 999 variables."""


def chunks(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Pieces for IN lists, filled up to a power of two by repeating the last value: few lengths mean few prepared
    statements."""
    for start in range(0, len(values), CHUNK):
        piece = values[start : start + CHUNK]
        missing = (1 << (len(piece) - 1).bit_length()) - len(piece)
        yield [*piece, *[piece[-1]] * missing]


def marks(values: Sequence[Any]) -> str:
    """As many placeholders as there are values."""
    return ",".join("?" * len(values))
