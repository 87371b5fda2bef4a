"""Tables and figures of the study of merging."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import msgspec
import numpy as np
import numpy.typing as npt

from gossamer.lab.tables import Cell, Table
from studies.merge.policies import DAYS, POLICIES, Course, simulate
from studies.merge.updating import Look, Measuring, Result, Step
from studies.reports.report import Figure, Panel, Series

HOURLY = "an update an hour of 10 pages, 2 of them replaced"
"""The load whose year is drawn."""
_WINDOWS = 12
"""Points of a line in the figures."""


class End(msgspec.Struct, frozen=True):
    """A way at the end of the run of `one segment`; milliseconds of an update."""

    searchable: float
    settled: float
    cpu: float


def at_the_end(results: dict[str, Result], week: int) -> dict[str, End]:
    """All ways at the same sizes: the last ones that `one segment` reached."""
    steps = results["one segment"].steps
    last = steps[-max(1, len(steps) // 8) :]
    ends = {}
    for way, result in results.items():
        until = sum(step.documents <= last[-1].documents for step in result.steps)
        # Merges come now and then: two weeks of updates have their share of them.
        near = last if way == "one segment" else result.steps[max(0, until - 2 * week) : until]
        settled = 1000 * fmean(step.settled for step in near)
        # A document is not in the one segment before the merge is done.
        searchable = settled if way == "one segment" else 1000 * fmean(step.searchable for step in near)
        ends[way] = End(searchable, settled, 1000 * fmean(step.cpu for step in near))
    return ends


def saved_by(ends: dict[str, End], way: str = "ours") -> tuple[float, float]:
    """Of the time of `one segment`, and of its CPU."""
    one, other = ends["one segment"], ends[way]
    return 1 - other.settled / one.settled, 1 - other.cpu / one.cpu


def run_table(results: dict[str, Result], ends: dict[str, End], plan: Measuring) -> Table:
    """Every way on a real index: updates at the same size, rewrites, and queries at its end."""
    simulated = {way: simulate(POLICIES[way], plan.load, plan.updates, plan.seed) for way in POLICIES if way in results}
    rows: list[list[Cell]] = []
    for way, result in results.items():
        look, end = result.looks[-1], ends[way]
        seldom = way == "one segment"
        rewritten = simulated[way].rewritten if seldom else result.rewritten
        written = simulated[way].written if seldom else result.written
        saved: list[Cell] = [None, None] if seldom else [round(share, 3) for share in saved_by(ends, way)]
        row: list[Cell] = [
            way, round(end.searchable, 1), round(end.settled, 1), round(end.cpu, 1),
            *saved, round(rewritten / written, 2), look.documents, look.segments, round(look.milliseconds, 2),
        ]  # fmt: skip
        rows.append(row)
    return Table(
        "merge-run",
        f"Updates at the last sizes of one segment, and queries at the end; rewrites after {plan.updates:,} updates",
        ("way", "searchable, ms", "with merges, ms", "CPU, ms", "time saved", "CPU saved", "rewrites per document",
         "documents", "segments", "query, ms"),
        rows,
    )  # fmt: skip


def year_table(years: dict[str, dict[str, Course]]) -> Table:
    """Rewrites and segments of a year, for each load and policy."""
    rows: list[list[Cell]] = [
        [
            load, policy, course.written, round(course.mean, 2), course.worst, round(course.rewritten / 1e6, 2),
            round(float(course.segments.mean()), 1), int(course.segments.max()),
        ]
        for load, courses in years.items()
        for policy, course in courses.items()
    ]  # fmt: skip
    columns = ("load", "policy", "documents written", "rewrites, mean", "rewrites, worst", "rewritten, million",
               "segments, mean", "segments, most")  # fmt: skip
    return Table("merge-year", "A year of updates, by the policies alone", columns, rows)


def time_figure(results: dict[str, Result]) -> Figure:
    """Updates and queries against the size of the index."""
    times = [_line(result.way, result.steps, "cpu", 1000.0) for result in results.values()]
    looks = [_looks(result.way, result.looks) for result in results.values()]
    documents = "documents in the index"
    return Figure(
        "merge-time",
        "Time of updates and queries against the size of the index",
        [
            Panel(documents, "CPU of an update with its merges, ms", times, title="Updates", y_from=0.0),
            Panel(documents, "median of a query, ms", looks, title="Queries", y_from=0.0),
        ],
    )


def _line(label: str, steps: Sequence[Step], name: str, factor: float) -> Series:
    """Means over windows: merges come now and then."""
    windows = [window for window in np.array_split(np.arange(len(steps)), _WINDOWS) if len(window)]
    x = [fmean(steps[place].documents for place in window) for window in windows]
    return Series(label, x, [factor * fmean(getattr(steps[place], name) for place in window) for window in windows])


def _looks(label: str, looks: Sequence[Look]) -> Series:
    return Series(label, [look.documents for look in looks], [look.milliseconds for look in looks])


def year_figure(courses: dict[str, Course]) -> Figure:
    """Rewrites of the documents of each day, and segments of each week."""
    days = list(range(1, DAYS))  # not the last one: a logarithm cannot show documents without a rewrite
    weeks = DAYS // 7
    rewrites = [
        Series(policy, days, course.by_update.reshape(DAYS, -1).mean(1)[:-1].tolist(), "step")
        for policy, course in courses.items()
    ]
    segments = [
        Series(policy, list(range(1, weeks + 1)), _by_week(course.segments, weeks).max(1).tolist(), "step")
        for policy, course in courses.items()
    ]
    return Figure(
        "merge-year",
        f"A year of {HOURLY}",
        [
            Panel("day on which a document was written", "rewrites of the document", rewrites, title="Rewrites",
                  log_y=True),
            Panel("week", "most segments of the week", segments, title="Segments", y_from=0.0),
        ],
    )  # fmt: skip


def _by_week(segments: npt.NDArray[np.int64], weeks: int) -> npt.NDArray[np.int64]:
    return segments[: len(segments) * 7 * weeks // DAYS].reshape(weeks, -1)
