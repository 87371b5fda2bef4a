"""Makes `src/gossamer/priority/qrank/data/qrank.npz`, the model of QRank that comes with Gossamer.

    python training/qrank.py --graph ../shared/data/graph
    python training/qrank.py --graph ../shared/data/graph MORE      further sites, as `link_ranks.py` makes them
    python training/qrank.py --graph ... --check                    also tries `Schooling`s, on sites held out

NumPy alone, fixed seeds: the same files give the same model. `bench/qrank.py` measures it on sites that were
left out, `training/qrank_words.py` makes the dictionary it needs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(Path(__file__).parent)]

from _qrank_sites import Site, in_both_forms, read_sites  # noqa: E402

from gossamer.priority.qrank.features import features  # noqa: E402
from gossamer.priority.qrank.learning import Schooling  # noqa: E402
from gossamer.priority.qrank.training import ALL_COLUMNS, Table, cross_validated  # noqa: E402

TRIED = [
    Schooling(steps=steps, decay=decay, power=power, offsets=offsets)
    for steps, decay, power, offsets in (
        (200, 0.1, 0.3, True),
        (200, 1.0, 0.3, True),
        (400, 1.0, 0.3, True),
        (800, 0.5, 0.3, True),
        (400, 1.0, 0.0, True),
        (400, 1.0, 0.6, True),
        (400, 1.0, 0.3, False),
    )
]


def table_of(sites: Sequence[Site], seed: int = 1, forms: bool = True) -> Table:
    """One table of all sites."""
    urls = [url for site in sites for url in (in_both_forms(site.urls, seed) if forms else site.urls)]
    numbers = np.concatenate([np.full(len(site.urls), number) for number, site in enumerate(sites)])
    return Table(features(urls), np.concatenate([site.ranks for site in sites]), numbers)


def main() -> None:
    """Writes the model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, default=ROOT / "src/gossamer/priority/qrank/data/qrank.npz")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    sites = read_sites(args.graph)
    table = table_of(sites)
    print(f"{len(sites)} sites, {len(table.ranks)} pages")
    for how in TRIED if args.check else ():
        print(cross_validated(table, how, ALL_COLUMNS), how)
    data = table.model(Schooling(), ALL_COLUMNS).dump()
    args.out.write_bytes(data)
    print(f"{args.out}: {len(data)} bytes")


if __name__ == "__main__":
    main()
