"""Compares two sites: at how many of the paths that both were read at is the text the same?

A sample is enough, and its size is bounded, because this runs inside a transaction. Keys are hashes, so the first ones
of a site are as good a sample as any, and the same for the same table.

A text counts once, however many paths have it: an error page that names its path is nearly the same everywhere. Pages
with hardly any text say nothing: all hosts of a hosting service have the same stubs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import msgspec

from gossamer.database.database import Database, Row
from gossamer.database.lists import chunks, marks
from gossamer.database.schema import DONE
from gossamer.dedup.short import is_page_hash
from gossamer.model.outcome import TEXTLESS, Outcome
from gossamer.model.site import key64, origin_of, site_of

_SCANNED = 4000
"""URLs of a site searched for the sample."""
_COMPARED = 500
"""Visited ones among them that are compared."""
DIFFERENT, ALIKE, EQUAL = range(3)
_DOCUMENT = Outcome.DOCUMENT.value
_PAGES = "SELECT url, outcome, content_hash, cluster, COALESCE(target, ''), state FROM urls WHERE site_id = ?"


class Page(msgspec.Struct, frozen=True):
    """A page that was visited."""

    url: str
    outcome: str
    content_hash: str | None
    cluster: int | None
    target: str

    @property
    def text(self) -> str:
        """The hash of its text; `""` if that is too short to compare."""
        return "" if is_page_hash(self.content_hash or "") else self.content_hash or ""


def is_twin(url: str, other: str) -> bool:
    """Whether two URLs are the same but for their sites; a start page never counts."""
    path = _path_of(url)
    return path != "/" and path == _path_of(other) and site_of(url) != site_of(other)


def _path_of(url: str) -> str:
    return url[len(origin_of(url)) :] if url else ""


def compare(db: Database, one: str, other: str) -> tuple[int, int, int]:
    """Of a sample of the paths that both sites were read at: how many, at how many the texts are equal or nearly so,
    and at how many exactly equal."""
    if _visited(db, other) < _visited(db, one):
        one, other = other, one  # of the smaller site more pages have a twin
    pages, likes = _sample(db, one), []
    seen: set[int] = set()
    for path, twin in sorted(_pages_at(db, other, list(pages)).items()):
        page = pages[path]
        like = likeness(page, twin)
        cluster = page.cluster if page.cluster == twin.cluster else None
        if like is None or cluster in seen:
            continue  # a text at many paths counts once
        if cluster is not None:
            seen.add(cluster)
        likes.append(like)
    return len(likes), len(likes) - likes.count(DIFFERENT), likes.count(EQUAL)


def _visited(db: Database, site: str) -> int:
    return int(db.execute("SELECT COALESCE(SUM(urls), 0) FROM outcomes WHERE site_id = ?", (key64(site),))[0][0])


def likeness(page: Page, twin: Page) -> int | None:
    """How alike two pages at one path are; None if that cannot be told or says nothing."""
    if is_twin(page.url, page.target) and site_of(page.target) == site_of(twin.url):
        return EQUAL
    if is_twin(twin.url, twin.target) and site_of(twin.target) == site_of(page.url):
        return EQUAL
    outcomes = {page.outcome, twin.outcome}
    if outcomes == {_DOCUMENT}:
        if page.text and page.text == twin.text:
            return EQUAL
        if page.cluster is not None and page.cluster == twin.cluster:
            return ALIKE
        return DIFFERENT if page.text and twin.text else None
    # One has a text of its own; the other has none, or that of a page elsewhere.
    return DIFFERENT if _DOCUMENT in outcomes and outcomes & TEXTLESS else None


def _sample(db: Database, site: str) -> dict[str, Page]:
    """Some visited pages of a site, by path."""
    pages = _by_path(db.execute(f"{_PAGES} ORDER BY key LIMIT ?", (key64(site), _SCANNED)))
    return dict(islice(pages.items(), _COMPARED))


def _pages_at(db: Database, site: str, paths: Sequence[str]) -> dict[str, Page]:
    """Visited pages of a site at these paths."""
    keys = sorted(key64(f"{scheme}://{site}{path}") for path in paths for scheme in ("http", "https"))
    found: dict[str, Page] = {}
    for chunk in chunks(keys):
        found.update(_by_path(db.execute(f"{_PAGES} AND key IN ({marks(chunk)})", (key64(site), *chunk)), found))
    return found


def _by_path(rows: Iterable[Row], found: Mapping[str, Page] | None = None) -> dict[str, Page]:
    """Each path once: if it was read over http and https, the one that is a document."""
    pages = dict(found or {})
    for *fields, state in rows:
        page = Page(*fields)
        path = _path_of(page.url)
        if state == DONE and path != "/" and (page.outcome == _DOCUMENT or path not in pages):
            pages[path] = page
    return pages
