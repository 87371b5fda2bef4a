"""What a page costs the frontier with few and with many known URLs (design promise 5).

    python bench/frontier_growth.py --sizes 10000,1000000,10000000 --pages 4000
    python bench/frontier_growth.py --quick                                        10,000 and 50,000 URLs, 600 pages

`python -m studies growth` measures the same and fits the seed's model to it; here the load can be varied: other shares
of new links, a worker that has just started, pages without fingerprints. What is done and timed:
`studies.growth`, `table_growth` and `frontier_load`.

Columns: microseconds of CPU per page (the worker's process, SQLite and kernel included) and of wall time, the ratio to
the smallest size, memory of the process at the first and the last batch.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from _figures import Figure, add_usual, conclude
from studies.growth.table_growth import Measured, Work, measure

GOAL = 1.05


def table(results: list[Measured]) -> str:
    """The figures for a person."""
    lines = [
        f"{'URLs':>11} {'cpu µs':>8} {'median':>8} {'ratio':>6} {'wall µs':>8} {'ratio':>6}   take  report  release"
        "   RSS MB      file MB"
    ]
    first = results[0]
    lines += [
        f"{one.size:>11,} {one.cost:8.1f} {statistics.median(one.cpu):8.1f} {one.cost / first.cost:6.2f} "
        f"{one.wall:8.1f} {one.wall / first.wall:6.2f} {one.calls['take']:6.1f} {one.calls['report']:7.1f} "
        f"{one.calls['release']:8.1f} {one.memory_first / 1e6:6.0f} → {one.memory_last / 1e6:<4.0f} "
        f"{one.file / 1e6:8.0f}"
        for one in results
    ]
    return "\n".join(lines)


def main() -> None:
    """Fill what is missing, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_usual(parser, "10,000 and 50,000 URLs, 600 pages")
    parser.add_argument("--sizes", help="known URLs, comma-separated (10000,1000000,10000000)")
    parser.add_argument("--pages", type=int, help="pages measured per size (4,000; 600 with --quick)")
    parser.add_argument("--new", type=float, default=0.09, help="share of links that lead to new URLs")
    parser.add_argument("--cold", action="store_true", help="a worker that has just started: its cache is empty")
    parser.add_argument("--no-near", action="store_true", help="pages without fingerprints: what near duplicates cost")
    parser.add_argument("--data", type=Path, help="keep filled databases in this folder and use them again")
    options = parser.parse_args()
    wanted = options.sizes or ("10000,50000" if options.quick else "10000,1000000,10000000")
    sizes = [int(size) for size in wanted.split(",")]
    work = Work(options.pages or (600 if options.quick else 4_000), options.new, options.cold, not options.no_near)
    with tempfile.TemporaryDirectory(prefix="frontier-growth-") as made:
        results = measure(options.data or Path(made), sizes, work, print)
    print(table(results))
    conclude(options, figures(results), results)


def figures(results: list[Measured]) -> list[Figure]:
    """The largest table against the smallest."""
    first, last = results[0], results[-1]
    return [
        Figure(f"CPU of a page, {last.size:,} known URLs", last.cost, "µs", beside={f"{first.size:,}": first.cost}),
        Figure(f"{last.size:,} ÷ {first.size:,} known URLs", last.cost / first.cost, "×", GOAL, True, least=0.2),
        Figure(f"memory, {last.size:,} known URLs", last.memory_last / 1e6, "MB", least=1, most=100_000),
    ]


if __name__ == "__main__":
    main()
