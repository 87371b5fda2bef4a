"""The figures of `scale.py` and their tables."""

from __future__ import annotations

import msgspec

GOAL = 3.8 / 4
"""Of the ideal ratio."""


class Figures(msgspec.Struct, frozen=True):
    """One crawl."""

    database: str
    workers: int
    hosts: int
    bound: float
    """Pages a second that politeness allows."""
    rate: float
    """Pages a second."""
    sites: list[int]
    """Sites that each worker held in the middle of the stretch."""
    cpu: dict[str, float]
    """CPU milliseconds a page, by role."""
    busy: float
    """Share of the machine that was in use, by anything."""
    others: float
    """Cores that were kept busy by what is no part of the benchmark: noise, best near 0."""
    work: dict[str, float]
    """What the server and the disk had to do for a page."""
    rude: int
    repeated: int
    """Pages fetched more than once."""


def print_head() -> None:
    """The names of the columns."""
    heads = f"{'hosts':>6}{'pages/s':>9}{'÷ bound':>9}{'× first':>9}{'of ideal':>10}{'machine':>9}{'others':>8}"
    print(f"{'database':12}{'workers':>8}{heads}{'rude':>6}{'twice':>7}  sites of each worker", flush=True)


def print_line(one: Figures, so_far: list[Figures]) -> None:
    """One crawl, beside the first on the same database."""
    first = next(figures for figures in so_far if figures.database == one.database)
    ratio = one.rate / first.rate if first.rate else 0.0
    ideal = one.workers / first.workers
    print(
        f"{one.database:12}{one.workers:8}{one.hosts:6}{one.rate:9.1f}{one.rate / one.bound:9.3f}{ratio:9.2f}"
        f"{ratio / ideal:10.3f}{one.busy:8.0%} {one.others:8.2f}{one.rude:6}{one.repeated:7}  "
        f"{', '.join(map(str, one.sites))}",
        flush=True,
    )


def print_costs(found: list[Figures]) -> None:
    """What a page cost, by process, and what it made the database do."""
    _print_table("CPU ms a page", [(one, {**one.cpu, "all": sum(one.cpu.values())}) for one in found])
    _print_table("for a page", [(one, one.work) for one in found])
    print(f"\ngoal: {GOAL:.3f} of the ideal ratio (4 workers 3.8 × one)")


def _print_table(title: str, rows: list[tuple[Figures, dict[str, float]]]) -> None:
    columns = list(dict.fromkeys(column for _, cells in rows for column in cells))
    columns.sort(key=lambda column: column == "all")
    print(f"\n{title:20}" + "".join(f"{column:>{len(column) + 3}}" for column in columns))
    for one, cells in rows:
        texts = ((f"{cells[column]:.2f}" if column in cells else "-") for column in columns)
        line = "".join(f"{text:>{len(column) + 3}}" for text, column in zip(texts, columns, strict=True))
        print(f"{one.database:12}{one.workers:8}{line}")
