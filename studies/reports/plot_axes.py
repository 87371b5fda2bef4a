"""One panel on its axes: lines, steps, points and bars, scales and ticks."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from studies.reports.plot_style import FONT_SIZE, bar_style, line_style, number, percent, short
from studies.reports.report import Panel, Series
from studies.reports.stored import is_named

_FEW = 15
"""Points of a line that are all marked; longer lines carry a mark here and there."""
_MARKS = 6
_DRAWN = {"step": "steps-post"}
_BAR_ROOM = 0.8
_WIDE = 6.0
"""Inches of a panel that has room for as many figures below as beside it."""
_FEW_POWERS = 150
"""High over low of a logarithmic axis with figures between the powers of ten."""
_LETTER = 0.62
"""Width of a letter over the font's size, on average."""


def draw_panel(axes: Axes, panel: Panel, places: Mapping[str, int], inches: float, height: float) -> None:
    """Draw a panel so wide and so high; `places` has each label's number in the picture."""
    names = categories(panel)
    lying = lies(panel, inches)
    _scales(axes, panel, lying)
    rows = [series for series in panel.series if series.kind == "bars"]
    for row, series in enumerate(rows):
        _bars(axes, series, names, row, len(rows), lying)
    for series in panel.series:
        if series.kind != "bars":
            _line(axes, series, names, places[series.label])
    if all(series.kind == "points" for series in panel.series):
        axes.margins(x=0.05)  # a point on the edge looks like a tick
    _name_places(axes, names, lying, inches)
    _ticks(axes, panel, bool(names), lying, inches)
    _limits(axes, panel, lying)
    axes.set_title(panel.title)
    along, up = (panel.y, panel.x) if lying else (panel.x, panel.y)
    axes.set_xlabel(_wrapped(along, inches - 1))
    axes.set_ylabel(_wrapped(up, height - 1))


def categories(panel: Panel) -> list[str]:
    """Names along the x axis, in the order they come; none where it is an axis of numbers."""
    if not any(series.kind == "bars" or is_named(series.x) for series in panel.series):
        return []
    return list(dict.fromkeys(_name(x) for series in panel.series for x in series.x))


def lies(panel: Panel, inches: float) -> bool:
    """Whether bars go from left to right, because their names do not fit side by side."""
    return all(series.kind == "bars" for series in panel.series) and not _fit(categories(panel), inches)


def _fit(names: Sequence[str], inches: float) -> bool:
    widest = max((len(name) for name in names), default=0)
    return len(names) * (widest + 1) * _LETTER * FONT_SIZE / 72 < inches - 0.8


