"""Pictures are small, repeatable and told apart without colour; thinning loses nothing that sticks out."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from PIL import Image

from studies.reports.plot_labels import spread
from studies.reports.plot_style import bar_style, line_style, number, percent
from studies.reports.plots import LARGEST_PNG, pictures, svg_picture
from studies.reports.report import Figure, Panel, Series
from studies.reports.thinning import thin

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")
"""What other tests left open is closed whenever it is collected, and that may be here."""
SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: bytes) -> list[str]:
    return ["".join(one.itertext()).strip() for one in etree.fromstring(svg).iter(f"{SVG}text")]


def lines(
    labels: Sequence[str], ends: Sequence[float], kind: Literal["line", "step"] = "line", points: int = 30
) -> list[Series]:
    x = np.linspace(1, 100, points)
    return [Series(label, x.tolist(), (x / 100 * end).tolist(), kind) for label, end in zip(labels, ends, strict=True)]


def drawn(*panels: Panel) -> bytes:
    return svg_picture(Figure("name", "A title", panels))


# -- thinning ---------------------------------------------------------------------------------------

finite = st.floats(-1e6, 1e6)
points = st.lists(st.tuples(finite, finite), min_size=1, max_size=300)


@given(points, st.integers(4, 60), st.booleans(), st.booleans())
def test_thinning_keeps_ends_and_extremes_and_makes_nothing_up(
    pairs: list[tuple[float, float]], most: int, ordered: bool, log: bool
) -> None:
    pairs = sorted(pairs) if ordered else pairs
    x, y = thin([a for a, _ in pairs], [b for _, b in pairs], most, log=log)
    kept = list(zip(x, y, strict=True))
    assert len(kept) <= most or kept == pairs
    assert len(kept) == len(pairs) or len(pairs) > most
    remaining = iter(pairs)
    assert all(one in remaining for one in kept), "a part of the points, in their order"
    assert kept[0] == pairs[0] and kept[-1] == pairs[-1]
    assert min(y) == min(b for _, b in pairs) and max(y) == max(b for _, b in pairs)


def test_a_peak_of_one_point_among_many_stays() -> None:
    y = [0.0] * 100_000
    y[70_001] = 1.0
    x, thinned = thin(list(range(100_000)), y)
    assert len(x) <= 400 and thinned[x.index(70_001)] == 1.0


def test_on_a_logarithmic_axis_every_power_of_ten_gets_its_points() -> None:
    x = np.arange(1, 100_001)
    plain, _ = thin(x.tolist(), np.sqrt(x).tolist(), 100)
    wide, _ = thin(x.tolist(), np.sqrt(x).tolist(), 100, log=True)
    assert sum(one < 1000 for one in plain) < 5 and sum(one < 1000 for one in wide) > 40


def test_what_is_no_number_is_left_out() -> None:
    assert thin([1, 2, math.nan, 4], [1, math.inf, 3, 4]) == ([1, 4], [1, 4])
    assert thin([], []) == ([], [])


# -- names of lines ---------------------------------------------------------------------------------


@given(st.lists(st.floats(0, 500), min_size=1, max_size=12))
def test_spread_names_do_not_touch_and_keep_their_order(heights: list[float]) -> None:
    moved = spread(heights, 13)
    ranked = sorted(range(len(heights)), key=lambda place: (heights[place], moved[place]))
    assert all(moved[b] - moved[a] > 12.999 for a, b in pairwise(ranked))
    assert sum(moved) == pytest.approx(sum(heights), abs=1e-6), "nothing drifts up or down"


def test_names_with_room_stay_where_their_lines_end() -> None:
    assert spread([100, 10, 50], 13) == [100, 10, 50]


def test_lines_that_end_apart_are_named_once_at_their_ends() -> None:
    svg = drawn(Panel("cycle", "share", lines(["breadth", "fit"], [0.2, 0.9])))
    assert texts(svg).count("fit") == 1 and b"legend" not in svg


def test_lines_that_end_together_have_a_legend() -> None:
    svg = drawn(Panel("cycle", "share", lines(["breadth", "fit", "opic"], [0.5, 0.5, 0.5])))
    assert texts(svg).count("fit") == 1 and b"legend_1" in svg


def test_panels_with_the_same_lines_share_one_legend() -> None:
    labels = [f"N = {n}" for n in range(1, 11)]
    svg = drawn(*(Panel("times", "share", lines(labels, [0.5] * 10, "step"), title=str(n)) for n in range(2)))
    assert svg.count(b'id="legend_1"') == 1 and b"legend_2" not in svg
    assert [text for text in texts(svg) if text.startswith("N =")] == labels


# -- looks ------------------------------------------------------------------------------------------


def test_ten_lines_differ_without_their_colours() -> None:
    styles = [line_style(place) for place in range(10)]
    assert len({(one.dashes, one.mark, one.hollow) for one in styles}) == 10
    assert len({(one["facecolor"], one["hatch"]) for one in map(bar_style, range(6))}) == 6


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.1 + 0.2, "0.3"), (2.5, "2.5"), (1000, "1,000"), (20000, "20,000"), (1e6, "1 M"), (2.5e6, "2.5 M"),
     (-3, "−3"), (1e-5, "1e−05"), (3e9, "3 bn")],
)  # fmt: skip
def test_figures_along_an_axis(value: float, text: str) -> None:
    assert number(value) == text


def test_shares_are_shown_in_percent() -> None:
    assert percent(0.3) == "30 %" and percent(0.025) == "2.5 %"
    svg = drawn(Panel("cycle", "useful share", lines(["fit"], [0.95]), percent=True, y_from=0, y_to=1))
    assert {"0 %", "100 %"} <= set(texts(svg)) and "useful share" in texts(svg)


def test_shares_stay_within_0_and_100_percent() -> None:
    svg = drawn(Panel("cycle", "share", [Series("a", [1, 2, 3], [0.0, 0.5, 1.0])], percent=True))
    shown = [float(text[:-2].replace("−", "-")) for text in texts(svg) if text.endswith(" %")]
    assert min(shown) == 0 and max(shown) == 100


def test_logarithmic_axes_have_plain_figures() -> None:
    svg = drawn(Panel("URLs", "ms", [Series("a", [100, 1e4, 1e6], [0.1, 1, 100])], log_x=True, log_y=True))
    assert {"10 k", "1 M", "0.1", "100"} <= set(texts(svg))


def test_zero_on_a_logarithmic_axis_does_no_harm() -> None:
    svg = drawn(Panel("URLs", "ms", [Series("a", [0, 1, 10], [0, 0, 0])], log_x=True, log_y=True, y_from=0))
    assert "URLs" in texts(svg)


def test_bars_stand_where_their_names_fit_and_lie_where_they_do_not() -> None:
    def order(names: list[str]) -> list[str]:
        svg = drawn(Panel("site", "URLs", [Series(kind, names, [1, 2, 3], "bars") for kind in ("with", "without")]))
        return [text for text in texts(svg) if text in (*names, "site", "URLs", "with", "without")]

    assert order(["a", "b", "c"]) == ["a", "b", "c", "site", "URLs", "with", "without"]
    long = [f"a-rather-long-name-{n}.example.org" for n in range(3)]
    assert order(long) == ["URLs", *long, "site", "with", "without"], "what is measured is along the x axis"


def test_one_row_of_bars_needs_no_legend() -> None:
    svg = drawn(Panel("site", "URLs", [Series("only", ["a", "b"], [1, 2], "bars")]))
    assert "only" not in texts(svg)


def test_labels_are_no_formulas_and_no_markup() -> None:
    svg = drawn(Panel("cost in $ <b>&", "$x^2$", lines(["$a$", "b_c"], [0.2, 0.9])))
    assert {"cost in $ <b>&", "$x^2$", "$a$", "b_c"} <= set(texts(svg))


@pytest.mark.parametrize("count", [1, 3, 5])
def test_any_number_of_panels_is_drawn(count: int) -> None:
    svg = drawn(*(Panel(f"x{n}", f"y{n}", lines(["a", "b"], [0.2, 0.9])) for n in range(count)))
    assert {f"x{n}" for n in range(count)} <= set(texts(svg))


def test_panels_of_nothing_are_drawn() -> None:
    svg = drawn(Panel("x", "y", []), Panel("u", "v", [Series("empty", [], []), Series("also", [], [], "bars")]))
    assert {"x", "v"} <= set(texts(svg))


# -- files ------------------------------------------------------------------------------------------


def test_the_same_figure_gives_the_same_bytes_without_dates() -> None:
    figure = Figure("name", "A title", [Panel("cycle", "share", lines(["a", "b", "c"], [0.5, 0.5, 0.5]))])
    first, second = pictures(figure), pictures(figure)
    assert first == second
    assert not re.search(rb"<dc:date>|\b20\d\d-\d\d-\d\d\b", first[0]) and b"Matplotlib" not in first[0]


def test_a_full_picture_is_small_and_sharp() -> None:
    rng = np.random.default_rng(1)
    panels = []
    for name in ("A", "O", "C", "total"):
        x = np.arange(400.0)
        walks = [Series(f"N = {n}", x.tolist(), rng.normal(size=400).cumsum().tolist()) for n in range(10)]
        panels.append(Panel("pages", name, walks))
    svg, png = pictures(Figure("walks", "Walks", panels))
    assert len(png) <= LARGEST_PNG == 150_000
    assert Image.open(io.BytesIO(png)).width >= 675
    assert len(svg) < 400_000
