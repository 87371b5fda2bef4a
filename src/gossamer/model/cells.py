"""Cells of CSV files, which people open in spreadsheets: a text that begins like a formula must not become one.

Titles, texts and URLs are written by strangers. A spreadsheet runs a cell that begins with `=`, `+`, `-`, `@`, a tab or
a carriage return, and a formula can send the rest of the sheet away. An apostrophe before it makes it text; programs
that read the file find the apostrophe, too. Numbers are left as they are.
"""

from __future__ import annotations

FORMULA = r"^[=+\-@\t\r]"
"""How a formula begins, as a regular expression."""
_STARTS = ("=", "+", "-", "@", "\t", "\r")


def as_cell(value: object) -> object:
    """The value as it may stand in a cell."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_STARTS) else value
