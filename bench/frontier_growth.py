"""What a page costs the frontier with few and with many known URLs (design promise 5).

    python bench/frontier_growth.py --sizes 10000,1000000,10000000 --pages 4000

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

import msgspec

from studies.growth.table_growth import Measured, Work, measure


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
    parser.add_argument("--sizes", default="10000,1000000,10000000", help="known URLs, comma-separated")
    parser.add_argument("--pages", type=int, default=4000, help="pages measured per size")
    parser.add_argument("--new", type=float, default=0.09, help="share of links that lead to new URLs")
    parser.add_argument("--cold", action="store_true", help="a worker that has just started: its cache is empty")
    parser.add_argument("--no-near", action="store_true", help="pages without fingerprints: what near duplicates cost")
    parser.add_argument("--data", type=Path, help="keep filled databases in this folder and use them again")
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    work = Work(options.pages, options.new, options.cold, not options.no_near)
    with tempfile.TemporaryDirectory(prefix="frontier-growth-") as made:
        results = measure(options.data or Path(made), sizes, work, print)
    print(table(results))
    if options.json:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(results)) + b"\n")


if __name__ == "__main__":
    main()
