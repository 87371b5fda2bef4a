"""`--depth` and `--sitemaps`: how far from the seeds a crawl goes, and by which ways."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from crawl_kit import crawl, exported
from inside import fails, gossamer
from table_kit import problems

from gossamer.testing import FakeWeb, Site

TEXT = "The page {0} tells of {0}. Nothing else is told of {0} here. Whoever looks for {0} finds it on this page."


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    """`/` → `/1` → `/2` → `/3`, a redirect on the way, and pages that only the sitemap or the feed names."""
    web = FakeWeb("127.0.83")
    site = web.site("deep.test")
    site.robots(f"User-agent: *\nDisallow:\nSitemap: {site.url('/sitemap.xml')}\n")
    site.sitemap(["/listed", "/"])
    links = {
        "/": ["/1", "/turn"], "/1": ["/2", "/"], "/2": ["/3"], "/3": ["/1"], "/turned": ["/after"], "/after": [],
        "/listed": ["/below"], "/below": [],
    }  # fmt: skip
    for path, to in links.items():
        site.page(path, TEXT.format(path.strip("/") or "home"), links=to)
    site.redirect("/turn", "/turned")
    with web:
        yield web


@pytest.fixture
def site(web: FakeWeb) -> Site:
    return web.sites["deep.test"]


def pages_of(site: Site, data: Path) -> set[str]:
    """The paths of the pages that a crawl kept."""
    return {row["url"].removeprefix(site.url("")) for row in exported("pages", data)}


def crawl_of(web: FakeWeb, data: Path, *options: str) -> set[str]:
    """The paths of the pages that a crawl kept."""
    site = web.sites["deep.test"]
    crawl(web, data, [site.url("/")], "--workers", "2", *options)
    assert problems(data) == []
    return pages_of(site, data)


def test_a_limit_of_depth_holds_is_explained_and_can_be_raised(web: FakeWeb, site: Site, tmp_path: Path) -> None:
    assert crawl_of(web, tmp_path, "--depth", "0") == {"/"}
    assert crawl_of(web, tmp_path, "--depth", "1") == {"/", "/1", "/turned", "/listed"}
    told = gossamer("explain", site.url("/2"), data=tmp_path).out
    assert "scope.depth: 2 links from a seed, and the crawl follows at most 1" in told
    assert "reason   scope.depth" in told
    assert crawl_of(web, tmp_path, "--depth", "2") == {"/", "/1", "/turned", "/listed", "/2", "/after", "/below"}
    assert (
        "allows   scope.depth: 2 links from a seed; at most 2" in gossamer("explain", site.url("/2"), data=tmp_path).out
    )
    assert "/3" in crawl_of(web, tmp_path)


def test_sitemaps_can_be_left_out_or_be_all_there_is(web: FakeWeb, site: Site, tmp_path: Path) -> None:
    without, alone = tmp_path / "without", tmp_path / "alone"
    assert crawl_of(web, without, "--sitemaps", "no") == {"/", "/1", "/2", "/3", "/turned", "/after"}
    assert crawl_of(web, alone, "--sitemaps", "only") == {"/", "/listed"}
    told = gossamer("explain", site.url("/1"), data=alone).out
    assert "the crawl follows sitemaps only, not links (scope.sitemaps)" in told
    assert crawl_of(web, alone) == {"/", "/1", "/2", "/3", "/turned", "/after", "/listed", "/below"}


def test_wrong_values_are_told(tmp_path: Path) -> None:
    fails(gossamer("crawl", "http://127.0.0.1/", "--depth", "-1", data=tmp_path), 2, "scope.depth is -1")
    fails(gossamer("crawl", "http://127.0.0.1/", "--sitemaps", "onyl", data=tmp_path), 2, "--sitemaps")
