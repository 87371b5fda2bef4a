"""How the useful pages of crawls came in, as figures and tables (`useful.py`)."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence

import msgspec

from _fetch_order import Reasons, found_at, share

POINTS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
PARTS = (0.5, 0.9, 0.99, 1.0)
FROM = 0.05
"""Point of the crawl from which on the goal counts."""
GOAL = 0.9
FITTED, PLAIN, LEARNED = "fit * breadth", "breadth", "learned"
"""`learned` is the first one without rules: the crawl finds out by itself which URLs look like documents."""


class Course(msgspec.Struct):
    """How the useful pages of a crawl came in."""

    useful: int
    fetched: int
    cumulative: list[float]
    slices: list[float]
    """Useful share between each point and the one before."""
    found: list[float]
    """Points at which the parts of the useful pages had been found."""
    steady: list[float]
    """Useful share from 5 % of the crawl to those points."""


class Crawl(msgspec.Struct):
    """One crawl of one site."""

    site: str
    strategy: str
    course: Course
    simulated: dict[str, Course]
    """Simulated crawls on the same links, to compare with; greedy, so no strict bounds."""
    fit_share: float
    """Share of fetches from 5 % of the crawl to the last useful one whose URL fits, whatever it brought."""
    reasons: Reasons
    cpu: float
    wall: float
    documents: set[str]
    """Useful URLs."""
    copies: set[str]
    """URLs that fit a rule and brought the text of another page: of two equal texts either may be the document."""


def course_of(useful: Sequence[bool]) -> Course:
    """The figures of one crawl, from useful or not, fetch by fetch."""
    found = [found_at(useful, part) for part in PARTS]
    return Course(
        useful=sum(useful),
        fetched=len(useful),
        cumulative=[share(useful, 0.0, point) for point in POINTS],
        slices=[share(useful, before, point) for before, point in itertools.pairwise((0.0, *POINTS))],
        found=found,
        steady=[share(useful, FROM, point) for point in found],
    )


def _median(crawls: Sequence[Crawl]) -> Crawl:
    """The crawl whose share up to the last useful page is the median."""
    return sorted(crawls, key=lambda one: one.course.steady[-1])[len(crawls) // 2]


def _groups(crawls: Sequence[Crawl]) -> dict[tuple[str, str], list[Crawl]]:
    groups: dict[tuple[str, str], list[Crawl]] = {}
    for crawl in crawls:
        groups.setdefault((crawl.site, crawl.strategy), []).append(crawl)
    return groups


def print_report(crawls: Sequence[Crawl]) -> None:
    """Prints every table."""
    _print_courses(crawls)
    _print_finds(crawls)
    _print_costs(crawls)


def _print_courses(crawls: Sequence[Crawl]) -> None:
    for title, name in (("from the beginning to", "cumulative"), ("between the point before and", "slices")):
        print(f"\nUseful share of the downloads in per cent, {title} this point of the crawl\n")
        print("| site | strategy |" + "".join(f" {point:.0%} |" for point in POINTS))
        print("|---|---|" + "---:|" * len(POINTS))
        for (site, strategy), group in _groups(crawls).items():
            middle = _median(group)
            for label, course in ((strategy, middle.course), *middle.simulated.items()):
                cells = "".join(f" {100 * value:.0f} |" for value in getattr(course, name))
                print(f"| {site} | {label} |{cells}")


def _print_finds(crawls: Sequence[Crawl]) -> None:
    print(
        f"\nWhen parts of the useful pages had been found, in per cent of the crawl; useful share from {FROM:.0%} of "
        "the crawl until then;\nuseless downloads before the last useful page: fits but no document, while a "
        "useful URL stood on a downloaded page, while none did\n"
    )
    heads = "".join(f" {part:.0%} at |" for part in PARTS) + "".join(f" until {part:.0%} |" for part in PARTS)
    print(f"| site | strategy | fetched | useful |{heads} fitting | no document | waiting | unknown |")
    print("|---|---|" + "---:|" * (6 + 2 * len(PARTS)))
    for (site, strategy), group in _groups(crawls).items():
        middle = _median(group)
        why = middle.reasons
        excuses = f" {100 * middle.fit_share:.1f} | {why.no_document} | {why.waiting} | {why.unknown} |"
        print(_find_row(site, strategy, middle.course) + excuses)
        for name, course in middle.simulated.items():
            print(_find_row(site, name, course) + " | | | |")
    for (site, strategy), group in _groups(crawls).items():
        if strategy == FITTED:
            ends = sorted(one.course.steady[-1] for one in group)
            met = "met" if ends[0] >= GOAL else "missed"
            print(f"\n{site}: goal of {GOAL:.0%} {met}: {ends[0]:.1%} to {ends[-1]:.1%} in {len(ends)} runs")


def _find_row(site: str, strategy: str, course: Course) -> str:
    cells = "".join(f" {100 * value:.1f} |" for value in (*course.found, *course.steady))
    return f"| {site} | {strategy} | {course.fetched} | {course.useful} |{cells}"


def _print_costs(crawls: Sequence[Crawl]) -> None:
    print(
        "\nUseful pages missed: those that another crawl found and this one has neither as document nor as a copy.\n"
        "What a page costs: medians, all processes of the crawler\n"
    )
    print("| site | strategy | runs | useful | missed | CPU ms a page | ratio | s | ratio |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    groups = _groups(crawls)
    for (site, strategy), group in groups.items():
        base = groups.get((site, PLAIN), group)
        wanted = set[str]().union(*(one.documents for one in crawls if one.site == site))
        missed = max(len(wanted - one.documents - one.copies) for one in group)
        counts = sorted({len(one.documents) for one in group})
        cpu, base_cpu = (statistics.median(1000 * c.cpu / c.course.fetched for c in some) for some in (group, base))
        wall, base_wall = (statistics.median(c.wall for c in some) for some in (group, base))
        print(
            f"| {site} | {strategy} | {len(group)} | {'–'.join(map(str, counts))} | {missed} | {cpu:.2f} | "
            f"{cpu / base_cpu:.3f} | {wall:.1f} | {wall / base_wall:.2f} |"
        )
