"""Readers open results as they always do, and the server hears of it; unless they do not want that."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from browser_kit import LIMIT
from playwright.sync_api import Browser, Page, expect

sys.path.append(str(Path(__file__).parent.parent / "web"))
from clicks_kit import Library

OpenPage = Callable[..., Page]

HISTORY = "https://www.example.org/rockets/history"
ENGINES = "https://www.example.org/rockets/engines"
MIRROR = "https://mirror.example.net/rockets/engines"
THERE = "<!doctype html><title>There</title>"
TITLE = "A short history of the rocket"
GLOBAL_PRIVACY_CONTROL = "Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', {get: () => true})"
"""What makes Chromium, which cannot be set so, look like a browser that is."""
NAME = "search.test"
"""A name of the server that is neither a loopback one nor under TLS: browsers tell it less."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return Library(tmp_path_factory.mktemp("clicks"))


@pytest.fixture(scope="module")
def base_url(library: Library) -> Iterator[str]:
    with library.serving(base_url=f"http://{NAME}") as address:
        yield address


@pytest.fixture(scope="module")
def foreign_url() -> Iterator[str]:
    """A page of somebody else."""

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(THERE.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://localhost:{server.server_port}/"
        server.shutdown()
        thread.join(LIMIT / 1000)


@pytest.fixture(autouse=True)
def another_hour(library: Library) -> None:
    """All tests come from one address, which counts for a page once an hour."""
    library.clock.advance(3600)


@pytest.fixture
def results(open_page: OpenPage) -> Callable[..., Page]:
    """Opens results for "rocket" in a browser for which the rest of the web is one empty page."""

    def open_(script: str = "", **options: Any) -> Page:
        page = open_page("/", **options)
        page.context.route(re.compile("^https:"), lambda route: route.fulfill(body=THERE, content_type="text/html"))
        if script:
            page.add_init_script(script)
        page.goto("/search?q=rocket")
        return page

    return open_


def left_for(watch: Any, url: str) -> None:
    """The page was left for this address, and nothing else was asked of anybody."""
    assert watch.problems == [f"request to {url}"]
    watch.problems.clear()


def wait_for_count(page: Page, library: Library, url: str, count: int) -> None:
    """The beacon travels beside the page: it may arrive later than the reader."""
    wait_until(page, lambda: library.counted(url) == count)


def wait_until(page: Page, condition: Callable[[], bool]) -> None:
    """Wait while the browser goes on telling what happens."""
    until = time.monotonic() + LIMIT / 1000
    while not condition():
        assert time.monotonic() < until, "it did not happen in time"
        page.wait_for_timeout(50)


def open_result(page: Page) -> list[str]:
    """Click on a result; what was posted meanwhile."""
    posted: list[str] = []
    page.on("request", lambda request: posted.append(request.url) if request.method == "POST" else None)
    page.get_by_role("link", name=TITLE, exact=True).click()
    expect(page).to_have_title("There")
    return posted


def test_opening_a_result_is_counted_and_leads_straight_there(
    results: Callable[..., Page], library: Library, watch: Any
) -> None:
    before, page = library.counted(HISTORY), results()
    page.get_by_role("link", name=TITLE, exact=True).click()
    expect(page).to_have_title("There")
    assert page.url == HISTORY
    left_for(watch, HISTORY)
    wait_for_count(page, library, HISTORY, before + 1)


def test_the_keyboard_and_the_middle_button_count_as_well(
    results: Callable[..., Page], library: Library, watch: Any
) -> None:
    before, page = library.counted(HISTORY), results()
    link = page.get_by_role("link", name=TITLE, exact=True)
    with page.context.expect_page():
        link.click(button="middle")
    wait_for_count(page, library, HISTORY, before + 1)
    library.clock.advance(3600)
    link.press("Enter")
    expect(page).to_have_title("There")
    left_for(watch, HISTORY)
    wait_for_count(page, library, HISTORY, before + 2)


def test_a_near_copy_is_a_result_too(results: Callable[..., Page], library: Library, watch: Any) -> None:
    before, page = library.counted(MIRROR), results()
    page.locator("summary", has_text="2 similar").click()
    page.get_by_role("link", name="How a rocket engine works (mirror)").click()
    expect(page).to_have_title("There")
    left_for(watch, MIRROR)
    wait_for_count(page, library, MIRROR, before + 1)


def test_what_opens_no_result_is_not_told(results: Callable[..., Page], library: Library) -> None:
    page = results()
    beacons: list[str] = []
    page.on("request", lambda request: beacons.append(request.url) if request.method == "POST" else None)
    page.locator(".excerpt").first.click()
    page.get_by_role("link", name=TITLE, exact=True).click(button="right")
    page.locator("summary", has_text="2 similar").click()
    page.get_by_role("link", name="Why here? A short history").click()
    expect(page.locator("tfoot")).to_contain_text("2.750")
    page.go_back()
    page.get_by_role("link", name="Cached text of A short history").click()
    expect(page.locator("article")).to_contain_text("Long after the first fire arrows")
    assert beacons == []


def test_who_set_global_privacy_control_sends_nothing(
    results: Callable[..., Page], library: Library, watch: Any
) -> None:
    before, page = library.counted(HISTORY), results(GLOBAL_PRIVACY_CONTROL)
    assert open_result(page) == []
    left_for(watch, HISTORY)
    assert library.counted(HISTORY) == before


@pytest.mark.parametrize("host", ["127.0.0.1", NAME])
@pytest.mark.parametrize("wish", [False, True], ids=["", "do not track"])
def test_a_browser_set_to_do_not_track_sends_nothing_and_others_do(
    browser: Browser, library: Library, base_url: str, tmp_path: Path, host: str, wish: bool
) -> None:
    """With a profile of its own, because the setting is one of the whole browser."""
    (tmp_path / "Default").mkdir()
    (tmp_path / "Default" / "Preferences").write_text(json.dumps({"enable_do_not_track": wish}))
    flags = ["--no-sandbox", "--disable-gpu", "--no-first-run", f"--host-resolver-rules=MAP {NAME} 127.0.0.1"]
    before = library.counted(HISTORY)
    with browser.browser_type.launch_persistent_context(
        tmp_path, executable_path="/usr/bin/chromium", args=flags, timeout=2 * LIMIT
    ) as context:
        context.set_default_timeout(LIMIT)
        context.route(re.compile("^https:"), lambda route: route.fulfill(body=THERE, content_type="text/html"))
        page = context.new_page()
        page.goto(base_url.replace("127.0.0.1", host) + "/search?q=rocket")
        assert page.evaluate("navigator.doNotTrack") == ("1" if wish else None)
        posted = open_result(page)
        wait_for_count(page, library, HISTORY, before + (0 if wish else 1))
        wait_until(page, lambda: len(posted) == (0 if wish else 1))


def test_without_scripts_results_open_and_the_browser_tells_by_itself(
    results: Callable[..., Page], library: Library, watch: Any
) -> None:
    before, page = library.counted(HISTORY), results(java_script_enabled=False)
    page.get_by_role("link", name=TITLE, exact=True).click()
    expect(page).to_have_title("There")
    left_for(watch, HISTORY)
    wait_for_count(page, library, HISTORY, before + 1)


@pytest.mark.parametrize("wish", ["DNT", "Sec-GPC"])
def test_without_scripts_who_does_not_want_to_be_followed_sends_nothing(
    results: Callable[..., Page], library: Library, watch: Any, wish: str
) -> None:
    before, page = library.counted(HISTORY), results(java_script_enabled=False, extra_http_headers={wish: "1"})
    assert page.locator("a[ping]").count() == 0
    page.get_by_role("link", name=TITLE, exact=True).click()
    expect(page).to_have_title("There")
    left_for(watch, HISTORY)
    assert library.counted(HISTORY) == before


def test_without_scripts_a_page_under_a_name_without_tls_tells_as_well(
    browser: Browser, library: Library, base_url: str, tmp_path: Path
) -> None:
    """Browsers tell such a server less about where a request comes from."""
    flags = ["--no-sandbox", "--disable-gpu", "--no-first-run", f"--host-resolver-rules=MAP {NAME} 127.0.0.1"]
    before = library.counted(HISTORY)
    with browser.browser_type.launch_persistent_context(
        tmp_path, executable_path="/usr/bin/chromium", args=flags, timeout=2 * LIMIT, java_script_enabled=False
    ) as context:
        context.set_default_timeout(LIMIT)
        context.route(re.compile("^https:"), lambda route: route.fulfill(body=THERE, content_type="text/html"))
        page = context.new_page()
        page.goto(base_url.replace("127.0.0.1", NAME) + "/search?q=rocket")
        page.get_by_role("link", name=TITLE, exact=True).click()
        expect(page).to_have_title("There")
        wait_for_count(page, library, HISTORY, before + 1)


def test_a_foreign_page_cannot_count_for_its_readers(
    browser: Browser, library: Library, base_url: str, foreign_url: str
) -> None:
    before = library.counted(ENGINES)
    send = """async ([address, url, type]) => {
        const body = new Blob([url], {type});
        navigator.sendBeacon(address, body);
        for (const mode of ["cors", "no-cors"]) {
            await fetch(address, {method: "POST", mode, body}).catch(() => null);
        }
    }"""
    with browser.new_context() as context:
        context.set_default_timeout(LIMIT)
        page = context.new_page()
        page.goto(foreign_url)
        for media_type in ("text/uri-list", "text/plain"):
            page.evaluate(send, [f"{base_url}/click", ENGINES, media_type])
        page.set_content(f'<a href="{ENGINES}" ping="{base_url}/click">there</a>')
        context.route(re.compile("^https:"), lambda route: route.fulfill(body=THERE, content_type="text/html"))
        page.get_by_role("link", name="there").click()
        expect(page).to_have_title("There")
        page.wait_for_timeout(500)
        assert library.counted(ENGINES) == before
        page.goto(foreign_url)
        page.goto(base_url)
        page.evaluate(send, [f"{base_url}/click", ENGINES, "text/uri-list"])
        assert library.counted(ENGINES) == before + 1
