"""The same journeys on a real index: what the searcher finds, cuts and marks is what the reader sees."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

OpenPage = Callable[..., Page]
REAL_INDEX = True

with_and_without_scripts = pytest.mark.parametrize("scripts", [True, False], ids=["script", "no script"])


@with_and_without_scripts
@pytest.mark.parametrize(
    ("query", "found", "marked"),
    [
        ("nozzle rockets", "How a rocket engine works", {"rocket", "nozzle"}),
        ("ракеты", "История ракетной техники", {"ракеты", "Ракета"}),
        ("火箭", "火箭的历史", {"火箭"}),
        ('"orbit report" -bulletin site:archive.example.org', "", set()),
    ],
)
def test_a_query_finds_and_marks_in_three_languages(
    open_page: OpenPage, scripts: bool, query: str, found: str, marked: set[str]
) -> None:
    page = open_page("/", java_script_enabled=scripts)
    page.locator("input[name=q]").fill(query)
    page.get_by_role("button", name="Search").click()
    if not found:
        expect(page.get_by_role("heading", level=1)).to_contain_text("No results")
        return
    expect(page.locator(".hits h2", has_text=found)).to_be_visible()
    assert marked <= set(page.locator(".excerpt mark").all_text_contents())


@with_and_without_scripts
def test_pages_sites_languages_and_years_lead_on(open_page: OpenPage, scripts: bool) -> None:
    page = open_page("/search?q=orbit", java_script_enabled=scripts)
    first = page.locator(".hits h2").all_text_contents()
    page.get_by_role("link", name="Next").click()
    expect(page).to_have_title("orbit, page 2 – Gossamer")
    assert not set(first) & set(page.locator(".hits h2").all_text_contents())
    page.goto("/search?q=rocket")
    page.get_by_role("link", name="blog.example.net").click()
    expect(page.locator(".hits h2")).to_have_text(["A garden in November"])
    page.goto("/search?q=rocket")
    page.get_by_role("link", name="2024: 1 result").click()
    expect(page.locator(".hits h2")).to_have_text(["A short history of the rocket"])


def test_suggestions_and_another_spelling_come_from_the_index(open_page: OpenPage) -> None:
    page = open_page("/")
    page.locator("input[name=q]").press_sequentially("satel")
    expect(page.get_by_role("option", name="satellite", exact=True)).to_be_visible()
    page.goto("/search?q=rokcet")
    expect(page.locator(".notice")).to_contain_text("rocket")
    expect(page.locator(".hits h2", has_text="A short history of the rocket")).to_be_visible()
    page.get_by_role("link", name="Search only for rokcet").click()
    expect(page.locator(".hits h2")).to_have_count(0)
    page.locator(".mean a, .reasons a", has_text="rocket").first.click()
    expect(page.locator(".hits h2", has_text="A short history of the rocket")).to_be_visible()


def test_cached_text_and_explanation(open_page: OpenPage) -> None:
    page = open_page("/search?q=fireworks")
    page.get_by_role("link", name="Why here? A short history").click()
    total = float(page.locator("tfoot .value").inner_text())
    parts = [float(text) for text in page.locator("tbody .value").all_inner_texts()]
    assert total > 0 and abs(sum(parts) - total) < 0.01
    page.goto("/cached?url=https://www.example.org/rockets/history&q=firework")
    expect(page.locator("article mark")).to_have_text("firework")


def test_near_copies_open_in_place(open_page: OpenPage) -> None:
    page = open_page("/search?q=nozzle")
    shown = page.locator(".hits h2").all_text_contents()
    page.locator("summary", has_text="2 similar").click()
    copies = page.locator("details.similar li a")
    expect(copies).to_have_count(2)
    titles = {"How a rocket engine works", "How a rocket engine works (mirror)", "Rocket engines, how they work"}
    assert {*shown, *copies.all_text_contents()} == titles


def test_hostile_pages_stay_text(open_page: OpenPage) -> None:
    page = open_page("/search?q=silk")
    expect(page.get_by_role("link", name="<script>document.title='owned'</script> silk", exact=True)).to_be_visible()
    assert page.evaluate("[window.owned ?? null, document.scripts.length]") == [None, 1]


@pytest.mark.parametrize(
    "query", ["a" * 9000, '"' * 200, "site: OR -", "\x00\x07", "((((", "after:x before:99999", "*"]
)
def test_nothing_that_is_typed_is_an_error(open_page: OpenPage, query: str) -> None:
    page = open_page("/")
    page.locator("input[name=q]").fill(query)
    page.locator("input[name=q]").press("Enter")
    page.wait_for_url("**/search?q=*")
    expect(page.locator("h1")).to_be_visible()
    assert "went wrong" not in page.content()
