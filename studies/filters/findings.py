"""Everything the study of filters measures, web by web: at points of a crawl without filters, and in one with them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gossamer.lab.parallel import each
from gossamer.lab.webs.web import RecordedWeb
from studies.filters.filtered_tables import (
    Complete,
    Course,
    Found,
    Removal,
    crawl_filtered,
    crawl_part,
    crawl_whole,
    removal,
)
from studies.study import Options

POINTS = (0.1, 0.25, 0.5, 0.75, 1.0)
"""Shares of the complete crawl at which filters are looked for."""


class Point(msgspec.Struct, frozen=True):
    """What filters that were found at one moment of a crawl do to the table of the complete one."""

    share: float
    known: int
    useful: int
    seed: Removal
    ours: Removal


class Filtered(msgspec.Struct, frozen=True):
    """What was found on one web."""

    web: str
    points: list[Point]
    without: Course
    with_: Course

    @property
    def end(self) -> Point:
        """The filters that were found when the crawl was complete."""
        return self.points[-1]

    def share(self, removed: Removal) -> float:
        """Share of the URLs of the complete crawl that are removed."""
        return removed.removed / max(self.end.known, 1)

    @property
    def missed(self) -> int:
        """Useful pages that only the crawl without filters found."""
        return len(self.without.useful - self.with_.useful)


class Sum(msgspec.Struct, frozen=True):
    """Several webs at the end of their crawls."""

    name: str
    webs: Sequence[Filtered]

    @property
    def seed(self) -> float:
        """Share of all their URLs that the seed's rule removes."""
        return self._share([one.end.seed for one in self.webs])

    @property
    def ours(self) -> float:
        """Share of all their URLs that our rules remove."""
        return self._share([one.end.ours for one in self.webs])

    @property
    def shrunk(self) -> float:
        """By which share of its URLs the table ended smaller where filters were made on the way."""
        without = sum(one.without.known for one in self.webs)
        return 1 - sum(one.with_.known for one in self.webs) / max(without, 1)

    def _share(self, removals: Sequence[Removal]) -> float:
        return sum(one.removed for one in removals) / max(sum(one.end.known for one in self.webs), 1)


def measure(webs: Sequence[RecordedWeb], options: Options) -> list[Filtered]:
    """Crawl each web without filters, in parts, and with them."""
    options.tell(f"{len(webs)} webs: crawls without filters, with filters, and of parts")
    seed, webs_at = options.seed, range(len(webs))
    wholes = each(lambda web: crawl_whole(web, seed), webs)
    again = each(lambda at: crawl_filtered(webs[at], wholes[at].course.seconds, seed), webs_at)
    tasks = [(at, share) for at in webs_at for share in reversed(POINTS) if share < 1]
    parts = each(lambda task: _part(webs[task[0]], wholes[task[0]], task[1], seed), tasks)
    found = dict(zip(tasks, parts, strict=True)) | {(at, 1.0): wholes[at].found for at in webs_at}
    return [
        Filtered(
            webs[at].name,
            [_point(share, found[at, share], wholes[at]) for share in POINTS],
            wholes[at].course,
            again[at],
        )
        for at in webs_at
    ]


def _part(web: RecordedWeb, whole: Complete, share: float, seed: int) -> Found:
    return crawl_part(web, max(1, round(share * whole.course.requests)), seed)


def _point(share: float, found: Found, whole: Complete) -> Point:
    return Point(share, found.known, found.useful, removal(whole, found.seed), removal(whole, found.ours))
