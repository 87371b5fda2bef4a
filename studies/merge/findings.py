"""What the study of merging found, in sentences made from its figures."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from studies.merge.pictures import (
    HOURLY,
    End,
    at_the_end,
    run_table,
    saved_by,
    time_figure,
    year_figure,
    year_table,
)
from studies.merge.policies import MOST_REWRITES, Course
from studies.merge.updating import Measuring, Result
from studies.reports.report import Goal, Report

SEED_SAVED = 0.68
STEADY = "an update a quarter of an hour of 25 pages, in an index of 20,000 of which every fifth changes"
"""The one load that does not let the index grow."""

Years = dict[str, dict[str, Course]]
"""Load → policy → what a year of it came to."""


def report(plan: Measuring, measured: Sequence[Result], years: Years) -> Report:
    """What was found, in tables and sentences."""
    results = {result.way: result for result in measured}
    ends = at_the_end(results, 7 * plan.load.a_day)
    return Report(
        name="merge",
        title="Updates of the index: time and rewrites",
        question="What does it cost to bring a trickle of new pages into an index, and how often is a document copied?",
        seed=(
            "Nutch keeps its index in one segment. With 80 million known URLs and 80,000 pages a cycle on three "
            "machines, merging took 68 % of the cycle; done beside it, on the machine that searches, the cycle became "
            "68 % shorter. With levels (day, week, four weeks, then by fours) a document is rewritten at most 5 times "
            "a year; that is reckoned, not measured."
        ),
        ours=_ours(results, years, ends),
        data=_data(plan, results["one segment"].steps[-1].documents),
        differs=_differs(results, years, ends),
        tables=[run_table(results, ends, plan), year_table(years)],
        figures=[time_figure(results), year_figure(years[HOURLY])],
        goals=_goals(years, ends),
    )


def _ours(results: dict[str, Result], years: Years, ends: dict[str, End]) -> str:
    one, end = ends["one segment"], ends["ours"]
    documents = results["one segment"].steps[-1].documents
    saved, cpu = saved_by(ends)
    year = years[HOURLY]["ours"]
    worst = max(_growing(years, "worst"))
    return (
        f"At {documents:,} documents an update with its merges takes {end.settled:.0f} ms ({end.cpu:.0f} ms of CPU), "
        f"into one segment {one.settled:.0f} ms ({one.cpu:.0f} ms): {saved:.0%} less time and {cpu:.0%} less CPU. "
        f"It is searchable after {end.searchable:.0f} ms, since merges go on beside. Over a year of {HOURLY}, "
        f"a document is rewritten {year.mean:.1f} times on the average and {year.worst} times at worst, with one "
        f"segment {years[HOURLY]['one segment'].mean:,.0f} times; under all loads that let the index grow, {worst} "
        f"times at worst. The crawl waits for none of it: the index is written by a process of its own."
    )


def _data(plan: Measuring, last: int) -> str:
    return (
        f"{plan.updates:,} updates of {plan.load.pages} made-up pages of 150 words, {plan.load.replaced} of them "
        f"replacing older ones, {plan.load.a_day} updates a day, on real indexes; all ways in turn, merges waited for. "
        f"One segment goes to {last:,} documents, where one of {plan.seldom} updates is timed. "
        f"Rewrites of a year are counted by the policies alone, without an index."
    )


def _differs(results: dict[str, Result], years: Years, ends: dict[str, End]) -> str:
    ours, calendar = years[HOURLY]["ours"], years[HOURLY]["levels"]
    mine, theirs = results["ours"].looks[-1], results["levels"].looks[-1]
    parts = [
        "The seed's 68 % is a share of the whole cycle of crawling, ours of an update of the index, and depends on its "
        f"size: from the first documents to the last that one segment was tried with, an update into it went from "
        f"{_grew(results, ends, 'one segment')} ms of CPU, with ours from {_grew(results, ends, 'ours')} ms."
    ]
    parts.append(
        f"With levels an update costs {ends['levels'].cpu:.0f} ms of CPU, with ours {ends['ours'].cpu:.0f} ms; over "
        f"the year levels rewrite a document {calendar.mean:.1f} times, ours {ours.mean:.1f} times."
    )
    if ours.segments.mean() > calendar.segments.mean():
        parts.append(
            f"Ours keeps more segments ({ours.segments.mean():.0f} on the average, {ours.segments.max()} at most; "
            f"levels {calendar.segments.mean():.0f} and {calendar.segments.max()}), and queries ask each: "
            f"{mine.milliseconds:.2f} ms a query with {mine.segments} segments, {theirs.milliseconds:.2f} ms with "
            f"{theirs.segments}."
        )
    parts += _steady(years)
    parts += _busiest(years)
    return " ".join(parts)


def _grew(results: dict[str, Result], ends: dict[str, End], way: str) -> str:
    """CPU of an update at the beginning and at the end."""
    steps = results[way].steps
    first = steps[: max(1, len(steps) // 12)]
    return f"{1000 * fmean(step.cpu for step in first):.0f} to {ends[way].cpu:.0f}"


def _growing(years: Years, name: str) -> list[float]:
    """A figure of ours under each load that lets the index grow."""
    return [getattr(courses["ours"], name) for load, courses in years.items() if load != STEADY]


def _steady(years: Years) -> list[str]:
    """What is said of an index that does not grow, where ours does not keep to the seed's bound."""
    ours, calendar = (years[STEADY][name] for name in ("ours", "levels")) if STEADY in years else (None, None)
    if ours is None or calendar is None or ours.worst <= MOST_REWRITES:
        return []
    return [
        f"Ours is worse with {STEADY}: {ours.often / ours.written:.1%} of the documents are rewritten more than "
        f"{MOST_REWRITES} times, {ours.worst} times at worst ({ours.mean:.1f} on the average), by levels "
        f"{calendar.worst} times ({calendar.mean:.1f}); the pages that change do not fill a segment of the next size."
    ]


def _busiest(years: Years) -> list[str]:
    """What levels come to where many updates come in a day, if that is more segments than ours."""
    load = max(years, key=lambda name: years[name]["levels"].segments.max())
    ours, calendar = years[load]["ours"], years[load]["levels"]
    if calendar.segments.max() <= ours.segments.max():
        return []
    price = (
        f", and pays with {ours.mean:.1f} rewrites of a document instead of {calendar.mean:.1f}"
        if ours.mean >= calendar.mean + 0.05
        else ""
    )
    return [
        f"With {load} levels let {calendar.segments.max():,} segments gather in a day; ours has never more than "
        f"{ours.segments.max()}{price}."
    ]


def _goals(years: Years, ends: dict[str, End]) -> list[Goal]:
    saved, cpu = saved_by(ends)
    means, worst = _growing(years, "mean"), max(_growing(years, "worst"))
    goals = [
        Goal(
            "an update takes at least 68 % less than into one segment, at the end of the run",
            f"{saved:.0%} less time, {cpu:.0%} less CPU, merges included",
            min(saved, cpu) >= SEED_SAVED,
        ),
        Goal(
            "no document of a growing index is rewritten more than 5 times a year",
            f"{worst} times at worst, {min(means):.1f} to {max(means):.1f} times on the average",
            worst <= MOST_REWRITES,
        ),
    ]
    if STEADY in years:
        steady = years[STEADY]["ours"]
        found = f"{steady.worst} times at worst, {steady.mean:.1f} times on the average"
        text = "nor one of a small index in which some pages change all the time"
        goals.append(Goal(text, found, steady.worst <= MOST_REWRITES))
    return goals
