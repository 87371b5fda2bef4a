"""Pages that want to run in the reader's browser do not."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from browser_kit import LIMIT
from playwright.sync_api import Page, expect

OpenPage = Callable[..., Page]

PATHS = ["/search?q=silk", "/search?q=silk&sort=date", "/search?q=%3Cscript%3Ewindow.owned%3D1%3C%2Fscript%3E"]


def unharmed(page: Page) -> None:
    assert page.evaluate("window.owned") is None
    assert page.evaluate("document.scripts.length") == 1
    assert page.title() != "owned"


@pytest.mark.parametrize("path", PATHS)
def test_a_title_that_is_a_script_does_not_run(open_page: OpenPage, path: str) -> None:
    page = open_page(path)
    unharmed(page)


def test_the_title_that_is_a_script_is_shown(open_page: OpenPage) -> None:
    page = open_page("/search?q=silk")
    expect(page.get_by_role("link", name="<script>document.title='owned'</script> silk", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name='"><img src=x onerror="window.owned=1"> silk', exact=True)).to_be_visible()


def test_cached_and_explained_pages_do_not_run_either(open_page: OpenPage) -> None:
    page = open_page("/search?q=silk")
    links = page.locator(".meta a").evaluate_all("links => links.map(link => link.href)")
    assert len(links) == 22
    for link in links:
        page.goto(link)
        unharmed(page)


def test_no_link_leads_to_a_script(open_page: OpenPage) -> None:
    page = open_page("/search?q=silk")
    protocols = page.locator("a").evaluate_all("links => links.map(link => link.protocol || 'svg')")
    assert set(protocols) <= {"http:", "https:", "svg"}


def test_a_hostile_suggestion_is_text(open_page: OpenPage) -> None:
    page = open_page("/")
    answer = '["x", ["<img src=x onerror=window.owned=1>", "x<script>window.owned=1</script>"]]'
    page.route(re.compile("/suggest"), lambda route: route.fulfill(body=answer, content_type="application/json"))
    page.locator("input[name=q]").press_sequentially("x")
    expect(page.get_by_role("option")).to_have_text(
        ["<img src=x onerror=window.owned=1>", "x<script>window.owned=1</script>"]
    )
    unharmed(page)


def test_a_hostile_copy_is_text(open_page: OpenPage) -> None:
    page = open_page("/search?q=rocket")
    hits = '{"hits": [{"url": "javascript:window.owned=1", "title": "<b>a</b>", "site": "<i>", "lang": null}]}'
    page.route(re.compile("/api/v1/similar"), lambda route: route.fulfill(body=hits, content_type="application/json"))
    page.locator("summary", has_text="2 similar").click()
    expect(page.locator("details.similar li")).to_have_text(["<b>a</b> <i>"])
    expect(page.locator("details.similar li a")).to_have_count(0)


def test_the_policy_stops_inline_code_and_the_watch_sees_it(open_page: OpenPage, watch: Any) -> None:
    page = open_page("/")
    page.evaluate(
        "() => { const link = document.createElement('a'); document.body.append(link);"
        " link.setAttribute('style', 'color: red');"
        " try { link.setAttribute('onclick', 'window.owned = 1'); } catch {} link.click(); }"
    )
    assert page.evaluate("window.owned") is None
    expected, until = ("style-src-attr blocked", "require-trusted-types-for blocked"), time.monotonic() + LIMIT / 1000
    while not all(what in "\n".join(watch.problems) for what in expected):
        assert time.monotonic() < until, watch.problems
        page.wait_for_timeout(50)
    page.close()  # whatever it has to tell is told by then
    watch.problems.clear()
