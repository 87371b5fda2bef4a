"""A report with what is known of its run, as `report.json`: pages and the index are made from it again at any time.

What is kept is what is shown: lines are thinned, figures have the digits a reader could ask for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import orjson
from msgspec.structs import replace

from gossamer.errors import CorruptError, StorageError
from gossamer.lab.tables import Cell, Table
from studies.reports.report import Figure, Panel, Report, Series
from studies.reports.thinning import thin
from studies.study import STUDIES

FILE = "report.json"
DIGITS = 6
"""Significant ones of stored figures: more would change with every run and tell nothing."""
_NAME = re.compile(r"[A-Za-z0-9]+(-[A-Za-z0-9]+)*")


class Run(msgspec.Struct, frozen=True):
    """How a report was made."""

    command: str
    """What was typed."""
    version: str
    """Of Gossamer."""
    seed: int
    """Of the random numbers."""
    quick: bool
    date: str
    """The day it was made on."""
    seconds: float
    """How long it took."""


class Stored(msgspec.Struct, frozen=True):
    """What a study found, and how."""

    report: Report
    run: Run


def settled(report: Report) -> Report:
    """The report as it is stored and shown; `ValueError` where a name cannot be the name of its files."""
    groups = [report.name], [one.name for one in report.tables], [one.name for one in report.figures]
    for names in groups:
        for name in names:
            if not _NAME.fullmatch(name) or name.lower() in ("readme", "index"):
                raise ValueError(f"{name!r} cannot be the name of a file of the study {report.name!r}")
        if len(set(names)) < len(names):
            raise ValueError(f"two tables or two figures of the study {report.name!r} have the same name")
    return replace(
        report,
        tables=[_settled_table(table) for table in report.tables],
        figures=[_settled_figure(figure) for figure in report.figures],
    )


def save(stored: Stored, folder: Path) -> None:
    """Write `report.json` into a study's folder."""
    data = orjson.dumps(msgspec.to_builtins(stored), option=orjson.OPT_INDENT_2)
    # Points and rows one a line would be most of the file.
    text = re.sub(r"\[[^\[\]{}\"]*\]", lambda found: " ".join(found[0].split()), data.decode())
    try:
        (folder / FILE).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise StorageError(f"cannot write {folder / FILE}: {error.strerror or error}") from error


def load(folder: Path) -> Stored:
    """Read what `save` wrote."""
    path = folder / FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=Stored)
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
    except msgspec.MsgspecError as error:
        raise CorruptError(
            f"{path} is no report of this version: {error}: run the study again, or delete it"
        ) from error


def load_all(folder: Path) -> list[Stored]:
    """The reports of all studies in a folder: the known ones in their order, then others by name."""
    order = {name: place for place, name in enumerate(STUDIES)}
    found = [load(path.parent) for path in sorted(folder.glob(f"*/{FILE}"))]
    return sorted(found, key=lambda one: (order.get(one.report.name, len(order)), one.report.name))


def _settled_table(table: Table) -> Table:
    for row in table.rows:
        if len(row) != len(table.columns):
            raise ValueError(f"a row of the table {table.name!r} has {len(row)} cells for {len(table.columns)} columns")
    return replace(table, rows=[[_settled_cell(cell) for cell in row] for row in table.rows])


def _settled_cell(cell: Any) -> Cell:
    """As Python's own type; figures of NumPy come here too."""
    value: Cell = cell.item() if hasattr(cell, "item") else cell
    if isinstance(value, float):
        return _rounded(value) if math.isfinite(value) else None
    return value


def _settled_figure(figure: Figure) -> Figure:
    return replace(figure, panels=[_settled_panel(panel) for panel in figure.panels])


def _settled_panel(panel: Panel) -> Panel:
    return replace(panel, series=[_settled_series(one, panel.log_x) for one in panel.series])


def _settled_series(series: Series, log: bool) -> Series:
    if len(series.x) != len(series.y):
        raise ValueError(f"the series {series.label!r} has {len(series.x)} places for {len(series.y)} values")
    if is_named(series.x):
        pairs = [(str(x), float(y)) for x, y in zip(series.x, series.y, strict=True) if math.isfinite(y)]
        return replace(series, x=[x for x, _ in pairs], y=_all_rounded(y for _, y in pairs))
    x, y = thin(series.x, series.y, log=log)  # type: ignore[arg-type]  # names are dealt with above
    return replace(series, x=_all_rounded(x), y=_all_rounded(y))


def is_named(x: Sequence[Any]) -> bool:
    """Whether the places along an axis are names, not numbers."""
    return any(isinstance(place, str) for place in x)


def _all_rounded(values: Iterable[float]) -> list[float]:
    return [_rounded(float(value)) for value in values]


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
