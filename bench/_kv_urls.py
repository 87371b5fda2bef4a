"""The URLs of `kv.py`: real ones, in the order in which a crawl finds them, as rows of our table.

Sources, all that are there: the table of a finished crawl (`_corpus.py`, or `--data`), and lists of URLs, one in the
first column or two of each line (`*.tsv.gz`, `*.txt.gz` in the folders `--lists`). Each URL counts once.

What a page leads to stands together in the table and belongs to few sites; which client comes upon it is chance. So
runs of seven neighbours (nine new links of a hundred, eighty links a page) are dealt to the clients at random.
"""

from __future__ import annotations

import gzip
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from gossamer.database.schema import DONE
from gossamer.model.site import key64, site_of

Row = tuple[Any, ...]
Key = tuple[int, int]

COLUMNS = (
    "site_id, key, url, part, state, kind, via, level, lowered, depth, hops, found_at, found_site, found_key, "
    "outcome, status, fetched_at, content_hash, segment, segment_row, fit"
)
_LISTS = ("*.external.tsv.gz", "*urls*.txt.gz", "*pairs*.tsv.gz")
_RUN = 7
_NOW = 1_700_000_000.0
_MASK = (1 << 128) - 1


def real_urls(data: Path, lists: list[Path], wanted: int) -> list[str]:
    """Different URLs, at most as many as wanted, and what they come from on the console."""
    found: dict[str, None] = {}
    for name, source in _sources(data, lists):
        before = len(found)
        for url in source:
            if url.startswith(("http://", "https://")):
                found[url] = None
        print(f"{len(found) - before:9,} URLs of {name}", file=sys.stderr)
    if len(found) < wanted:
        more = "python bench/_corpus.py makes a crawl of some 470,000, or name a data folder with --data"
        print(f"{len(found):,} different URLs, {wanted:,} wanted: {more}", file=sys.stderr)
    if not found:
        raise SystemExit("no URLs at all: name a crawl with --data or folders of lists with --lists")
    # All sources in equal shares: the crawl's own sites are few and large, those of the lists many and small.
    urls = list(found)
    step = max(1.0, len(urls) / wanted)
    runs = [urls[place : place + _RUN] for place in range(0, len(urls), _RUN)]
    return [url for place in range(int(len(runs) / step)) for url in runs[int(place * step)]]


def _sources(data: Path, lists: list[Path]) -> Iterator[tuple[str, Iterator[str]]]:
    table = data / "frontier.db"
    if table.exists():
        yield "a crawl", _of_crawl(table)
    for folder in lists:
        for path in sorted(path for pattern in _LISTS for path in folder.glob(pattern)):
            yield path.name, _of_list(path)


def _of_crawl(table: Path) -> Iterator[str]:
    database = sqlite3.connect(f"file:{table}?mode=ro", uri=True)
    try:
        yield from (url for (url,) in database.execute("SELECT url FROM urls ORDER BY rowid"))
    finally:
        database.close()


def _of_list(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            yield from line.rstrip("\n").split("\t")[:2]


def shares(urls: list[str], clients: int) -> list[list[str]]:
    """The URLs of each client, in the order in which it finds them."""
    runs = [urls[place : place + _RUN] for place in range(0, len(urls), _RUN)]
    Random(len(urls)).shuffle(runs)
    return [[url for run in runs[client::clients] for url in run] for client in range(clients)]


def row_of(url: str) -> Row:
    """A row as it is once its page was fetched."""
    site, key = key64(site_of(url)), key64(url)
    text = f"{key * 0x9E3779B97F4A7C15 & _MASK:032x}"
    found = ("page", "link", 8, 0, 3, 0, _NOW, site, key ^ 1)
    fetched = ("document", 200, _NOW, text)
    return (site, key, url, 0, DONE, *found, *fetched, "20231114T221320000-w095b8db9-000716", key & 1023, 1)
