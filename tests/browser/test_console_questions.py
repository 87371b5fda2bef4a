"""Four questions that a person who is new to it answers from the console alone: why is this page not found, which
sites are failing and why, how fresh are we, what was filtered automatically and was it right.

Nobody types an address after the login: everything is reached by what can be read on the pages. With
`GOSSAMER_SCREENSHOTS=folder` every answer is photographed, on a desk and on a phone, by day and by night.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from console_kit import PASSWORDS, ConsoleUnderTest, small_console
from playwright.sync_api import Page, expect
from questions_world import COMPLAINT, MAINTENANCE, World, questions_world

from gossamer.frontier.views.inspect import all_urls

pytestmark = pytest.mark.timeout(1200)  # the first test waits for three crawls

OpenPage = Callable[..., Page]
WIDE: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}
SCREENS = {"wide": WIDE, "phone": PHONE}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with questions_world(tmp_path_factory.mktemp("questions")) as made:
        yield made


@pytest.fixture(scope="module")
def console(world: World) -> Iterator[ConsoleUnderTest]:
    with small_console(world.data) as under_test:
        yield under_test


@pytest.fixture(scope="module")
def base_url(console: ConsoleUnderTest) -> str:
    return console.address


@pytest.fixture(params=list(SCREENS))
def newcomer(request: pytest.FixtureRequest, open_page: OpenPage) -> Page:
    """Somebody who has just logged in, at a desk or with a phone."""
    page = open_page("/console/login", **SCREENS[request.param])
    page.get_by_label("Name").fill("operator")
    page.get_by_label("Password").fill(PASSWORDS["operator"])
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    return page


def go(page: Page, place: str) -> None:
    """By the navigation, which a phone hides behind a menu."""
    menu = page.get_by_text("Menu", exact=False).first
    if menu.is_visible():
        menu.click()
    page.get_by_role("link", name=place, exact=True).filter(visible=True).first.click()


def look_for(page: Page, what: str) -> None:
    """Type a URL into the search of the page for URLs."""
    go(page, "URL")
    expect(page.get_by_role("heading", level=1)).to_have_text("Look up a URL")
    page.get_by_label("A URL, part of a URL, or words on the page").fill(what)
    page.get_by_role("button", name="Show").click()


def section(page: Page, title: str) -> Any:
    """The box with this heading."""
    return page.locator("section").filter(has=page.get_by_role("heading", name=title, exact=True, level=2))


def picture(page: Page, name: str) -> None:
    """Photograph the page in both sizes and colours, where somebody wants to look at it."""
    folder = os.environ.get("GOSSAMER_SCREENSHOTS", "")
    if not folder:
        return
    here = page.viewport_size
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.wait_for_timeout(300)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} is wider than {width}"
            page.screenshot(path=Path(folder) / f"{name}-{width}-{scheme}.png", full_page=True)
    page.emulate_media(color_scheme="light")
    if here:
        page.set_viewport_size(here)


WHY_NOT = {
    "robots": "{paper} forbids it: robots.txt forbids /members/area.html (Disallow: /members/).",
    "own filter": "the filter “no print versions” of the settings refused it (deny prefix ",
    "duplicate": "it has the same text as {original}; readers can find that page.",
    "failed": "its last visit failed: server_error: status 500: the server failed.",
    "gone": "its last visit failed: gone: status 404: the server says there is no such page.",
    "removed": f"it was taken down: {COMPLAINT} (",
    "paused": f"it has not been fetched yet, and {{quiet}} is paused: {MAINTENANCE}.",
    "filtered": "an automatic filter refuses the prefix /tag/: ",
}
"""What the page says after `Readers cannot find this page:`."""


@pytest.mark.parametrize("reason", list(WHY_NOT))
def test_why_is_this_page_not_found(newcomer: Page, world: World, reason: str) -> None:
    look_for(newcomer, world.urls[reason])
    expect(newcomer.get_by_role("heading", level=1)).to_have_text(world.urls[reason])
    said = newcomer.get_by_text("Readers cannot find this page:")
    sites = {host.removesuffix(".test"): name for host, name in world.names.items()}
    expect(said).to_contain_text(WHY_NOT[reason].format(original=world.urls["original"], **sites))
    picture(newcomer, f"a-{reason.replace(' ', '-')}")


def test_a_page_that_nobody_ever_linked_to_says_so(newcomer: Page, world: World) -> None:
    look_for(newcomer, world.urls["never linked"])
    newcomer.get_by_role("link", name="Treat it as a URL").click()
    expect(newcomer.locator("#verdict")).to_have_text("Not in this crawl: no seed, link, sitemap or feed points to it.")
    expect(newcomer.get_by_text(f"gossamer inject {world.urls['never linked']}")).to_be_visible()
    picture(newcomer, "a-never-linked")


def test_a_page_that_can_be_found_is_told_from_those_that_cannot(newcomer: Page, world: World) -> None:
    look_for(newcomer, "news number 3")
    newcomer.get_by_role("link", name=world.urls["found"]).click()
    expect(newcomer.get_by_text("Readers can find this page.")).to_be_visible()
    expect(section(newcomer, "Found")).to_contain_text("in a feed")
    picture(newcomer, "a-found")


def test_the_way_from_a_page_that_waits_to_its_paused_site_and_on(newcomer: Page, world: World) -> None:
    look_for(newcomer, world.urls["paused"])
    advice = newcomer.get_by_text("You can resume it on the page of")
    advice.get_by_role("link", name=world.names["quiet.test"], exact=True).click()
    expect(newcomer.get_by_text(f"is paused: {MAINTENANCE}").first).to_be_visible()
    expect(newcomer.get_by_role("button", name="Resume")).to_be_visible()
    picture(newcomer, "a-paused-site")


def test_the_way_from_a_page_that_was_filtered_to_the_evidence(newcomer: Page, world: World) -> None:
    look_for(newcomer, world.urls["filtered"])
    expect(newcomer.get_by_text("Was the refusal right?")).to_be_visible()
    newcomer.get_by_role("link", name=f"the automatic filters of {world.names['shop.test']}").click()
    newcomer.get_by_role("link", name="URLs that begin with /tag/").click()
    expect(newcomer.get_by_role("heading", name="Evidence")).to_be_visible()


def test_which_sites_are_failing_and_why(newcomer: Page, world: World) -> None:
    broken = world.names["broken.test"]
    expect(section(newcomer, "Failures")).to_contain_text("8 URLs failed at the last visit.")
    picture(newcomer, "b-overview")
    newcomer.get_by_role("link", name="the server failed").click()
    expect(newcomer.get_by_text("1 site with URLs that ended in “the server failed”")).to_be_visible()
    row = newcomer.get_by_role("row").filter(has_text=broken)
    expect(row).to_contain_text("8, 4 with this outcome")
    picture(newcomer, "b-sites-of-a-kind")
    newcomer.get_by_role("link", name="All sites").click()
    expect(newcomer.get_by_role("row").nth(1)).to_contain_text(broken)  # the worst first
    picture(newcomer, "b-sites")
    newcomer.get_by_role("link", name=broken, exact=True).click()
    fails = section(newcomer, "Failures")
    expect(fails).to_contain_text("The server failed: 4 URLs")
    expect(fails).to_contain_text("The server says there is no such page: 4 URLs")
    expect(fails).to_contain_text("status 500: the server failed")
    picture(newcomer, "b-site")
    newcomer.get_by_role("link", name=world.urls["failed"]).click()
    expect(section(newcomer, "Fetches")).to_contain_text("status 500: the server failed")


def documents_of(console: ConsoleUnderTest) -> int:
    """How many there are: a crawl that stops after so many pages finds a few more or less."""
    db = console.folder.read()
    try:
        return sum(one.outcome == "document" and one.state == "done" for one in all_urls(db))
    finally:
        db.close()


def test_how_fresh_are_we(newcomer: Page, console: ConsoleUnderTest) -> None:
    go(newcomer, "Freshness")
    expect(newcomer.get_by_role("heading", level=1)).to_have_text("Freshness")
    fresh, documents = newcomer.locator("main"), documents_of(console)
    assert documents > 80
    expect(fresh).to_contain_text(re.compile(rf"Up to date\s*9\d(\.\d)? % of {documents} documents"))
    expect(fresh).to_contain_text(re.compile(r"On average\s*[\d.]+ (min|h|s) out of date"))
    expect(fresh).to_contain_text("Goal: 95 % of announced documents within 15 min")
    level = fresh.get_by_role("row").filter(has_text="day")
    cells = [cell.inner_text() for cell in level.locator("td").all()]
    assert cells[0] == "met"
    assert re.fullmatch(r"[\d.]+ min", cells[1]) and re.fullmatch(r"[\d.]+ min", cells[2]), cells
    assert cells[3:] == ["95.7 %", "23"]
    # Of the hour nothing is left to show where the test waited for its turn.
    newcomer.goto(f"{newcomer.url.partition('?')[0]}?window=day")
    delay = fresh.get_by_role("img", name=re.compile("Delay of announced documents. Last values: half within: "))
    expect(delay).to_be_visible()
    expect(fresh.get_by_role("img", name=re.compile("Share of documents up to date. Last values: "))).to_be_visible()
    picture(newcomer, "c-fresh")
    newcomer.get_by_role("link", name="Week", exact=True).click()
    expect(delay).to_be_visible()
    expect(newcomer.get_by_role("img", name=re.compile("Announced documents that became searchable"))).to_be_visible()
    picture(newcomer, "c-fresh-week")


def test_what_was_filtered_automatically_and_was_it_right(newcomer: Page, world: World) -> None:
    shop = world.names["shop.test"]
    go(newcomer, "Filters")
    short = section(newcomer, "Summary")
    expect(short).to_contain_text(re.compile(r"Active filters refuse \d+ known URLs\."))
    expect(short).to_contain_text(
        re.compile(r"During their trials, filters would have refused \d+ URLs, 0 of them useful")
    )
    picture(newcomer, "d-filters")
    newcomer.get_by_role("link", name="URLs that begin with /tag/").click()
    told = section(newcomer, f"URLs that begin with /tag/ on {shop}")
    expect(told).to_contain_text("the crawl does not fetch matching URLs")
    expect(told).to_contain_text(re.compile(r"\d+ URLs known, none useful, while 26 of the site's \d+ are"))
    expect(told).to_contain_text("All 26 useful pages stay reachable without it")
    expect(told).to_contain_text(re.compile(r"Trial: would have refused \d+, 0 of them useful"))
    expect(told.get_by_role("heading", name="Refused URLs")).to_be_visible()
    picture(newcomer, "d-filter")
    told.get_by_role("link", name=re.compile("word")).first.click()
    expect(newcomer.get_by_text("Readers cannot find this page:")).to_contain_text("an automatic filter refuses")
    newcomer.go_back()
    told.get_by_text("Switch off", exact=True).click()
    picture(newcomer, "d-asks-first")
    told.get_by_role("button", name="Yes: Switch off").click()
    expect(newcomer.get_by_role("status")).to_contain_text(f"{shop} prefix /tag/: switched off,")
    expect(told).to_contain_text("switched off by an operator; Gossamer never creates it again")
    picture(newcomer, "d-switched-off")
    go(newcomer, "Audit log")
    line = newcomer.get_by_role("row").filter(has_text="filter off").first
    expect(line).to_contain_text("operator")
    expect(line).to_contain_text(f"{shop} prefix /tag/")
    picture(newcomer, "d-audit")
    go(newcomer, "Filters")
    newcomer.get_by_role("link", name="URLs that begin with /tag/").click()
    told.get_by_text("Switch on", exact=True).click()
    told.get_by_role("button", name="Yes: Switch on").click()
    expect(told).to_contain_text("the crawl does not fetch matching URLs")
