"""How far from the seeds a crawl goes, and by links or by sitemaps."""

from __future__ import annotations

import pytest

from gossamer.model.records import Kind, Via
from gossamer.scope.reach import DEPTH_RULE, SITEMAPS_RULE, Reach


def rule(reach: Reach, depth: int, via: Via = Via.LINK, kind: Kind = Kind.PAGE) -> str:
    refusal = reach.refusal(depth, via, kind)
    return refusal.rule if refusal else ""


@pytest.mark.parametrize(("limit", "depth", "refused"), [(None, 99, ""), (0, 0, ""), (0, 1, DEPTH_RULE), (2, 2, "")])
def test_a_limit_refuses_what_is_deeper(limit: int | None, depth: int, refused: str) -> None:
    assert rule(Reach(limit), depth) == refused


def test_lists_are_read_for_what_they_name_one_link_away() -> None:
    for via, kind in ((Via.ROBOTS, Kind.SITEMAP), (Via.LINK, Kind.FEED)):
        assert rule(Reach(0), 0, via, kind) == DEPTH_RULE
        assert rule(Reach(1), 0, via, kind) == ""


def test_what_a_person_named_is_never_refused_for_its_way() -> None:
    for reach in (Reach(0), Reach(sitemaps="no"), Reach(sitemaps="only")):
        assert rule(reach, 0, Via.SEED, Kind.SITEMAP) == rule(reach, 0, Via.SEED) == ""


def test_sitemaps_alone_or_not_at_all() -> None:
    only, no = Reach(sitemaps="only"), Reach(sitemaps="no")
    assert rule(only, 1) == rule(only, 0, kind=Kind.FEED) == SITEMAPS_RULE
    assert rule(only, 1, Via.SITEMAP) == rule(only, 1, Via.REDIRECT) == rule(only, 0, Via.ROBOTS, Kind.SITEMAP) == ""
    assert rule(no, 0, Via.ROBOTS, Kind.SITEMAP) == rule(no, 0, Via.SITEMAP, Kind.SITEMAP) == SITEMAPS_RULE
    assert rule(no, 1) == ""


def test_the_limit_is_told_with_its_figures() -> None:
    assert Reach(2).verdict(3).reason == "3 links from a seed, and the crawl follows at most 2 (scope.depth)"
    assert Reach(2).verdict(1).reason == "1 link from a seed; at most 2 (scope.depth)"
    assert Reach().verdict(4).allowed
