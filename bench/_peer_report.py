"""The table of the comparison with other crawlers: a row each, figures first, then what was seen."""

from __future__ import annotations

import msgspec

from _probe_site import CRAWL_DELAY, Seen
from _report import Run, SiteFacts

_SPACING = 0.95
"""Share of the asked delay that counts as kept: the server logs when a response was sent, not when it was asked for."""

_STORES = {
    "gossamer": "main text, title, language, dates, links, fingerprints (Parquet, WARC, database); synced",
    "gossamer+index": "the same, and an index that can be searched while it crawls",
    "scrapy": "all text and title (JSON lines); queue in memory",
    "scrapy+job": "the same; queue and known URLs in JOBDIR",
    "crawlee": "all text and title (JSON at the end); queue and texts in memory until then",
    "crawlee+disk": "the same (a file a page); a file for each request: its default storage",
    "wget2": "the files as they are, no text taken out; --timestamping",
}


class Crawled(msgspec.Struct, frozen=True):
    """The crawl of all sites."""

    run: Run
    stored: int
    """Documents with a text of their own."""
    equal: int
    """Of these, how many have a text that is stored already."""


class Killed(msgspec.Struct, frozen=True):
    """A crawl that was killed half-way and started again."""

    pages: int
    until_kill: int
    """Pages that had been served when it was killed."""
    finished_first: bool
    """It was through before it could be killed: nothing is shown."""
    never_fetched: int
    lost: int
    """Pages of the site that it does not have in the end."""
    again: int
    """Pages that were served before the kill and once more after it."""
    asked_again: int
    """The same, with those for which the server had to say only that they are as they were."""
    stored_twice: int


class Peer(msgspec.Struct, frozen=True):
    """Everything about one crawler."""

    name: str
    crawled: Crawled
    seen: Seen
    killed: Killed


def print_peers(sites: list[SiteFacts], killed_on: SiteFacts, peers: list[Peer]) -> None:
    """Prints the table and what its rows and columns mean."""
    pages = sum(site.pages for site in sites)
    print(f"\n{pages} pages of {', '.join(site.name for site in sites)}, all at once; no delay; stored on disk.")
    half = f"kill -9 of the whole tree at half of {killed_on.name} ({killed_on.pages} pages)"
    print(f"Last four columns: {half}, then the same command again.\n")
    _print_rows(_HEADS, [_cells(peer) for peer in peers])
    print("\nWhat each stores")
    for peer in peers:
        print(f"  {peer.name:16}{_STORES[peer.name]}")
    _print_doubts(peers)


_HEADS = (
    ("", ""),
    ("pages", "per s"),
    ("CPU s per", "1000 pages"),
    ("start", "CPU s"),
    ("peak", "MB"),
    ("pages", "fetched"),
    ("not", "fetched"),
    ("fetched", "twice"),
    ("equal", "texts"),
    ("robots", ".txt"),
    ("Crawl-", "delay"),
    ("copies", "stored"),
    ("main", "text"),
    ("index", ""),
    ("site-", "map"),
    ("feed", ""),
    ("killed:", "lost"),
    ("fetched", "again"),
    ("asked", "again"),
    ("stored", "twice"),
)


def _cells(peer: Peer) -> tuple[str, ...]:
    run, seen = peer.crawled.run, peer.seen
    return (
        peer.name,
        f"{run.per_second:.0f}",
        f"{1000 * run.cpu / run.pages:.1f}" if run.pages else "–",
        f"{seen.cpu:.1f}",
        f"{run.memory / 1e6:.0f}",
        str(run.pages),
        str(run.missing),
        str(run.repeated),
        str(peer.crawled.equal),
        _yes(seen.robots),
        _yes(seen.shortest_gap >= CRAWL_DELAY * _SPACING),
        f"{seen.copies} of 2",
        _yes(seen.main_text),
        _yes(seen.index),
        _yes(seen.sitemap),
        _yes(seen.feed),
        *_kill_cells(peer.killed),
    )


def _kill_cells(killed: Killed) -> tuple[str, ...]:
    if killed.finished_first:
        return "?", "?", "?", "?"
    fetched_again = f"{killed.again} of {killed.until_kill}"
    return str(killed.lost), fetched_again, str(killed.asked_again), str(killed.stored_twice)


def _print_rows(heads: tuple[tuple[str, str], ...], rows: list[tuple[str, ...]]) -> None:
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, (*head, *column))) for head, column in zip(heads, columns, strict=True)]
    for line in (*zip(*heads, strict=True), *rows):
        first, *others = line
        print(f"{first:{widths[0]}}" + "".join(f"{c:>{w + 2}}" for c, w in zip(others, widths[1:], strict=True)))


def _print_doubts(peers: list[Peer]) -> None:
    early = [p.name for p in peers if p.killed.finished_first]
    if early:
        print(f"\n{', '.join(early)}: through before the kill; take more pages with --kill-pages.")
    failed = [p.name for p in peers if p.crawled.run.code not in (0, 8)]
    if failed:
        print(f"\n{', '.join(failed)}: ended with an error, see above.")
    noisy = sum(p.crawled.run.others_cpu for p in peers) / (sum(p.crawled.run.wall for p in peers) or 1)
    if noisy > 0.1:
        print(f"\nOther processes kept {noisy:.2f} cores busy: trust CPU seconds, memory and what was seen only.")


def _yes(value: bool) -> str:
    return "yes" if value else "no"
