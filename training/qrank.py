"""Makes `src/gossamer/priority/qrank/data/qrank.npz`, the model of QRank that comes with Gossamer.

    python training/qrank.py sites SITES            prints the commands that fetch the further sites into a folder
    python training/qrank.py rows SITES -o ROWS     link ranks of what lies there (`link_ranks.py`), a file for each
    python training/qrank.py train --graph ../shared/data/graph ROWS
    python training/qrank.py check --graph ROWS     tries `Schooling`s, each site predicted by models of others

`qrank_sites.toml` names the further sites. `rows` takes `--site NAME` for one of them, and complains where a site has
not the number of pages it had. The same rows give the same model: NumPy alone, fixed seeds. Another NumPy or processor
may add up in another order, and places then differ by some millionths.
Decide by `check` on the further sites alone; `python -m studies qrank` then measures on the sites of the graph data,
each left out in turn (rows in its folder `graph/further` are learnt from, too). `training/qrank_words.py` makes the
dictionary that features need.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src"), str(Path(__file__).parent)]

from link_ranks import Folder, write_rows  # noqa: E402

from gossamer.priority.qrank.features import features  # noqa: E402
from gossamer.priority.qrank.learning import Schooling  # noqa: E402
from gossamer.priority.qrank.training import ALL_COLUMNS, Table, cross_validated  # noqa: E402
from studies.qrank.importance import Site, in_both_forms, read_sites  # noqa: E402

SITES = Path(__file__).with_name("qrank_sites.toml")
MODEL = ROOT / "src/gossamer/priority/qrank/data/qrank.npz"
FOLDS = 12


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a site came from: one of three ways."""

    name: str
    pages: int
    github: str = ""
    commit: str = ""
    debian: str = ""
    version: str = ""
    archive: str = ""
    folder: str = ""
    """Where in it the pages lie."""

    def commands(self, target: Path) -> str:
        """What fetches it."""
        if self.github:
            clone = f"git clone https://github.com/{self.github} {target}"
            return f"{clone} && git -C {target} checkout {self.commit}"
        if self.debian:
            return f"apt-get download {self.debian}={self.version} && dpkg -x {self.debian}_*.deb {target}"
        return f"mkdir -p {target} && tar -xf {self.archive} -C {target}"


def read_sources() -> list[Source]:
    """The further sites."""
    return msgspec.convert(tomllib.loads(SITES.read_text(encoding="utf-8"))["site"], list[Source])


def make_rows(source: Source, sites: Path, rows: Path) -> None:
    """The file of one site."""
    root = sites / source.name / source.folder
    if not root.is_dir():
        print(f"{source.name}: there is no {root}")
        return
    folder = Folder(root)
    rows.mkdir(parents=True, exist_ok=True)
    write_rows(folder, rows / f"{source.name}.pages.tsv.gz")
    differs = "" if len(folder.paths) == source.pages else f", but there should be {source.pages}"
    print(f"{source.name}: {len(folder.paths)} pages{differs}")


def table_of(sites: Sequence[Site], seed: int = 1) -> Table:
    """One table of all sites."""
    urls = [url for site in sites for url in in_both_forms(site.urls, seed)]
    numbers = np.concatenate([np.full(len(site.urls), number) for number, site in enumerate(sites)])
    return Table(features(urls), np.concatenate([site.ranks for site in sites]), numbers)


def train(sites: Sequence[Site], target: Path) -> None:
    """Writes the model."""
    table = table_of(sites)
    data = table.model(Schooling(), ALL_COLUMNS).dump()
    target.write_bytes(data)
    print(f"{target}: {len(data)} bytes, from {len(table.ranks)} pages of {len(sites)} sites")


TRIED: list[dict[str, float]] = [
    {}, {"decay": 0.5}, {"decay": 2.0}, {"steps": 200}, {"power": 0.0}, {"power": 0.6}, {"offsets": False},
]  # fmt: skip


def check(sites: Sequence[Site]) -> None:
    """Mean rank correlations on sites held out, by `Schooling`."""
    table = table_of(sites)
    folds = (np.random.default_rng(7).permutation(len(sites)) % FOLDS)[table.sites]
    for changes in TRIED:
        figures = cross_validated(table, Schooling(**changes), ALL_COLUMNS, folds)
        worst = sorted(one.correlation for one in figures.each)[: len(sites) // 4]
        print(f"{figures.correlation:.3f}, worst quarter {np.mean(worst):.3f}: {changes or 'what ships'}", flush=True)


def main() -> None:
    """Runs a step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    for name in ("sites", "rows"):
        step = steps.add_parser(name)
        step.add_argument("sites", type=Path)
        step.add_argument("--site", action="append", help="only this one")
    steps.choices["rows"].add_argument("-o", "--output", type=Path, required=True)
    for name in ("train", "check"):
        steps.add_parser(name).add_argument("--graph", type=Path, nargs="+", required=True, help="folders with rows")
    steps.choices["train"].add_argument("--out", type=Path, default=MODEL)
    args = parser.parse_args()
    if args.step in ("train", "check"):
        sites = read_sites(args.graph)
        train(sites, args.out) if args.step == "train" else check(sites)
        return
    for source in read_sources():
        if args.site and source.name not in args.site:
            continue
        if args.step == "sites":
            print(source.commands(args.sites / source.name))
        else:
            make_rows(source, args.sites, args.output)


if __name__ == "__main__":
    main()
