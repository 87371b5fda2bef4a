"""Tables of figures, and how each figure is written."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

Cell = str | int | float | None
_DIGITS = 4
"""Significant digits that are shown: 74.36, 0.1915, 1,234."""
_MOST_DECIMALS = 6
_LEAST_DIGITS = 2
"""Significant digits that the smallest figure of a column must have for the column to share its decimals."""


class Table(msgspec.Struct, frozen=True):
    """Figures in rows; floats are shown with as many digits as tell something."""

    name: str
    """Of its files: letters, digits and hyphens."""
    title: str
    columns: tuple[str, ...]
    """Heads, with their units."""
    rows: Sequence[Sequence[Cell]]


def flush_right(table: Table) -> list[bool]:
    """For each column, whether it holds figures only."""
    return [all(not isinstance(cell, str) for cell in column) and bool(column) for column in _columns(table)]


def shown(table: Table) -> list[list[str]]:
    """The cells as text; figures of one column have the same decimals if that is precise enough."""
    columns = [_texts(column) for column in _columns(table)]
    return [list(row) for row in zip(*columns, strict=True)]


def _columns(table: Table) -> list[list[Cell]]:
    return [[row[place] for row in table.rows] for place in range(len(table.columns))]


def _texts(column: Sequence[Cell]) -> list[str]:
    decimals = _shared_decimals([cell for cell in column if isinstance(cell, float) and math.isfinite(cell)])
    return [_text(cell, decimals) for cell in column]


def _shared_decimals(values: Sequence[float]) -> int | None:
    """As many as the largest needs, without zeros that all end in; none if the smallest would vanish."""
    sizes = [abs(value) for value in values if value]
    if not sizes:
        return 0
    decimals = _decimals(max(sizes))
    if min(sizes) < 10.0 ** (_LEAST_DIGITS - 1 - decimals):
        return None
    while decimals and all(f"{value:.{decimals}f}".endswith("0") for value in values):
        decimals -= 1
    return decimals


def _decimals(size: float) -> int:
    return min(max(_DIGITS - 1 - math.floor(math.log10(size)), 0), _MOST_DECIMALS)


def _text(cell: Cell, decimals: int | None) -> str:
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return f"{cell:,}".replace("-", "−")
    if decimals is None:
        return f"{cell:.{_DIGITS}g}".replace("-", "−") if abs(cell) < 1000 else f"{cell:,.0f}".replace("-", "−")
    return f"{cell:,.{decimals}f}".replace("-", "−")
