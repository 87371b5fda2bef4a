"""Which line is which: its name at its end where names have room there, else a legend without a frame."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from studies.reports.plot_style import FONT_SIZE
from studies.reports.report import Panel

_LINE_HEIGHT = 1.25 * FONT_SIZE
"""Points that two names must be apart."""
_NEAR = 0.6 * _LINE_HEIGHT
"""Points that a name may be away from the end of its line."""
_AT_THE_EDGE = 0.94
"""How far to the right a line must go for its end to be at the edge."""
_WIDEST = 0.3
"""Share of a panel's width that names may take."""
_LEGEND_COLUMNS = 5
_LEGEND_ROW = 0.22
"""Inches that a picture grows by for each row below its panels."""


def label(picture: Picture, drawn: Sequence[tuple[Axes, Panel]], spare: Axes | None) -> None:
    """Name the lines of all panels. `spare` is a place of the grid without a panel, which can hold a legend."""
    picture.draw_without_rendering()  # only now is known where lines end
    directly = {axes: _placed(axes, panel, picture.dpi / 72) for axes, panel in drawn}
    rest = [(axes, panel) for axes, panel in drawn if directly[axes] is None and _needs_names(panel)]
    names = {label for _, panel in rest for label in _labels(panel)}
    together = len(drawn) > 1 and all(set(_labels(panel)) == names for _, panel in rest)
    if rest and (together or len(drawn) == 1):
        _common_legend(picture, rest[0][0], spare)
    else:
        for axes, _ in rest:
            axes.legend(loc="best", fontsize=FONT_SIZE - 0.5)
    for axes, panel in drawn:
        if directly[axes] and not (together and rest and set(_labels(panel)) <= names):
            _write(axes, panel, directly[axes] or [])


def _labels(panel: Panel) -> list[str]:
    return [series.label for series in panel.series if series.label]


def _needs_names(panel: Panel) -> bool:
    """One row of bars or points is what the axis says it is."""
    return len(panel.series) > 1


def _placed(axes: Axes, panel: Panel, per_point: float) -> list[float] | None:
    """Points that each name is moved up from its line's end; nothing where they have no room at the right edge.
    `per_point` has the pixels of a point."""
    if any(series.kind not in ("line", "step") or not series.y or not series.label for series in panel.series):
        return None
    if not panel.series or isinstance(panel.series[0].x[-1], str):
        return None
    ends = axes.transData.transform([(float(series.x[-1]), series.y[-1]) for series in panel.series])
    box = axes.bbox
    longest = max(len(series.label) for series in panel.series) * 0.6 * FONT_SIZE * per_point
    if longest > _WIDEST * box.width:
        return None
    if not all(x >= box.x0 + _AT_THE_EDGE * box.width and box.y0 - 1 <= y <= box.y1 + 1 for x, y in ends):
        return None
    heights = [float(y) / per_point for _, y in ends]
    moved = [to - at for at, to in zip(heights, spread(heights, _LINE_HEIGHT), strict=True)]
    return moved if max(map(abs, moved)) <= _NEAR else None


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """Heights near the given ones, in the same order, at least a gap apart."""
    groups: list[tuple[list[int], float]] = []  # neighbours that touch, and the height of their middle
    for one in sorted(range(len(heights)), key=lambda place: heights[place]):
        members, middle = [one], heights[one]
        while groups and middle - groups[-1][1] < gap * (len(members) + len(groups[-1][0])) / 2:
            members = groups.pop()[0] + members
            middle = sum(heights[member] for member in members) / len(members)
        groups.append((members, middle))
    moved = list(heights)
    for members, middle in groups:
        for place, member in enumerate(members):
            moved[member] = middle + gap * (place - (len(members) - 1) / 2)
    return moved


def _write(axes: Axes, panel: Panel, moved: Sequence[float]) -> None:
    for series, up in zip(panel.series, moved, strict=True):
        axes.annotate(
            series.label, (float(series.x[-1]), series.y[-1]), (7, up), textcoords="offset points", va="center",
            fontsize=FONT_SIZE - 0.5, annotation_clip=False,
        )  # fmt: skip


def _common_legend(picture: Picture, axes: Axes, spare: Axes | None) -> None:
    handles, names = axes.get_legend_handles_labels()
    if spare is not None:
        spare.legend(handles, names, loc="center left")
        return
    longest = max(map(len, names)) + 7  # with the sample of its line
    most = max(1, min(_LEGEND_COLUMNS, int(picture.get_figwidth() * 72 / (longest * 0.6 * FONT_SIZE))))
    rows = -(-len(names) // most)
    picture.set_figheight(picture.get_figheight() + rows * _LEGEND_ROW)
    picture.legend(handles, names, loc="outside lower center", ncols=-(-len(names) // rows))
