"""The documentation's site, opened from a disk as anybody may who built it: it needs no server and no other host."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

ROOT = Path(__file__).parents[2]
PHONE = {"viewport": {"width": 390, "height": 800}}
OpenPage = Callable[..., Page]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, timeout=280, check=True,
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def base_url(site: Path) -> str:
    """Whatever a page asks for elsewhere fails its test (`conftest.watch`)."""
    return f"{site.as_uri()}/"


def test_no_page_is_wider_than_a_phone_or_asks_another_host(open_page: OpenPage, site: Path, base_url: str) -> None:
    pages = sorted(str(page.relative_to(site)) for page in site.rglob("*.html") if page.name != "404.html")
    assert len(pages) > 60
    page = open_page("index.html", **PHONE)
    wide = {}
    for name in pages:
        page.goto(base_url + name)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > 390:
            wide[name] = width
    assert wide == {}


def test_the_search_finds_a_page_without_a_server(open_page: OpenPage) -> None:
    page = open_page("index.html")
    page.get_by_role("textbox", name="Search").press_sequentially("takedown")
    found = page.locator(".md-search-result__item a").filter(has_text="Takedown").first
    expect(found).to_be_visible()
    found.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Takedown")


def test_a_button_copies_commands_without_their_prompts(open_page: OpenPage) -> None:
    page = open_page("tutorial-news.html", permissions=["clipboard-read", "clipboard-write"])
    block = page.locator(".language-console").filter(has_text="gossamer init news")
    expect(block).to_contain_text("$ gossamer init news")
    block.hover()
    block.get_by_role("button", name="Copy").click()
    expect(page.get_by_text("Copied to clipboard")).to_be_visible()
    copied = str(page.evaluate("navigator.clipboard.readText()"))
    assert copied.startswith("gossamer init news\ncat > ")
    assert "[crawl]\n" in copied and "\n$ " not in copied


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_colours_follow_the_system_until_the_reader_chooses(open_page: OpenPage, scheme: str, dark: bool) -> None:
    page = open_page("index.html", color_scheme=scheme)

    def background() -> int:
        return int(str(page.evaluate("getComputedStyle(document.body).backgroundColor"))[4:].split(",")[0])

    assert (background() < 60) is dark
    page.locator(".md-header__option label:visible").click()  # light
    page.locator(".md-header__option label:visible").click()  # dark
    expect(page.locator("body")).to_have_attribute("data-md-color-scheme", "slate")
    assert background() < 60
