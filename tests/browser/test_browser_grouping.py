"""More from a site, and more like a result, as people use them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from grouping_kit import space_index
from playwright.sync_api import Page, expect
from web_kit import serving

OpenPage = Callable[..., Page]

with_and_without_scripts = pytest.mark.parametrize("scripts", [True, False], ids=["script", "no script"])


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(space_index(tmp_path_factory.mktemp("index")).searcher) as address:
        yield address


@with_and_without_scripts
def test_more_from_a_site_leads_to_its_results_and_back(open_page: OpenPage, scripts: bool) -> None:
    page = open_page("/search?q=rocket", java_script_enabled=scripts)
    expect(page.locator(".hits > li")).to_have_count(10)
    page.get_by_role("link", name="More from example.org (10)").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("12 results for rocket")
    expect(page.get_by_role("link", name="More from")).to_have_count(0)
    page.get_by_role("list", name="Active filters").get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("28 results for rocket")


@with_and_without_scripts
def test_a_second_result_of_a_site_is_indented(open_page: OpenPage, scripts: bool) -> None:
    page = open_page("/search?q=rocket", java_script_enabled=scripts)
    second = page.locator(".hits > li.follows").first
    first = page.locator(".hits > li:not(.follows)").first
    left, right = first.bounding_box(), second.bounding_box()
    assert left and right and right["x"] > left["x"]
    assert abs((right["x"] + right["width"]) - (left["x"] + left["width"])) < 1


@with_and_without_scripts
def test_more_like_this_leads_to_pages_like_a_result(open_page: OpenPage, scripts: bool) -> None:
    page = open_page("/search?q=rocket", java_script_enabled=scripts)
    page.get_by_role("link", name="More like this").first.click()
    expect(page.locator(".notice").first).to_contain_text("These pages share words with")
    expect(page.locator(".excerpt mark").first).to_be_visible()


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_sticks_out_at_any_width(open_page: OpenPage, width: int) -> None:
    page = open_page("/search?q=rocket", viewport={"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
