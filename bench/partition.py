"""One site in several parts, crawled: does a split bring what is predicted?

    python bench/partition.py --live                    cuts of six sites on loopback, half an hour
    python bench/partition.py --live --live-pages 400 --delay 0.5
    python bench/partition.py --quick                   one site of 60 pages in one and two parts

`gossamer crawl` runs in 1, 2, … parts, and the server's log tells how long it took, which pages came twice or never,
and how close together the requests of a part were. Predictions need no crawl: `python -m studies partition`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from _data import ARCHIVES
from _figures import Figure, add_usual, conclude
from _partition_live import GOALS, Run, live, print_live
from _sites import QUICK


def main() -> None:
    """Crawls, and prints the table."""
    options = _options()
    runs = live(options)
    print_live(runs)
    conclude(options, _figures(runs), {"live": runs}, _problems(runs))


def _figures(runs: list[Run]) -> list[Figure]:
    """Acceleration by number of parts: the mean over the sites."""
    alone = {run.site: run.seconds for run in runs if run.parts == 1}
    figures = []
    for parts in sorted({run.parts for run in runs} - {1}):
        gains = [run.measures(alone[run.site]).acceleration for run in runs if run.parts == parts and run.site in alone]
        figures.append(
            Figure(f"acceleration in {parts} parts", sum(gains) / len(gains), "×", GOALS.get(parts), by_clock=True)
        )
    found = sum(run.distinct for run in runs) / sum(run.pages for run in runs)
    closest = min(run.closest for run in runs)
    return [
        *figures,
        Figure("pages fetched", found, "", 0.99, most=1.01),
        Figure("closest requests of a part ÷ delay", closest, "×", least=0.5),
    ]


def _problems(runs: list[Run]) -> list[str]:
    return [f"{run.site} in {run.parts}: pages fetched twice" for run in runs if run.requests > 1.05 * run.distinct]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add_usual(parser, "the first site that is there, 60 pages, one and two parts")
    add("--live", action="store_true", help="crawl, as it does anyway; predictions: python -m studies partition")
    add("--live-sites", type=lambda text: text.split(","), help="sites that are crawled")
    add("--live-pages", type=int, help="pages of their cuts (600; 60 with --quick)")
    add("--live-parts", type=lambda text: [int(one) for one in text.split(",")], help="(1,2,3,4; 1,2 with --quick)")
    add("--delay", type=float, default=0.1, help="seconds between two requests of a part")
    add("--archives", type=Path, default=ARCHIVES, help="folder of NAME.tar.zst sites")
    add("--cache", default="", help="folder for cuts and unpacked sites ($XDG_CACHE_HOME/gossamer-bench)")
    add("--workers", type=int, default=2)
    add("--gossamer", default="", help="the command, if not the one of this environment")
    add("--port", type=int, default=8190)
    options = parser.parse_args()
    options.most_sites = 1 if options.quick and not options.live_sites else None
    options.live_sites = options.live_sites or list(QUICK)
    options.live_pages = options.live_pages or (60 if options.quick else 600)
    options.live_parts = options.live_parts or ([1, 2] if options.quick else [1, 2, 3, 4])
    return options


if __name__ == "__main__":
    main()
