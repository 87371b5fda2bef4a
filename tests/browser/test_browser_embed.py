"""The search box in a page of another origin: with scripts, without them, by keyboard, and where it is not welcome."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import msgspec
import pytest
from playwright.sync_api import Browser, Page, expect
from web_kit import SETTINGS, MemoryService, serving

from gossamer.errors import UsageError
from gossamer.web.embedding import check_origins

pytestmark = pytest.mark.long
PAGE = """<!doctype html><html lang="en"><title>Our rockets</title><body>
<h1>Our rockets</h1>
<form class="gossamer-search" action="{search}/search" method="get">
<label>Search our pages <input type="search" name="q"></label> <button>Search</button></form>
<p>After the box.</p>
<script src="{search}/embed.js" async></script></body></html>"""


@contextmanager
def other_site(search: str, policy: str = "") -> Iterator[str]:
    """A page of somebody else with the box; `policy`: its Content-Security-Policy."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            if policy:
                self.send_header("content-security-policy", policy)
            self.end_headers()
            self.wfile.write(PAGE.format(search=search).encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def search() -> Iterator[str]:
    with serving(MemoryService(), msgspec.structs.replace(SETTINGS, origins=("*",))) as address:
        yield address


@pytest.fixture
def page(browser: Browser, search: str) -> Iterator[Page]:
    with other_site(search) as address:
        page = browser.new_page()
        page.goto(address)
        yield page
        page.close()


def ask(page: Page, query: str) -> None:
    page.get_by_role("searchbox").fill(query)
    page.get_by_role("searchbox").press("Enter")


def test_results_come_below_the_box_and_the_page_stays(page: Page) -> None:
    address = page.url
    ask(page, "rocket engine")
    region = page.get_by_role("region", name="Search results")
    expect(region.get_by_role("link", name="How a rocket engine works").first).to_be_visible()
    expect(region.get_by_role("status")).to_contain_text("results for “rocket engine”")
    assert page.url == address
    assert region.locator("mark").count() > 0


def test_more_results_are_appended_and_the_first_of_them_has_the_focus(page: Page) -> None:
    ask(page, "orbit")
    items = page.get_by_role("listitem")
    expect(items).to_have_count(10)
    page.get_by_role("button", name="More results").press("Enter")
    expect(items).to_have_count(20)
    expect(items.nth(10).get_by_role("link")).to_be_focused()


def test_a_keyboard_is_enough(page: Page) -> None:
    page.keyboard.press("Tab")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("rocket")
    page.keyboard.press("Enter")
    expect(page.get_by_role("listitem").first).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("listitem").first.get_by_role("link")).to_be_focused()
    page.get_by_role("searchbox").press("Escape")
    expect(page.get_by_role("listitem")).to_have_count(0)


def test_nothing_that_pages_say_becomes_markup(page: Page) -> None:
    ask(page, "silk")
    expect(page.get_by_role("listitem").first).to_be_visible()
    assert page.evaluate("window.owned") is None
    links = page.get_by_role("region").get_by_role("link")
    assert all(link.get_attribute("href").startswith("http") for link in links.all())


def test_no_results_are_told(page: Page) -> None:
    ask(page, "xylophonequartz")
    expect(page.get_by_role("status")).to_contain_text("xylophonequartz")


def test_a_strict_policy_of_the_page_needs_to_name_the_search_only(browser: Browser, search: str) -> None:
    policy = f"default-src 'none'; script-src {search}; connect-src {search}; form-action {search}"
    with other_site(search, policy) as address:
        page = browser.new_page()
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.goto(address)
        ask(page, "rocket")
        expect(page.get_by_role("listitem").first).to_be_visible()
        page.close()
    assert not [one for one in complaints if "Content Security Policy" in one]


def test_without_scripts_the_form_leads_to_the_search_page(browser: Browser, search: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    with other_site(search) as address:
        page.goto(address)
        ask(page, "rocket engine")
        expect(page).to_have_url(f"{search}/search?q=rocket+engine")
    context.close()


def test_an_origin_that_is_not_named_gets_a_link_instead(browser: Browser) -> None:
    with (
        serving(MemoryService(), msgspec.structs.replace(SETTINGS, origins=("https://www.example.org",))) as search,
        other_site(search) as address,
    ):
        page = browser.new_page()
        page.goto(address)
        ask(page, "rocket")
        link = page.get_by_role("status").get_by_role("link", name="Open the search page")
        expect(link).to_have_attribute("href", f"{search}/search?q=rocket")
        page.close()


def test_answers_name_the_origins_that_may_read_them() -> None:
    ours, other = "https://www.example.org", "https://evil.example"
    with serving(MemoryService(), msgspec.structs.replace(SETTINGS, origins=(ours,), rate=1, burst=2)) as address:

        def allowed(path: str, origin: str) -> str | None:
            answer = httpx.get(f"{address}{path}", headers={"origin": origin})
            return answer.headers.get("access-control-allow-origin")

        assert allowed("/api/v1/search?q=rocket", ours) == ours
        assert allowed("/search?q=rocket", ours) is None
        assert allowed("/api/v1/search?q=rocket", other) is None
        late = httpx.get(f"{address}/api/v1/search?q=rocket", headers={"origin": ours})
        assert late.status_code == 429 and late.headers["access-control-allow-origin"] == ours


@pytest.mark.parametrize("origin", ["www.example.org", "https://www.example.org/", "https://Example.org", "null"])
def test_what_is_no_origin_is_refused_at_the_start(origin: str) -> None:
    with pytest.raises(UsageError, match=r"serve\.origins"):
        check_origins([origin])
