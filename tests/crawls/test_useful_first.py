"""Useful pages come first in a real crawl: also those that are found while a handful of others is under way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from crawl_kit import crawl, run, settings_of, write_settings

from gossamer.testing import FakeWeb

RULES = '[[rule]]\ndomain = "paper.test"\nname = "news"\nurls = "/news/{id}"\n'
LISTS, NEWS = 60, 10
POLITE = {"politeness": {"delay": 0.4}, "crawl": {"commit_seconds": 0.02, "linger": 5.0, "index": False}}
"""A delay of several commits, as by default, only sooner."""


@pytest.fixture
def web() -> FakeWeb:
    """Sixty lists on the start page; the fourth leads to the news."""
    web = FakeWeb()
    site = web.site("paper.test")
    site.page("/", "The start page of a paper.", links=[f"/list/{n}" for n in range(LISTS)])
    for n in range(LISTS):
        site.page(
            f"/list/{n}", f"The list with the number {n}.", links=[f"/news/{k}" for k in range(NEWS)] if n == 3 else []
        )
    for n in range(NEWS):
        site.page(f"/news/{n}", f"What happened on day {n} of this story.")
    return web


def fetched(data: Path) -> list[str]:
    """Paths in the order in which they were fetched."""
    rows = [json.loads(line) for line in run("export", "pages", "--format", "jsonl", data=data).stdout.splitlines()]
    return ["/" + row["url"].split("/", 3)[3] for row in sorted(rows, key=lambda row: row["fetched_at"])]


def test_better_pages_do_not_wait_for_the_handful(web: FakeWeb, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with web:
        write_settings(data, settings_of(web, **POLITE))
        assert run("rules", "import", "-", data=data, stdin=RULES).returncode == 0
        status = crawl(web, data, [web.url("paper.test", "/")], "--workers", "1", **POLITE)
    order = fetched(data)
    assert status["pages"] == 1 + LISTS + NEWS
    news = [place for place, path in enumerate(order) if path.startswith("/news/")]
    assert len(news) == NEWS
    # Fifty URLs are handed out at once: news that waited for them would come after the fiftieth page.
    assert news[-1] < 45, order


def test_pages_given_back_do_not_count_against_the_limit_of_pages(web: FakeWeb, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with web:
        write_settings(data, settings_of(web, **POLITE))
        run("rules", "import", "-", data=data, stdin=RULES)
        status = crawl(web, data, [web.url("paper.test", "/")], "--workers", "1", "--pages", "40", **POLITE)
    assert status["fetched"] == 40
    assert len([path for path in fetched(data) if path.startswith("/news/")]) == NEWS
