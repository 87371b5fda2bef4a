"""From a result to its near copies and its versions, and narrowing by type of page: with and without scripts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

OpenPage = Callable[..., Page]
REAL_INDEX = True

with_and_without_scripts = pytest.mark.parametrize("scripts", [True, False], ids=["script", "no script"])


@with_and_without_scripts
def test_a_reader_finds_who_had_a_text_first(open_page: OpenPage, scripts: bool) -> None:
    page = open_page("/cached?url=https://mirror.example.net/rockets/engines", java_script_enabled=scripts)
    page.get_by_role("link", name="2 similar pages").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("3 pages with almost the same text")
    first = page.locator(".story li").first
    expect(first).to_contain_text("19 Jul 2025")
    expect(first).to_contain_text("www.example.org")
    expect(first).to_contain_text("Published first")


@with_and_without_scripts
def test_a_reader_compares_two_versions_of_a_page(open_page: OpenPage, scripts: bool) -> None:
    page = open_page("/cached?url=https://www.example.org/rockets/engines", java_script_enabled=scripts)
    page.get_by_role("link", name="Versions").click()
    expect(page.locator(".difference > p del")).to_have_text("forwards")
    expect(page.locator(".difference > p ins")).to_have_text("backwards")
    page.get_by_label("From").select_option("2026-09-21T14:13:20Z")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".difference .notice")).to_have_text("No changes between these visits.")


@with_and_without_scripts
def test_results_are_narrowed_by_type_of_page_and_category(open_page: OpenPage, scripts: bool) -> None:
    page = open_page("/search?q=rocket", java_script_enabled=scripts)
    filters = page.get_by_role("navigation", name="Filters")
    filters.get_by_role("link", name="Forum").click()
    expect(page.locator(".hits h2")).to_have_text(["A garden in November"])
    expect(page.locator(".hits .badge")).to_have_text("Forum")
    page.get_by_role("link", name="Forum : remove this filter").click()
    filters.get_by_role("link", name="space flight").click()
    expect(page.locator(".hits h2")).to_have_text(["Rocket launch delayed by weather"])
    expect(page.locator(".chips")).to_contain_text("space flight")
    expect(page.locator(".hits .meta")).to_contain_text("Ann Lee")


def test_hostile_versions_stay_text(open_page: OpenPage) -> None:
    page = open_page("/history?url=https://evil.test/script")
    expect(page.locator(".facts del")).to_have_text("<script>window.owned=1</script>")
    assert page.evaluate("[window.owned ?? null, document.scripts.length]") == [None, 1]
