"""How lines, bars and numbers look: told apart without colour, quiet, readable at 900 pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

INK = "#222222"
FAINT = "#e4e4e4"
WIDTH = 9.0
"""Of a picture, in inches: 900 pixels at the density that fonts are chosen for."""
FONT_SIZE = 10.5

SETTINGS: dict[Any, Any] = {
    "font.family": ["sans-serif"],
    # The second has the first one's widths: what is laid out with one fits with the other.
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "font.size": FONT_SIZE,
    "axes.titlesize": FONT_SIZE + 0.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": "#888888",
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.xmargin": 0.02,
    "axes.formatter.useoffset": False,
    "text.color": INK,
    # A dollar sign in a label is a dollar sign.
    "text.parse_math": False,
    "xtick.color": "#888888",
    "ytick.color": "#888888",
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "legend.handlelength": 3.2,
    "grid.color": FAINT,
    "grid.linewidth": 0.7,
    "hatch.linewidth": 0.6,
    # Letters stay letters: small files, text that can be searched.
    "svg.fonttype": "none",
    "svg.hashsalt": "gossamer",
}


class LineStyle(msgspec.Struct, frozen=True):
    """Dashes, mark and grey level together are unique; the colour only helps."""

    colour: str
    dashes: tuple[float, ...]
    mark: str
    hollow: bool = False

    def line(self) -> dict[str, Any]:
        """How the line is drawn."""
        return {"color": self.colour, "linewidth": 1.7, "linestyle": (0, self.dashes) if self.dashes else "-"}

    def marks(self) -> dict[str, Any]:
        """How its points are marked."""
        fill = "white" if self.hollow else self.colour
        return {"color": self.colour, "marker": self.mark, "markersize": 5, "markeredgewidth": 1.1,
                "markerfacecolor": fill}  # fmt: skip


_LINES = (
    LineStyle("#111111", (), "o"),
    LineStyle("#0b62a4", (5, 1.6), "s"),
    LineStyle("#c2500a", (), "^", hollow=True),
    LineStyle("#1f7a4d", (1.2, 1.4), "D"),
    LineStyle("#7d4a9b", (7, 1.6, 1.2, 1.6), "v"),
    LineStyle("#8a8a8a", (), "X"),
    LineStyle("#9a7400", (3, 1.4), "s", hollow=True),
    LineStyle("#4a9cc9", (9, 2.5), "o", hollow=True),
    LineStyle("#a02c50", (4, 1.4, 1.2, 1.4, 1.2, 1.4), "P"),
    LineStyle("#6f6152", (2, 3), "D", hollow=True),
)
_BARS = (
    ("#333333", ""),
    ("#8f8f8f", ""),
    ("#d6d6d6", ""),
    ("#ffffff", "////"),
    ("#ffffff", "...."),
    ("#b5b5b5", "xxxx"),
)


def line_style(place: int) -> LineStyle:
    """Of the so manieth label of a picture."""
    return _LINES[place % len(_LINES)]


def bar_style(place: int) -> dict[str, Any]:
    """Fill and hatching of the so manieth row of bars."""
    fill, hatch = _BARS[place % len(_BARS)]
    return {"facecolor": fill, "hatch": hatch, "edgecolor": "#333333", "linewidth": 0.7}


def number(value: float, _place: int | None = None) -> str:
    """A figure along an axis."""
    size = abs(value)
    if size >= 1e9:
        text = f"{value / 1e9:.6g} bn"
    elif size >= 1e6:
        text = f"{value / 1e6:.6g} M"
    elif size and size < 1e-4:
        text = f"{value:.3g}"
    else:
        text = f"{round(value, 9):,.9g}" if size < 1e4 else f"{value:,.0f}"
    return text.replace("-", "−")


def short(value: float, _place: int | None = None) -> str:
    """A figure along a logarithmic axis, where they stand close."""
    return f"{value / 1e3:.6g} k" if 1e4 <= value < 1e6 else number(value)


def percent(value: float, _place: int | None = None) -> str:
    """A share along an axis."""
    return number(100 * value) + " %"


def columns_of(panels: Sequence[Any]) -> int:
    """How many panels stand side by side."""
    return {1: 1, 2: 2, 3: 2, 4: 2}.get(len(panels), 3)
