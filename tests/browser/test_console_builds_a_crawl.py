"""A whole crawl from the console, in a real browser: `gossamer run` in an empty folder, a login, a site that is added,
watched and searched, a filter and a setting that the running crawl takes up."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from console_kit import PASSWORDS, make_accounts
from crawl_kit import PATIENCE, descendants, kill, settings_of, start, wait_until, write_settings

from gossamer.data.crawl_settings import shared_settings
from gossamer.data.folder import DataFolder
from gossamer.tables import audit
from gossamer.testing import FakeWeb

_ADDRESS = re.compile(r"Console at (http://\S+)/console")
_TEXT = "<p>The lighthouse keeper counts the ships at dusk, and writes the number {0} into the book of the harbour.</p>"


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    web = FakeWeb()
    site = web.site("harbour.test")
    links = "".join(f'<a href="/{kind}/{number}.html">{number}</a>' for kind in ("log", "print") for number in range(4))
    site.page("/", f'<html lang="en"><title>Harbour</title><body>{_TEXT.format("zero")}{links}</body></html>')
    for number, name in enumerate(("one", "two", "three", "four")):
        text = f'<html lang="en"><title>Log {name}</title><body>{_TEXT.format(name) * (number + 1)}</body></html>'
        site.page(f"/log/{number}.html", text)
        site.page(f"/print/{number}.html", text.replace("Log", "Printed log").replace("dusk", f"dawn {name * 3}"))
    with web:
        yield web


@pytest.fixture(scope="module")
def data(web: FakeWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with settings and accounts, and no crawl."""
    data = tmp_path_factory.mktemp("built") / "data"
    write_settings(data, settings_of(web, crawl={"index": True, "workers": 1}, serve={"port": 0}))
    DataFolder(data).create()
    make_accounts(data)
    return data


@pytest.fixture(scope="module")
def base_url(data: Path) -> Iterator[str]:
    process = start("run", data=data)
    try:
        yield _address(process)
    finally:
        below = descendants(process.pid)
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=PATIENCE)
        finally:
            for pid in [process.pid, *below]:
                kill(pid)


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if found := _ADDRESS.search(line):
            return found[1]
    raise AssertionError(f"no console: {said}")


def actions(data: Path) -> list[str]:
    db = DataFolder(data).read()
    try:
        return [f"{line.who} {line.action}" for line in audit.entries(db)]
    finally:
        db.close()


def go(page: Page, place: str) -> None:
    page.get_by_role("link", name=place, exact=True).filter(visible=True).first.click()


def test_a_crawl_is_built_from_the_console(open_page: Callable[..., Page], web: FakeWeb, data: Path) -> None:
    site = web.sites["harbour.test"]
    page = open_page("/console")
    page.get_by_label("Name").fill("operator")
    page.get_by_label("Password").fill(PASSWORDS["operator"])
    page.keyboard.press("Enter")
    hero = page.locator(".hero")
    expect(hero).to_contain_text("Nothing to crawl yet")

    page.get_by_label("Address", exact=True).fill(site.url("/"))
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("The crawl starts.")
    # Nobody loads the page: it follows the crawl to its end by itself.
    expect(hero).to_contain_text("Up to date")
    expect(hero).to_have_class(re.compile("good"))
    expect(hero).to_contain_text("All known URLs are fetched. Next visit")
    expect(page.locator(".tile", has_text="Documents").locator(".value")).to_have_text("9")

    def is_found() -> bool:
        page.goto("/search?q=lighthouse+keeper")
        return "Printed log" in page.inner_text("main")

    wait_until(is_found)  # the index follows within seconds

    page.goto("/console")
    go(page, "Filters")
    page.get_by_label("Pattern").fill("/print/")
    page.get_by_role("button", name="Add filter").click()
    expect(page.get_by_role("status")).to_contain_text("Added: deny prefix /print/. The crawl restarts")
    expect(page.get_by_role("row").filter(has_text="/print/")).to_contain_text("deny")

    go(page, "Settings")
    page.get_by_label("Average time between two visits to a page").fill("86400")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("Saved: revisit.every.")

    go(page, "Overview")
    expect(hero).to_contain_text("Up to date")
    folder = DataFolder(data)
    wait_until(
        lambda: (found := shared_settings(folder)) and found.revisit.every == 86400.0 and len(found.scope.filters) == 1
    )

    site.page("/new.html", f'<html lang="en"><title>New</title><body>{_TEXT.format("new")}'
                           '<a href="/print/9.html">p</a></body></html>')  # fmt: skip
    go(page, "Seeds")
    page.get_by_label("Address", exact=True).fill(site.url("/new.html"))
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("Added:")
    go(page, "Overview")
    expect(page.locator(".tile", has_text="Documents").locator(".value")).to_have_text("10")
    go(page, "URL")
    page.get_by_label("A URL, part of a URL, or words on the page").fill(site.url("/print/9.html"))
    page.get_by_role("button", name="Show").click()
    expect(page.locator("main")).to_contain_text("deny prefix")

    go(page, "Overview")
    page.get_by_text("Pause the crawl").first.click()
    page.get_by_label("Reason").fill("a day off")
    page.get_by_role("button", name="Pause the crawl").click()
    expect(hero).to_contain_text("a day off")
    page.get_by_role("button", name="Resume the crawl").click()
    expect(hero).to_contain_text("Up to date")
    assert actions(data)[:6] == [
        "operator resume crawl", "operator pause crawl", "operator add seed", "operator change settings",
        "operator add filter", "operator add seed",
    ]  # fmt: skip
