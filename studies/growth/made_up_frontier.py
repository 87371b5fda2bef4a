"""A frontier database as a crawl of a given size leaves it, made in seconds instead of days.

Filled as a crawl fills it: a few URLs of a site at a time, sites in random order, so that the table's pages lie in the
file as they would. Sites are of very different sizes. One of eight known URLs is visited: that is what 9 % new links
lead to. Each visited page has a fingerprint like no other's, which is the dearest case.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec

from gossamer.database.database import Database, Where, open_database
from gossamer.database.schema import DONE, QUEUED
from gossamer.database.sqlite import SqliteDatabase
from gossamer.model.site import key64, registrable_domain
from gossamer.scope.shape import path_shape
from gossamer.scope.statistics import prefix_of

FILLING = 1
"""Raised when databases of a size come out differently: those that were kept are then made anew."""
NOW = 1_700_000_000.0
LEVELS = (8, 12, 15)
"""Depths of the pages, and so their levels."""
ETAG = '"5f3c-5e8a9b2c4d6e0"'
LAST_MODIFIED = "Tue, 14 Nov 2023 22:13:20 GMT"
VISITED = 8
"""One of so many known URLs is visited."""
_SITES = 1000
_SKEW = 0.8
_RUN = 7
"""URLs of a site that were found on one page, and so stand together in the table."""
_RUNS_AT_ONCE = 10_000
_SEGMENT = "segment-000000-w0000"
_TASK = "w0000000"
_MASK = (1 << 128) - 1


class Site(msgspec.Struct):
    """A made-up site: URLs 0 … size-1 are known."""

    name: str
    size: int

    def url(self, number: int) -> str:
        """The URL of a page."""
        return f"https://{self.name}/section-{number % 7}/topic-{number % 97}/some-article-title-{number}.html"


def make_sites(size: int) -> list[Site]:
    """Sites whose sizes fall off by a power law and add up to about `size`; each has five URLs at least."""
    weights = [1 / (rank + 1) ** _SKEW for rank in range(_SITES)]
    share = size / sum(weights)
    return [Site(f"www.site-{rank:04}.example", max(5, round(share * w))) for rank, w in enumerate(weights)]


def unique_fingerprint(random: Random) -> tuple[bytes, list[int]]:
    """One that is like no other, and its keys, of the default method's size."""
    return random.randbytes(408), [random.getrandbits(63) for _ in range(6)]


def text_hash(url: str) -> str:
    """What a made-up page's text comes to."""
    return f"{key64('text ' + url) & _MASK:032x}"


def fill(where: Where, size: int) -> None:
    """A database of so many known URLs, at a place where there is none."""
    db = open_database(where, cache_mb=512)
    embedded = isinstance(db, SqliteDatabase)
    if embedded:  # a file that is not complete is thrown away
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA wal_autocheckpoint = 200000")
    sites = [_Filled(site) for site in sorted(make_sites(size), key=lambda site: key64(site.name))]
    runs = [(site, start) for site in sites for start in range(0, site.size, _RUN)]
    Random(size).shuffle(runs)
    for first in range(0, len(runs), _RUNS_AT_ONCE):
        with db.transaction():
            db.many(_INSERT_URL, _url_rows(runs[first : first + _RUNS_AT_ONCE]))
    for site in sites:
        with db.transaction():
            _fill_site(db, site)
    _fill_clusters(db, sites)
    _fill_totals(db, sites)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)" if embedded else "VACUUM ANALYZE")
    db.close()


class _Filled:
    """A site with the keys of its URLs, which each of its tables asks for."""

    def __init__(self, site: Site) -> None:
        self.site, self.size, self.id = site, site.size, key64(site.name)
        self.keys = array("q", (key64(site.url(number)) for number in range(site.size)))
        self.visited = range(0, site.size, VISITED)

    def queued(self) -> Iterator[int]:
        """Numbers of the URLs that are not visited."""
        return (number for number in range(self.size) if number % VISITED)


