"""What a study hands over: a few tables and figures, and sentences that hold for these figures.

Writing them out is `publish`'s business; a study only says what it found. Sentences are made from the figures, never
typed beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from gossamer.lab.tables import Table


class Series(msgspec.Struct, frozen=True):
    """One line, set of points or row of bars; told apart by dashes and marks, not by colour alone."""

    label: str
    x: Sequence[float | str]
    """Numbers, or names of bars."""
    y: Sequence[float]
    kind: Literal["line", "step", "points", "bars"] = "line"


class Panel(msgspec.Struct, frozen=True):
    """One pair of axes."""

    x: str
    """What is along the axis, with its unit."""
    y: str
    series: Sequence[Series]
    title: str = ""
    log_x: bool = False
    log_y: bool = False
    percent: bool = False
    """Whether y is a share, shown in percent."""
    y_from: float | None = None
    y_to: float | None = None


class Figure(msgspec.Struct, frozen=True):
    """One picture of one or more panels."""

    name: str
    title: str
    panels: Sequence[Panel]


class Goal(msgspec.Struct, frozen=True):
    """What was aimed at, and what came out."""

    text: str
    found: str
    met: bool


class Report(msgspec.Struct, frozen=True):
    """A study's result."""

    name: str
    title: str
    question: str
    """One sentence."""
    seed: str
    """What the source document found, with its data: one or two sentences."""
    ours: str
    """What we find, figures included: one paragraph."""
    data: str
    """On which data."""
    differs: str
    """Why both differ, and where ours is worse: an honest sentence or two."""
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()
    goals: Sequence[Goal] = ()
