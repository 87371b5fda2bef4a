"""Tables as files and as text: CSV for programs, Markdown for readers, and how a figure is written down."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence

from gossamer.lab.reports.prose import in_markdown
from gossamer.lab.reports.report import Cell, Table
from gossamer.model.cells import as_cell

_DIGITS = 4
"""Significant ones that are shown: 74.36, 0.1915, 1,234."""
_MOST_DECIMALS = 6
_LEAST_DIGITS = 2
"""Significant digits that the smallest figure of a column must have for the column to share its decimals."""


def csv_text(table: Table) -> str:
    """The table as CSV, heads first; what is not known is empty."""
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([as_cell(cell) for cell in row] for row in table.rows)
    return sink.getvalue()


def markdown_text(table: Table, most: int | None = None) -> str:
    """The table, or its first rows, as Markdown; columns of figures are flush right."""
    heads = " | ".join(in_markdown(head) for head in table.columns)
    rules = "|".join("---:" if right else "---" for right in flush_right(table))
    lines = [f"| {heads} |", f"|{rules}|"]
    lines += [f"| {' | '.join(in_markdown(cell) for cell in row)} |" for row in shown(table)[:most]]
    return "\n".join(lines) + "\n"


def flush_right(table: Table) -> list[bool]:
    """For each column, whether it holds figures only."""
    return [all(not isinstance(cell, str) for cell in column) and bool(column) for column in _columns(table)]


def shown(table: Table) -> list[list[str]]:
    """The cells as they are written; figures of one column have the same decimals where that tells enough."""
    columns = [_texts(column) for column in _columns(table)]
    return [list(row) for row in zip(*columns, strict=True)]


def _columns(table: Table) -> list[list[Cell]]:
    return [[row[place] for row in table.rows] for place in range(len(table.columns))]


def _texts(column: Sequence[Cell]) -> list[str]:
    decimals = _shared_decimals([cell for cell in column if isinstance(cell, float) and math.isfinite(cell)])
    return [_text(cell, decimals) for cell in column]


def _shared_decimals(values: Sequence[float]) -> int | None:
    """As many as the largest needs, without zeros that all end in; none where the smallest would vanish."""
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
