"""Figures of a report as pictures. The only modules that need matplotlib are this one and `plot_axes`, `plot_labels`.

The same figure gives the same bytes: no dates, ids from a fixed salt, coordinates in hundredths of a point.
"""

from __future__ import annotations

import io
import re

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Picture
from PIL import Image

from studies.reports.plot_axes import categories, draw_panel, lies
from studies.reports.plot_labels import label
from studies.reports.plot_style import SETTINGS, WIDTH, columns_of
from studies.reports.report import Figure, Panel

LARGEST_PNG = 150_000
_DENSITIES = (150, 120, 100, 75)
"""Pixels an inch, from the best on, until the file is small enough."""
_COLOURS = 96
_ROW = 3.5
_ONE_ROW = 4.6
_BAR = 0.24
"""Inches of a lying bar."""
_COORDINATE = re.compile(r"(-?\d+\.\d\d)\d+")


def pictures(figure: Figure) -> tuple[bytes, bytes]:
    """A figure as SVG and as PNG."""
    with matplotlib.rc_context(SETTINGS):
        picture = _drawn(figure)
        return _svg(picture, figure.title), _png(picture)


def svg_picture(figure: Figure) -> bytes:
    """A figure as SVG only."""
    with matplotlib.rc_context(SETTINGS):
        return _svg(_drawn(figure), figure.title)


def _drawn(figure: Figure) -> Picture:
    """All panels of a figure, side by side or in rows."""
    columns = columns_of(figure.panels)
    rows = -(-len(figure.panels) // columns)
    inches = WIDTH / columns
    height = max(_height(panel, inches, rows) for panel in figure.panels)
    picture = Picture(figsize=(WIDTH, rows * height), layout="constrained", facecolor="white")
    FigureCanvasAgg(picture)
    picture.get_layout_engine().set(w_pad=0.08, h_pad=0.08)  # type: ignore[union-attr, call-arg]  # constrained
    grid = picture.subplots(rows, columns, squeeze=False).ravel()
    places = _places(figure)
    drawn: list[tuple[Axes, Panel]] = list(zip(grid, figure.panels, strict=False))
    for axes, panel in drawn:
        draw_panel(axes, panel, places, inches, height)
    for axes in grid[len(figure.panels) :]:
        axes.set_axis_off()
    label(picture, drawn, grid[-1] if len(grid) > len(figure.panels) else None)
    return picture


def _places(figure: Figure) -> dict[str, int]:
    """Labels in the order they come: a label looks the same in all panels."""
    labels = dict.fromkeys(one.label for panel in figure.panels for one in panel.series if one.kind != "bars")
    return {label: place for place, label in enumerate(labels)}


def _height(panel: Panel, inches: float, rows: int) -> float:
    usual = _ONE_ROW if rows == 1 and inches == WIDTH else _ROW
    if not lies(panel, inches):
        return usual
    return max(usual * 0.7, 1.2 + _BAR * len(categories(panel)) * max(1, len(panel.series)))


def _svg(picture: Picture, title: str) -> bytes:
    sink = io.StringIO()
    picture.savefig(sink, format="svg", metadata={"Date": None, "Creator": None, "Title": title})
    return re.sub(r' d="[^"]*"', lambda path: _COORDINATE.sub(r"\1", path[0]), sink.getvalue()).encode()


def _png(picture: Picture) -> bytes:
    data = b""
    for density in _DENSITIES:
        data = _png_at(picture, density)
        if len(data) <= LARGEST_PNG:
            break
    return data


def _png_at(picture: Picture, density: int) -> bytes:
    drawn, sink = io.BytesIO(), io.BytesIO()
    picture.savefig(drawn, format="png", dpi=density, metadata={"Software": None})
    # A drawing has few colours: a palette makes a third of the file.
    few = Image.open(drawn).convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    few.save(sink, "png", optimize=True, dpi=(density, density))
    return sink.getvalue()
