"""Statistics of the URL table: the number of URLs under each prefix of a site, and their outcomes.

A *prefix* is a directory of a URL's shape (`scope.shape`): `/news/2024/05/17-title` counts under `/news/<n>/<n>/`. Each
URL counts in one *leaf* only, the directory of its last segment, at most `SEGMENTS` deep; so the frontier writes one
row
per leaf and batch. Sums over `/news/<n>/`, `/news/` and `/` are computed on reading (`roll_up`).

- A slash at the end makes no directory: `/2024/05/title/`, `/2024/05/title` and `/2024/05/title/index.html` count
  under `/<n>/<n>/`. Nor does a title: `/news/all-that-is-known-so-far/8812.html` counts under `/news/`. Else each
  post of a blog would be a prefix of its own.
- URLs with a query have leaves of their own, beside those without: directory, `?` and the names of the parameters:
  `/shop/shoes?page=2&sort=price` counts under `/shop/?page&sort`, which rolls up into `/shop/`. So a set of parameters
  shows its yield, whatever the page. The name of a script stays, because it gives the parameters their meaning:
  `/forum/viewtopic.php?t=7` counts under `/forum/viewtopic.php?t`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

SEGMENTS = 4
"""Segments of the longest prefix (n_s of the papers)."""

_LONG, _HYPHENS = 30, 3
"""Characters, or hyphens, from which a segment counts as a title."""
_TITLE = re.compile(rf"/(?:[^/-]*-[^/-]*-[^/-]*-|[^/%]{{{_LONG},}}/)")
_INDEXES = ("/index.html", "/index.htm", "/index.php")
_SCRIPTS = (".php", ".asp", ".aspx", ".cgi", ".pl", ".jsp", ".do", ".cfm", ".dll", ".exe")


def prefix_of(shape: str) -> str:
    """The leaf that a URL of this shape counts in."""
    if "?" in shape:  # called for each new URL, so rare cases have a function of their own
        return _with_query(shape)
    if shape.endswith(_INDEXES):
        shape = shape[: shape.rfind("/") + 1]
    directory = shape[: shape.rfind("/", 0, -1) + 1]
    if directory.count("/") > SEGMENTS + 1 or len(directory) > _LONG or directory.count("-") >= _HYPHENS:
        return _shortened(directory)
    return directory or "/"


def _with_query(shape: str) -> str:
    path, _, names = shape.partition("?")
    if path.endswith(_SCRIPTS) and path.count("/") <= SEGMENTS + 1:
        return shape
    return f"{prefix_of(path)}?{names}"


def _shortened(directory: str) -> str:
    if directory.count("/") > SEGMENTS + 1:
        directory = "/".join(directory.split("/", SEGMENTS + 1)[:-1]) + "/"
    title = _TITLE.search(directory)
    return directory[: title.start() + 1] if title else directory


def ancestors(prefix: str) -> Iterator[str]:
    """A prefix and every prefix above it, the longest first."""
    yield prefix
    end = prefix.find("?")
    if end < 0:
        end = len(prefix) - 1
    while (end := prefix.rfind("/", 0, end)) >= 0:
        yield prefix[: end + 1]


def depth_of(prefix: str) -> int:
    """Segments of a prefix; a query counts as one."""
    path, mark, _ = prefix.partition("?")
    return path.count("/") - 1 + bool(mark)


class Counts(msgspec.Struct, frozen=True, gc=False):
    """Counts of the URLs under a prefix."""

    known: int = 0
    """In the table, and not refused when they were found."""
    fit: int = 0
    """Of them: fit a document rule."""
    visited: int = 0
    """Visited at least once."""
    documents: int = 0
    """Of them: are documents now."""
    failed: int = 0
    """Ended in an error."""
    duplicates: int = 0
    """Same text as another page of the domain."""
    near: int = 0
    """Documents that are near-duplicates of an earlier page."""

    @property
    def unfetched(self) -> int:
        """Known, and not visited yet."""
        return self.known - self.visited

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.known + other.known,
            self.fit + other.fit,
            self.visited + other.visited,
            self.documents + other.documents,
            self.failed + other.failed,
            self.duplicates + other.duplicates,
            self.near + other.near,
        )

    def __sub__(self, other: Counts) -> Counts:
        return Counts(
            self.known - other.known,
            self.fit - other.fit,
            self.visited - other.visited,
            self.documents - other.documents,
            self.failed - other.failed,
            self.duplicates - other.duplicates,
            self.near - other.near,
        )


def roll_up(leaves: Iterable[tuple[str, Counts]], at_least: int = 1) -> dict[str, Counts]:
    """Sums for each prefix and all above it; those with fewer known URLs than `at_least` are dropped, `/` never."""
    sums: dict[str, Counts] = {}
    for leaf, counts in leaves:
        for prefix in ancestors(leaf):
            present = sums.get(prefix)
            sums[prefix] = counts if present is None else present + counts
    return {prefix: counts for prefix, counts in sums.items() if counts.known >= at_least or prefix == "/"}
