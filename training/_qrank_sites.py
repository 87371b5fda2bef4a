"""Sites with the link ranks of their pages, as files in folders.

`NAME.pages.tsv.gz`: path, links to the page, links from it, PageRank × pages of the site; one site each.
`*_url_pagerank.tsv`: URL, links to it, links from it, PageRank; many hosts with few pages each.
"""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import numpy as np

INDEX = "/index.html"


class Site(msgspec.Struct, frozen=True):
    """The pages of a site, or of many small ones."""

    name: str
    urls: list[str]
    ranks: np.ndarray
    folds: np.ndarray
    """Rows that must be held out together have the same number: all of a site; of many sites, those of a host."""


def read_sites(folders: Iterable[Path]) -> list[Site]:
    """The sites of folders, by name."""
    sites = []
    for folder in folders:
        sites += [_one_site(file) for file in sorted(folder.glob("*.pages.tsv.gz"))]
        sites += [_many_hosts(file) for file in sorted(folder.glob("*_url_pagerank.tsv"))]
    if not sites:
        raise SystemExit(f"no *.pages.tsv.gz or *_url_pagerank.tsv in {', '.join(map(str, folders))}")
    return sites


def in_both_forms(urls: list[str], seed: int) -> list[str]:
    """Half of the index pages, by lot, as the folders that live sites call them."""
    luck = random.Random(seed)
    return [url[: 1 - len(INDEX)] if url.endswith(INDEX) and luck.random() < 0.5 else url for url in urls]


def _one_site(file: Path) -> Site:
    name = file.name.removesuffix(".pages.tsv.gz")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    ranks = np.array([float(row[3]) for row in rows])
    return Site(name, [f"https://www.{name}.org{row[0]}" for row in rows], ranks, np.zeros(len(rows), np.int64))


def _many_hosts(file: Path) -> Site:
    with file.open(encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    urls = [row[0] for row in rows]
    folds = np.array([zlib.crc32(urlsplit(url).netloc.encode()) % 5 for url in urls])
    return Site(file.name.removesuffix("_url_pagerank.tsv"), urls, np.array([float(row[3]) for row in rows]), folds)
