"""Useful pages come first in a real crawl: also those that are found while a handful of others is under way."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from crawl_kit import crawl, run, settings_of, write_settings

from gossamer.testing import FakeWeb, Reply

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


STORIES, TAGS = 100, 80
NO_HURRY = {"politeness": {"delay": 0.05}, "crawl": {"commit_seconds": 0.02, "linger": 5.0, "index": False}}


def long_page(title: str, seed: int, links: Sequence[str]) -> Reply:
    """A page with enough text that its site learns from it, all of it its own."""
    words = random.Random(seed)
    text = "".join(f"<p>{' '.join(f'word{words.randrange(10_000)}' for _ in range(20))}.</p>" for _ in range(12))
    named = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    return Reply(f"<html><title>{title}</title><body><h1>{title}</h1>{text}<ul>{named}</ul></body></html>")


def unruled_web() -> FakeWeb:
    """A paper without rules: the start page names all tags and some stories; a tag leads to the rest."""
    web = FakeWeb()
    site = web.site("paper.test")
    some = [path for n in range(30) for path in (f"/tag/t{n}", f"/story/{1000 + n}")]
    site.page("/", "The start page of a paper.", links=[*some, *(f"/tag/t{n}" for n in range(30, TAGS))])
    for n in range(TAGS):
        links = [f"/story/{1000 + k}" for k in range(STORIES)] if n == 3 else ["/story/1000"]
        site.reply(f"/tag/t{n}", long_page(f"All about {n}", n, links))
    for n in range(STORIES):
        site.reply(f"/story/{1000 + n}", long_page(f"The story of day {n}", 1000 + n, []))
    return web


def lists_before_the_last_story(data: Path) -> int:
    order = fetched(data)
    last = max(place for place, path in enumerate(order) if path.startswith("/story/"))
    return sum(path.startswith("/tag/") for path in order[:last])


@pytest.mark.parametrize("order", [True, False])
def test_a_crawl_without_rules_finds_out_by_itself_what_its_documents_look_like(tmp_path: Path, order: bool) -> None:
    data = tmp_path / "data"
    with unruled_web() as web:
        status = crawl(
            web, data, [web.url("paper.test", "/")], "--workers", "1", site={"order": order}, **NO_HURRY
        )  # fmt: skip
    assert status["pages"] == 1 + TAGS + STORIES
    # Breadth first, all tags on the start page come before the stories that a tag leads to.
    assert (lists_before_the_last_story(data) < 0.8 * TAGS) is order
    told = run("rules", "learned", web.url("paper.test", "/"), data=data).stdout
    assert "document  /story/{id} (" in told and "list      /tag/" in told
    explained = run("explain", web.url("paper.test", "/story/1001"), data=data).stdout
    assert "looks like the documents of its site" in explained if order else "none for this host" in explained
