"""The search desk in a browser, at a desk and with a phone: a query in vain, a synonym, tried, published, found,
undone. Nobody types an address after the login; without JavaScript it works as well.

With `GOSSAMER_SCREENSHOTS=folder` every page is photographed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from console_kit import PASSWORDS, ConsoleUnderTest, finished_crawl, small_console
from playwright.sync_api import Page, expect

from gossamer.clock import SystemClock
from gossamer.tables import asked
from gossamer.tables.asked import Times, day_of

OpenPage = Callable[..., Page]
SCREENS: dict[str, dict[str, Any]] = {
    "wide": {"viewport": {"width": 1280, "height": 800}},
    "phone": {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True},
    "no script": {"viewport": {"width": 390, "height": 800}, "java_script_enabled": False},
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("desk") / "data"
    finished_crawl(data)
    return data


@pytest.fixture(scope="module", params=list(SCREENS))
def screen(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def console(crawled: Path, screen: str) -> Iterator[ConsoleUnderTest]:
    with small_console(crawled) as under_test:
        db = under_test.folder.open_database()
        asked.record(db, day_of(SystemClock().now()), {"arachnid": Times(7, 7), "meadow": Times(4)})
        db.close()
        yield under_test


@pytest.fixture(scope="module")
def base_url(console: ConsoleUnderTest) -> str:
    return console.address


@pytest.fixture
def manager(screen: str, open_page: OpenPage) -> Page:
    """A search manager who has just logged in."""
    page = open_page("/console/login", **SCREENS[screen])
    page.get_by_label("Name").fill("operator")
    page.get_by_label("Password").fill(PASSWORDS["operator"])
    page.get_by_role("button", name="Log in").click()
    menu = page.get_by_text("Menu", exact=False).first
    if menu.is_visible():
        menu.click()
    page.get_by_role("link", name="Search desk", exact=True).filter(visible=True).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Search desk")
    return page


def fits(page: Page, name: str, screen: str) -> None:
    """No page is wider than its screen."""
    if screen == "no script":
        return
    width = SCREENS[screen]["viewport"]["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} is wider than {width}"
    if folder := os.environ.get("GOSSAMER_SCREENSHOTS", ""):
        page.screenshot(path=Path(folder) / f"desk-{name}-{width}.png", full_page=True)


def results(page: Page, query: str, console: ConsoleUnderTest) -> list[str]:
    """What readers find now, on a page of their own."""
    reader = page.context.new_page()
    reader.goto(f"{console.address}/search?q={query}")
    found = reader.locator(".hits h2").all_inner_texts()
    reader.close()
    return found


def tab(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Search desk").get_by_role("link", name=name, exact=True).click()


def test_from_a_query_in_vain_to_a_synonym_and_back(manager: Page, console: ConsoleUnderTest, screen: str) -> None:
    page = manager
    row = page.get_by_role("row").filter(has_text="arachnid")
    expect(row).to_contain_text("7 of 7")
    expect(row).to_contain_text("nothing")
    fits(page, "in-vain", screen)
    page.get_by_role("link", name="Synonym for arachnid").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Synonyms")
    words = page.get_by_label("Words, separated by commas")
    expect(words).to_have_value("arachnid")
    words.fill("arachnid, orb weaver")
    fits(page, "synonym", screen)
    page.get_by_role("button", name="Add to the draft").click()
    expect(page.get_by_role("status")).to_contain_text("Added to the draft")
    assert results(page, "arachnid", console) == []
    fits(page, "drafted", screen)

    page.get_by_role("link", name="Try", exact=True).filter(visible=True).last.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Try the draft")
    expect(page.locator("#result")).to_contain_text("1 of 2 queries")
    expect(page.get_by_role("row").filter(has_text="Spiders of the meadow")).to_contain_text("came")
    fits(page, "tried", screen)

    page.get_by_label("Note for the history").fill("Readers say arachnid")
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("Version 1 counts now.")
    expect(page.get_by_role("row").filter(has_text="arachnid")).to_contain_text("found")
    assert results(page, "arachnid", console) == ["Spiders of the meadow"]
    fits(page, "published", screen)

    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("Version 1 was taken back. No rules count now.")
    assert results(page, "arachnid", console) == []
    tab(page, "History")
    expect(page.get_by_role("heading", name="Version 1")).to_be_visible()
    expect(page.get_by_text("Readers say arachnid")).to_be_visible()
    fits(page, "history", screen)


def test_every_page_of_the_desk_fits_its_screen(manager: Page, screen: str) -> None:
    for name in ("Best bets", "Hidden pages", "Boosts", "Collections", "Stop words", "Try", "File"):
        tab(manager, name)
        expect(manager.get_by_role("heading", level=1)).to_be_visible()
        fits(manager, name.lower().replace(" ", "-"), screen)