_INSERT_URL = """INSERT INTO urls (site_id, key, url, part, state, kind, via, level, depth, hops, found_at, found_site,
    found_key, outcome, status, fetched_at, etag, last_modified, content_hash, segment, segment_row)
    VALUES (?, ?, ?, 0, ?, 'page', 'link', ?, 3, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""


def _url_rows(runs: list[tuple[_Filled, int]]) -> Iterator[tuple[Any, ...]]:
    for filled, start in runs:
        site, site_id, keys = filled.site, filled.id, filled.keys
        for number in range(start, min(start + _RUN, filled.size)):
            url = site.url(number)
            found = (LEVELS[number % 3], NOW, site_id, keys[number // VISITED])
            if number % VISITED:
                yield (site_id, keys[number], url, QUEUED, *found, None, None, None, None, None, None, None, None)
            else:
                fetched = ("document", 200, NOW, ETAG, LAST_MODIFIED, text_hash(url), _SEGMENT, number)
                yield (site_id, keys[number], url, DONE, *found, *fetched)


def _fill_site(db: Database, filled: _Filled) -> None:
    site, keys, visited = filled.site, filled.keys, len(filled.visited)
    domain = registrable_domain(site.name)
    db.execute(
        "INSERT INTO sites (id, name, domain, added_at, known, fetched) VALUES (?, ?, ?, ?, ?, ?)",
        (filled.id, site.name, domain, NOW, site.size, visited),
    )
    db.execute(
        "INSERT INTO parts (site_id, part, ready_at, next_seq) VALUES (?, 0, ?, ?)", (filled.id, NOW, site.size + 1)
    )
    db.execute("INSERT INTO outcomes VALUES (?, 'document', ?)", (filled.id, visited))
    db.many(
        "INSERT INTO queue VALUES (?, 0, ?, ?, ?)",
        sorted((filled.id, LEVELS[number % 3], number + 1, keys[number]) for number in filled.queued()),
    )
    db.many(
        f"INSERT INTO texts VALUES (?, ?, ?, ?, '{_SEGMENT}', '{_TASK}')",
        sorted((key64(domain), text_hash(site.url(n)), filled.id, keys[n]) for n in filled.visited),
    )
    db.execute(
        "INSERT INTO prefixes (site_id, prefix, text, known, visited, documents) VALUES (?, ?, ?, ?, ?, ?)",
        (filled.id, key64(_PREFIX), _PREFIX, site.size, visited, visited),
    )
    shapes = Counter(number % 7 for number in range(site.size))
    db.many(
        "INSERT INTO shapes VALUES (?, ?, ?) "
        "ON CONFLICT (site_id, shape) DO UPDATE SET urls = shapes.urls + excluded.urls",
        [(filled.id, key64(path_shape(site.url(number))), count) for number, count in shapes.items()],
    )


_PREFIX = prefix_of(path_shape(Site("www.site.example", 1).url(0)))


def _fill_clusters(db: Database, sites: list[_Filled]) -> None:
    """Each visited page is a cluster of its own, with a fingerprint and six lookup keys."""
    random = Random(5)
    keys: list[tuple[int, int]] = []
    pages = ((site, number) for site in sites for number in site.visited)

    def rows() -> Iterator[tuple[Any, ...]]:
        for place, (site, number) in enumerate(pages, 1):
            fingerprint, near_keys = unique_fingerprint(random)
            keys.extend((key, place) for key in near_keys)
            yield (place, fingerprint, random.randbytes(48), site.id, site.keys[number], NOW)

    with db.transaction():
        db.many("INSERT INTO clusters VALUES (?, ?, ?, 1, ?, ?, '', ?, '')", rows())
        keys.sort()
        db.many("INSERT INTO near_keys VALUES (?, ?)", keys)
        number = sum(len(site.visited) for site in sites)
        db.execute("INSERT INTO meta VALUES ('next_cluster', ?)", (str(number + 1),))


def _fill_totals(db: Database, sites: list[_Filled]) -> None:
    levels: Counter[int] = Counter()
    for site in sites:
        levels.update(LEVELS[number % 3] for number in site.queued())
    with db.transaction():
        db.many("INSERT INTO levels VALUES (?, ?)", sorted(levels.items()))
        db.execute("INSERT INTO meta VALUES ('sites', ?)", (str(len(sites)),))
