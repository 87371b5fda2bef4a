"""What a benchmark found, in one form for all of them, so that one page can show it and one test can judge it.

A script ends with `conclude`: it prints the figures with their goals, writes `--json FILE`, and exits with 1 if a
number is not finite, a figure lies outside of what is possible, or the script found that something went wrong. A missed
goal is no error: it is a figure.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import Any

import msgspec

from _tree import machine_cpu


class Figure(msgspec.Struct, frozen=True):
    """One number that is worth a row."""

    name: str
    value: float
    unit: str = ""
    goal: float | None = None
    at_most: bool = False
    """The goal is an upper bound."""
    beside: dict[str, float] = {}
    """The same of others in the same run."""
    least: float = 0.0
    most: float = 1e12
    """Bounds of what is possible: beyond them it is the benchmark that is wrong."""
    by_clock: bool = False
    """It goes by the clock, so it tells nothing if other programs kept the machine busy."""

    @property
    def is_met(self) -> bool:
        """Whether the goal is reached, if there is one."""
        if self.goal is None:
            return True
        return self.value <= self.goal if self.at_most else self.value >= self.goal


class Measured(msgspec.Struct, frozen=True):
    """A run of one script."""

    script: str
    date: str
    quick: bool
    others: float
    """Cores that other programs kept busy meanwhile: trust CPU times and ratios only, if they are many."""
    figures: list[Figure]
    left_out: list[str] = []
    """What was missing, in words."""
    details: Any = None


_started = time.monotonic(), machine_cpu()
_left_out: list[str] = []


def leave_out(what: str, why: str) -> None:
    """Says that a part is not measured, on the console and in the result."""
    print(f"{what}: left out; {why}", file=sys.stderr)
    _left_out.append(f"{what}: {why}")


def add_usual(parser: argparse.ArgumentParser, quick: str) -> None:
    """The options that every script has."""
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures for programs")


def add_ceilings(parser: argparse.ArgumentParser) -> None:
    """The option of scripts whose figures a test holds: counts, which are the same on every machine."""
    parser.add_argument("--ceilings", type=Path, metavar="FILE", help="write what was counted into the file of a test")


def keep_ceilings(path: Path, what: str, values: Mapping[str, float]) -> None:
    """Write them, in place of those of the same name."""
    ceilings = msgspec.json.decode(path.read_bytes()) if path.exists() else {}
    ceilings[what] = {name: round(value, 2) for name, value in values.items()}
    path.write_bytes(msgspec.json.format(msgspec.json.encode(dict(sorted(ceilings.items())))) + b"\n")


def conclude(
    options: argparse.Namespace, figures: Sequence[Figure], details: Any = None, problems: Sequence[str] = ()
) -> None:
    """The end of a script: shows and writes the figures; exit code 1 if something is wrong with them."""
    script = Path(sys.argv[0]).stem
    today = datetime.now(UTC).date().isoformat()
    found = Measured(script, today, options.quick, round(_others(), 2), [*figures], _left_out, details)
    for figure in figures:
        print(f"  {line(figure)}")
    if options.json:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(found)))
    wrong = [*problems, *doubts(found)]
    for problem in wrong:
        print(f"{script}: {problem}", file=sys.stderr)
    if wrong:
        sys.exit(1)


def _others() -> float:
    """Cores that neither this process nor what it started and waited for kept busy."""
    began, before = _started
    own = sum(one.ru_utime + one.ru_stime for one in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN)))
    return max(0.0, machine_cpu() - before - own) / (time.monotonic() - began)


def line(figure: Figure) -> str:
    """A figure in a line."""
    goal = f"; goal {goal_of(figure)}: {'met' if figure.is_met else 'missed'}" if figure.goal is not None else ""
    beside = "".join(f"; {name} {shown(value)}" for name, value in figure.beside.items())
    return f"{figure.name}: {shown(figure.value)} {figure.unit}".rstrip() + goal + beside


def goal_of(figure: Figure) -> str:
    """The goal with its direction."""
    return "" if figure.goal is None else f"{'≤' if figure.at_most else '≥'} {shown(figure.goal)}"


def shown(value: float) -> str:
    """Three digits that count, without an exponent."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def doubts(found: Measured) -> Iterator[str]:
    """What cannot be right about a run."""
    if not found.figures:
        yield "no figure"
    for figure in found.figures:
        numbers = (figure.value, *figure.beside.values())
        if not all(figure.least <= number <= figure.most for number in numbers):
            yield f"{line(figure)}: not between {figure.least:g} and {figure.most:g}"
    if not all(map(math.isfinite, _numbers(msgspec.to_builtins(found.details)))):
        yield "a number among the details is not finite"


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        yield from (number for one in value.values() for number in _numbers(one))
    elif isinstance(value, list | tuple | set):
        yield from (number for one in value for number in _numbers(one))
    elif isinstance(value, float):
        yield value
