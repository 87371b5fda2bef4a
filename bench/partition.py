"""One site in several parts, crawled: does a split bring what is predicted?

    python bench/partition.py --live                    cuts of six sites on loopback, half an hour
    python bench/partition.py --live --live-pages 400 --delay 0.5

`gossamer crawl` runs in 1, 2, … parts, and the server's log tells how long it took, which pages came twice or never,
and how close together the requests of a part were. Predictions need no crawl: `python -m studies partition`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

from _partition_live import live, print_live
from _sites import ARCHIVES, QUICK


def main() -> None:
    """Crawls, and prints the table."""
    options = _options()
    runs = live(options)
    print_live(runs)
    if options.json:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode({"live": runs})))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--live", action="store_true", required=True, help="crawl; predictions: python -m studies partition")
    add("--live-sites", type=lambda text: text.split(","), default=list(QUICK), help="sites that are crawled")
    add("--live-pages", type=int, default=600, help="pages of their cuts")
    add("--live-parts", type=lambda text: [int(one) for one in text.split(",")], default=[1, 2, 3, 4])
    add("--delay", type=float, default=0.1, help="seconds between two requests of a part")
    add("--archives", type=Path, default=ARCHIVES, help="folder of NAME.tar.zst sites")
    add("--cache", default="", help="folder for cuts and unpacked sites ($XDG_CACHE_HOME/gossamer-bench)")
    add("--workers", type=int, default=2)
    add("--gossamer", default="", help="the command, if not the one of this environment")
    add("--port", type=int, default=8190)
    add("--json", type=Path, metavar="FILE", help="the figures for programs")
    return parser.parse_args()


if __name__ == "__main__":
    main()
