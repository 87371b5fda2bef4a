"""Tables as files and as text: CSV for programs, Markdown for readers."""

from __future__ import annotations

import csv
import io

from gossamer.lab.tables import Table, flush_right, shown
from gossamer.model.cells import as_cell
from studies.reports.prose import in_markdown


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
