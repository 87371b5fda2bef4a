"""Long lines with few points: a picture a thousand pixels wide shows no more, and its file stays small.

A line is cut into stretches of equal width on the paper; of each, the lowest and the highest point stay. Nothing that
sticks out is lost, and no point is moved or made up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

MOST_POINTS = 400

Floats = npt.NDArray[np.float64]


def thin(
    x: Sequence[float], y: Sequence[float], most: int = MOST_POINTS, *, log: bool = False
) -> tuple[list[float], list[float]]:
    """At most so many (4 or more) of the points, in their order: both ends, and what is lowest and highest anywhere.

    Points that are no numbers are left out. `log` says that the x axis is a logarithmic one.
    """
    xs, ys = np.asarray(x, np.float64), np.asarray(y, np.float64)
    numbers = np.isfinite(xs) & np.isfinite(ys)
    xs, ys = xs[numbers], ys[numbers]
    if len(xs) > most:
        kept = _kept(xs, ys, most, log)
        xs, ys = xs[kept], ys[kept]
    return xs.tolist(), ys.tolist()


def _kept(x: Floats, y: Floats, most: int, log: bool) -> npt.NDArray[np.int64]:
    stretch = _stretches(x, (most - 2) // 2, log)
    # Sorted by stretch and then by height, the lowest of a stretch comes first in it and the highest last.
    order = np.lexsort((y, stretch))
    edges = np.flatnonzero(np.diff(stretch[order]))
    lowest, highest = np.concatenate(([0], edges + 1)), np.concatenate((edges, [len(x) - 1]))
    return np.unique(np.concatenate(([0, len(x) - 1], order[lowest], order[highest])))


def _stretches(x: Floats, count: int, log: bool) -> npt.NDArray[np.int64]:
    """Which stretch each point lies in; points that do not go from left to right are counted instead."""
    along = np.log(x) if log and np.all(x > 0) else x
    width = along[-1] - along[0]
    if np.any(np.diff(along) < 0) or not np.isfinite(width) or width <= 0:
        along, width = np.arange(len(x), dtype=np.float64), np.float64(len(x) - 1)
    place: Floats = np.minimum((along - along[0]) / width * count, count - 1)
    return place.astype(np.int64)