def _wrapped(text: str, inches: float) -> str:
    """Lines of about the same length, each no longer than that."""
    room = max(12, int(inches * 72 / (_LETTER * FONT_SIZE)))
    lines = -(-len(text) // room)
    return "\n".join(textwrap.wrap(text, min(room, len(text) // lines + 6))) if lines > 1 else text


def _name(x: float | str) -> str:
    return x if isinstance(x, str) else number(x)


def _scales(axes: Axes, panel: Panel, lying: bool) -> None:
    values = [y for series in panel.series for y in series.y]
    along = [x for series in panel.series for x in series.x if not isinstance(x, str)]
    if panel.log_x and not categories(panel) and any(x > 0 for x in along):
        axes.set_xscale("log")
    if panel.log_y and any(y > 0 for y in values):
        (axes.set_xscale if lying else axes.set_yscale)("log")


def _line(axes: Axes, series: Series, names: Sequence[str], place: int) -> None:
    style = line_style(place)
    x, y = _drawable(axes, [names.index(_name(one)) for one in series.x] if names else series.x, series.y)
    points = series.kind == "points"
    line = {"linestyle": ""} if points else style.line() | {"drawstyle": _DRAWN.get(series.kind, "default")}
    marked = range(len(x)) if points or len(x) <= _FEW else _marks(axes, x, y, place)
    axes.plot(x, y, **line)
    # Drawn apart, so that no line hides the marks of another; the third, of no points, is what a legend shows.
    axes.plot([x[one] for one in marked], [y[one] for one in marked], **style.marks(), linestyle="", zorder=3)
    axes.plot([], [], **style.marks() | line, label=series.label)


def _marks(axes: Axes, x: Sequence[float], y: Sequence[float], place: int) -> list[int]:
    """Which points of a long line are marked: some, evenly along it. Each line has its marks elsewhere, so that they
    stay visible where lines run together."""
    steps = [
        np.diff(np.log(values) if scale == "log" else np.asarray(values))
        for values, scale in ((x, axes.get_xscale()), (y, axes.get_yscale()))
    ]
    widths = [np.ptp(np.cumsum(step)) or 1.0 for step in steps]
    way = np.concatenate(([0.0], np.cumsum(np.hypot(steps[0] / widths[0], steps[1] / widths[1]))))
    marked = (np.arange(_MARKS) + 0.1 + 0.8 * (place % 9) / 9) / _MARKS * way[-1]
    return sorted(set(np.searchsorted(way, marked).tolist()))


def _drawable(axes: Axes, x: Sequence[Any], y: Sequence[float]) -> tuple[list[float], list[float]]:
    """The points that have a place: on a logarithmic axis nothing lies at or below zero."""
    above_x, above_y = (0.0 if scale == "log" else -math.inf for scale in (axes.get_xscale(), axes.get_yscale()))
    pairs = [(float(a), float(b)) for a, b in zip(x, y, strict=True) if a > above_x and b > above_y]
    return [a for a, _ in pairs], [b for _, b in pairs]


def _bars(axes: Axes, series: Series, names: Sequence[str], row: int, rows: int, lying: bool) -> None:
    width = _BAR_ROOM / rows
    at = [names.index(_name(x)) - _BAR_ROOM / 2 + (row + 0.5) * width for x in series.x]
    look = bar_style(row if rows > 1 else 1)
    (axes.barh if lying else axes.bar)(at, series.y, width * 0.94, label=series.label, **look)


def _name_places(axes: Axes, names: Sequence[str], lying: bool, inches: float) -> None:
    if not names:
        return
    if lying:
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        return
    axes.set_xticks(range(len(names)), names)
    axes.tick_params(axis="x", length=0)
    if not _fit(names, inches):
        axes.tick_params(axis="x", labelrotation=35)
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")


def _ticks(axes: Axes, panel: Panel, named: bool, lying: bool, inches: float) -> None:
    values, along = (axes.xaxis, axes.yaxis) if lying else (axes.yaxis, axes.xaxis)
    for axis, form in ((values, percent if panel.percent else number), (along, number)):
        if axis is along and named:
            continue
        if axis.get_scale() == "log":
            axis.set_major_locator(_log_locator(axis, 4 if axis is axes.xaxis and inches < _WIDE else 7))
            axis.set_minor_formatter(NullFormatter())
            form = short if form is number else form
        else:
            whole = axis is along and all(float(x).is_integer() for one in panel.series for x in one.x)
            axis.set_major_locator(MaxNLocator(6, integer=whole, steps=[1, 2, 5, 10] if whole else [1, 2, 2.5, 5, 10]))
        axis.set_major_formatter(FuncFormatter(form))
    axes.grid(axis="x" if lying else "y")


def _log_locator(axis: Axis, most: int) -> LogLocator:
    """Powers of ten; what lies between them too where there are few."""
    low, high = sorted(axis.get_view_interval())
    few = low > 0 and high / low < _FEW_POWERS
    return LogLocator(subs=(1, 2, 5) if few else (1,), numticks=99 if few else most)


def _limits(axes: Axes, panel: Panel, lying: bool) -> None:
    """The limits asked for; else shares stay within 0 and 100 %, and what cannot be negative does not seem to be."""
    values = [y for series in panel.series for y in series.y if math.isfinite(y)]
    low, high = axes.get_xlim() if lying else axes.get_ylim()
    logarithmic = (axes.xaxis if lying else axes.yaxis).get_scale() == "log"
    if values and not logarithmic:
        low = max(low, 0.0) if min(values) >= 0 else low
        high = min(high, 1.0) if panel.percent and max(values) <= 1 else high
    low = panel.y_from if panel.y_from is not None and not (logarithmic and panel.y_from <= 0) else low
    high = panel.y_to if panel.y_to is not None else high
    (axes.set_xlim if lying else axes.set_ylim)(low, high)
    if values and low <= min(values) and max(values) <= high:
        for line in axes.lines:
            line.set_clip_on(np.size(line.get_xdata()) == 0)  # marks on the edge stay whole
