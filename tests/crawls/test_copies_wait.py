"""A site whose print views are copies: they are fetched last, and `explain` says why."""

from __future__ import annotations

from pathlib import Path

from crawl_kit import crawl
from inside import gossamer

from gossamer.testing import FakeWeb

WORDS = "spider thread silk corner window garden winter leaf letter bridge stone river cloud lamp paper clock".split()


def story(number: int) -> str:
    """A text like no other's."""
    return " ".join(f"{WORDS[(number * 7 + n * n) % 16]} {number} {WORDS[(n + number) % 16]} {n}" for n in range(60))


def test_pages_of_a_copying_shape_wait_behind_the_others(tmp_path: Path) -> None:
    web = FakeWeb("127.0.48")
    site = web.site("paper.test")
    numbers = range(60)
    site.page("/", story(1000), links=[f"/print/{n}" for n in numbers] + [f"/news/{n}" for n in numbers])
    for n in numbers:
        site.page(f"/news/{n}", story(n))
        site.page(f"/print/{n}", f"{story(5000)} Printed as number {n}.")
    with web:
        # Slowly, and a few at a time: what was learnt can only help those that are not handed out yet.
        settings = {"budget": {"copies": 1000, "per_site": 5}, "politeness": {"delay": 0.1}}
        crawl(web, tmp_path, [site.url("/")], "--workers", "1", **settings)
        asked = [path for path in (entry.path for entry in web.log()) if path.startswith(("/news", "/print"))]
        answer = gossamer("explain", site.url("/print/59"), "--json", data=tmp_path).json
        other = gossamer("explain", site.url("/news/3"), "--json", data=tmp_path).json
    last_news = max(place for place, path in enumerate(asked) if path.startswith("/news"))
    waited = [path for path in asked[last_news:] if path.startswith("/print")]
    assert len(waited) >= 5, "some print views were still to be fetched when all the news was there"
    assert len(set(asked)) == 120, "in the end all of them are fetched"
    assert (
        "near-duplicates: its level is lowered" in answer["factors"]["copies"]
        and answer["factors"]["record"]["lowered"] > 0
    )
    assert "near-duplicates, represented by" in answer["factors"]["cluster"]
    assert other["factors"]["record"]["lowered"] == 0 and "no near-duplicates" in other["factors"]["cluster"]
    text = gossamer("explain", site.url("/print/59"), data=tmp_path).out
    assert "copies   of 60 pages of this shape" in text
