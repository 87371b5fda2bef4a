"""From the samples of a soak to a verdict, a page and a plot."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

import msgspec
from measuring import Sample

from studies.reports.plots import svg_picture
from studies.reports.report import Figure, Panel, Series

GROWTH = 1.25
"""Median of the last quarter ÷ median of the one before: more has grown."""
SLACK_MEMORY = 40.0
"""Mebibytes that do not count: allocators keep what they once needed."""
SLACK_HANDLES = 8
SLACK_DISK = 50.0
"""Mebibytes: between two turns of thinning out, visits come together."""
UNDISTURBED = (2, 3)
"""The quarters in which nobody is killed: a process that began a minute ago has not grown."""
ROLES = ("crawl", "worker", "parser", "indexer", "server")


class Ending(msgspec.Struct):
    """What was found when all had stopped."""

    kills: int
    expected: int
    missing: int
    empty: int
    """Pages without their text."""
    twice: int
    rude: int
    pages: int
    examples: list[str]


def problems_of(samples: Sequence[Sample], ending: Ending) -> list[str]:
    """A sentence for everything that is not as it should be."""
    found = []
    if ending.missing:
        found.append(f"{ending.missing} of {ending.expected} pages are missing")
    if ending.empty:
        found.append(f"{ending.empty} pages have lost their text")
    if ending.twice:
        found.append(f"{ending.twice} pages are there twice")
    if ending.rude:
        found.append(f"{ending.rude} rude requests, such as {ending.examples[0]}")
    found += _not_measured(samples)
    for role in ROLES:
        memory = [_values(_quarter(samples, number), lambda one: one.memory, role) for number in UNDISTURBED]
        found += _grown(f"memory of the {role} (MiB)", *memory, SLACK_MEMORY)
        handles = [_values(_quarter(samples, number), lambda one: one.handles, role) for number in UNDISTURBED]
        found += _grown(f"open files of the {role}", *handles, SLACK_HANDLES)
    return [*found, *_grown("disk (MiB)", *_disk(samples), SLACK_DISK)]


def _disk(samples: Sequence[Sample]) -> list[list[float]]:
    """Mebibytes in all, of the last two quarters."""
    return [[sum(one.disk.values()) for one in _quarter(samples, number)] for number in UNDISTURBED]


def _not_measured(samples: Sequence[Sample]) -> list[str]:
    """What was not seen cannot have grown, and must not count as well."""
    quarters = [_quarter(samples, number) for number in UNDISTURBED]
    unseen = [role for role in ROLES if not all(_values(one, lambda one: one.memory, role) for one in quarters)]
    found = [f"nothing was measured of {', '.join(unseen)}"] if unseen else []
    answered = sum(one.search_ms > 0 for one in samples)
    if answered * 2 < len(samples):
        found.append(f"the server answered {answered} of {len(samples)} searches")
    return found


def _values(samples: Sequence[Sample], of: Callable[[Sample], Mapping[str, float]], role: str) -> list[float]:
    return [of(one)[role] for one in samples if role in of(one)]


def _grown(what: str, early: Sequence[float], late: Sequence[float], slack: float) -> list[str]:
    if not early or not late:
        return []
    before, after = median(early), median(late)
    return [f"{what}: {before:.0f} → {after:.0f}"] if after > before * GROWTH and after > before + slack else []


def _quarter(samples: Sequence[Sample], number: int) -> Sequence[Sample]:
    size = len(samples) // 4
    return samples[number * size : (number + 1) * size]


def figure_of(samples: Sequence[Sample]) -> Figure:
    """Memory, handles, disk and speed over the time."""
    minutes = [one.at / 60 for one in samples]
    kinds = sorted({kind for one in samples for kind in one.disk})
    speed = [(b.fetched - a.fetched) / (b.at - a.at) if b.at > a.at else 0.0 for a, b in itertools.pairwise(samples)]
    panels = (
        Panel("minutes", "MiB", _series(minutes, samples, lambda one, role: one.memory.get(role)), "Largest process"),
        Panel("minutes", "files", _series(minutes, samples, lambda one, role: one.handles.get(role)), "Open files"),
        Panel(
            "minutes", "MiB",
            [Series(kind, minutes, [one.disk.get(kind, 0.0) for one in samples]) for kind in kinds], "Disk",
        ),
        Panel("minutes", "pages/s", [Series("requests", minutes[1:], speed)], "Speed", y_from=0.0),
    )  # fmt: skip
    return Figure("soak", "An hour at full load with kills", panels)


def _series(
    minutes: Sequence[float], samples: Sequence[Sample], value: Callable[[Sample, str], float | None]
) -> list[Series]:
    drawn = []
    for role in ROLES:
        there = [(at, found) for at, one in zip(minutes, samples, strict=True) if (found := value(one, role))]
        if there:
            drawn.append(Series(role, [at for at, _ in there], [float(found) for _, found in there]))
    return drawn


def write(folder: Path, samples: Sequence[Sample], ending: Ending, options: str) -> list[str]:
    """`soak.md` and `soak.svg`; returns the problems."""
    problems = problems_of(samples, ending)
    last, searches = samples[-1], [one.search_ms for one in samples if one.search_ms]
    rows = [
        ("time", f"{last.at / 60:.0f} min"),
        ("requests", f"{last.fetched:,}"),
        ("kills", f"{ending.kills}"),
        ("pages of the web", f"{ending.expected:,}"),
        ("in the end", f"{ending.missing} missing, {ending.empty} without their text, {ending.twice} twice"),
        ("rude requests in the web's log", f"{ending.rude}"),
        ("searches over HTTP meanwhile", f"median {median(searches):.1f} ms" if searches else "none"),
        ("disk, third → last quarter", " → ".join(f"{median(one):.0f}" for one in _disk(samples)) + " MiB"),
        *((f"memory of the {role}, third → last quarter", _change(samples, role)) for role in ROLES),
    ]
    lines = [
        "# Soak", "",
        "Written by `make soak`: a web of generated sites is crawled at full speed and searched. In the first half",
        "processes are killed at random; in the second they grow old. Memory, file handles and disk must stay flat,",
        "and nothing may be lost.", "",
        f"`python tests/soak/run.py {options}`".rstrip() if options else "`make soak`", "",
        "| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows), "",
        *([f"- **{problem}**" for problem in problems] or ["Nothing lost, nobody disturbed, nothing grew."]), "",
        "![memory, open files, disk and speed over the time](soak.svg)",
    ]  # fmt: skip
    (folder / "soak.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "soak.svg").write_bytes(svg_picture(figure_of(samples)))
    return problems


def _change(samples: Sequence[Sample], role: str) -> str:
    values = [_values(_quarter(samples, number), lambda one: one.memory, role) for number in UNDISTURBED]
    return " → ".join(f"{median(found):.0f}" if found else "–" for found in values) + " MiB"
