"""Searching as people do it: with a mouse, with a keyboard, without scripts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

OpenPage = Callable[..., Page]

with_and_without_scripts = pytest.mark.parametrize("scripts", [True, False], ids=["script", "no script"])


def box(page: Page) -> Locator:
    return page.locator("input[name=q]")


def titles(page: Page) -> Locator:
    return page.locator(".hits h2")


@with_and_without_scripts
def test_a_query_is_typed_and_results_are_highlighted(open_page: OpenPage, scripts: bool) -> None:
    page = open_page("/", java_script_enabled=scripts)
    box(page).fill("rocket")
    page.get_by_role("button", name="Search").click()
    expect(page).to_have_title("rocket – Gossamer")
    expect(page.get_by_role("heading", level=1)).to_have_text("6 results for rocket")
    expect(titles(page).first.locator("mark")).to_have_text("rocket")
    excerpt = page.locator(".excerpt mark").first
    expect(excerpt).to_have_text("rocket")
    assert excerpt.evaluate("e => getComputedStyle(e).backgroundColor") != "rgba(0, 0, 0, 0)"


@with_and_without_scripts
def test_an_example_and_a_site_of_the_start_page_lead_to_results(open_page: OpenPage, scripts: bool) -> None:
    page = open_page("/", java_script_enabled=scripts)
    page.get_by_role("navigation", name="Example queries").get_by_role("link", name="choosing rocket fuel").click()
    expect(titles(page).first).to_have_text("Choosing rocket fuel")
    page.goto("/")
    page.get_by_role("region", name="Sites in this search").get_by_role("link").first.click()
    expect(box(page)).to_have_value("site:archive.example.org")


@with_and_without_scripts
@pytest.mark.parametrize(("query", "lang"), [("ракета", "ru"), ("火箭", "zh")])
def test_other_scripts_are_found_and_highlighted(open_page: OpenPage, scripts: bool, query: str, lang: str) -> None:
    page = open_page("/", java_script_enabled=scripts)
    box(page).fill(query)
    box(page).press("Enter")
    expect(titles(page)).to_have_count(2)
    expect(page.locator(f"article[lang={lang}] .excerpt mark").first).to_have_text(query, ignore_case=True)


@with_and_without_scripts
def test_the_second_page_shows_other_results(open_page: OpenPage, scripts: bool) -> None:
    page = open_page("/search?q=orbit", java_script_enabled=scripts)
    first = titles(page).all_text_contents()
    page.get_by_role("link", name="Page 2").click()
    expect(page.locator("[aria-current=page]")).to_have_text("Page 2")
    second = titles(page).all_text_contents()
    assert len(first) == len(second) == 10 and not set(first) & set(second)
    page.get_by_role("link", name="Previous", exact=True).click()
    expect(titles(page)).to_have_text(first)


@with_and_without_scripts
def test_results_are_narrowed_by_time_and_site_and_widened_again(open_page: OpenPage, scripts: bool) -> None:
    page = open_page("/search?q=rocket", java_script_enabled=scripts)
    filters = page.get_by_role("navigation", name="Filters")
    filters.get_by_role("link", name="Past week").click()
    expect(titles(page)).to_have_text(["Choosing rocket fuel", "Rocket launch delayed by weather"])
    filters.get_by_role("link", name="news.example.com").click()
    expect(titles(page)).to_have_text(["Rocket launch delayed by weather"])
    page.get_by_role("link", name="Past week : remove this filter").click()
    page.get_by_role("link", name="news.example.com : remove this filter").click()
    expect(titles(page)).to_have_count(6)


@with_and_without_scripts
def test_a_filter_stays_when_the_query_changes(open_page: OpenPage, scripts: bool) -> None:
    page = open_page("/search?q=rocket&lang=ru", java_script_enabled=scripts)
    box(page).fill("ракета")
    box(page).press("Enter")
    expect(titles(page)).to_have_count(2)
    expect(page.locator(".chips")).to_contain_text("Russian")


@with_and_without_scripts
def test_a_year_of_the_chart_can_be_chosen(open_page: OpenPage, scripts: bool) -> None:
    page = open_page("/search?q=rocket", java_script_enabled=scripts)
    page.get_by_role("link", name="2024: 1 result").click()
    expect(titles(page)).to_have_text(["A short history of the rocket"])


@with_and_without_scripts
def test_cached_text_and_explanation_are_one_click_away(open_page: OpenPage, scripts: bool) -> None:
    page = open_page("/search?q=rocket", java_script_enabled=scripts)
    page.get_by_role("link", name="Cached text of A short history").click()
    expect(page.locator("article")).to_contain_text("Long after the first fire arrows")
    page.get_by_role("link", name="Back to the results").click()
    page.get_by_role("link", name="Why here? A short history").click()
    expect(page.locator("tfoot")).to_contain_text("2.750")


def test_near_copies_open_in_place_with_scripts(open_page: OpenPage) -> None:
    page = open_page("/search?q=rocket")
    page.locator("summary", has_text="2 similar").click()
    expect(page.locator("details.similar li")).to_have_text(
        ["How a rocket engine works (mirror) mirror.example.net", "Rocket engines, how they work copies.example.com"]
    )


def test_near_copies_are_a_link_without_scripts(open_page: OpenPage) -> None:
    page = open_page("/search?q=rocket", java_script_enabled=False)
    page.get_by_role("link", name="2 similar").click()
    expect(titles(page)).to_have_count(8)


# -- results while typing -------------------------------------------------------------------------


def test_results_follow_what_is_typed_and_so_does_the_address(open_page: OpenPage) -> None:
    page = open_page("/search?q=rocket&lang=en")
    expect(titles(page)).to_have_count(6)
    box(page).fill("garden")
    expect(titles(page)).to_have_text(["A garden in November"])
    expect(page).to_have_title("garden – Gossamer")
    expect(page.locator(".chips")).to_contain_text("English")
    assert page.url.endswith("/search?q=garden&lang=en")
    box(page).fill("rocket")
    page.locator("summary", has_text="2 similar").click()
    expect(page.locator("details.similar li")).to_have_count(2)
    page.reload()
    expect(titles(page)).to_have_count(6)


def test_the_start_page_waits_until_a_query_is_sent(open_page: OpenPage) -> None:
    page = open_page("/")
    box(page).press_sequentially("bulletin")
    expect(page.get_by_role("listbox", name="Suggestions")).to_be_hidden()
    expect(page).to_have_title("Gossamer")


# -- suggestions ----------------------------------------------------------------------------------


def test_suggestions_are_chosen_with_the_mouse(open_page: OpenPage) -> None:
    page = open_page("/")
    box(page).press_sequentially("bul")
    page.get_by_role("option", name="bulletin").click()
    expect(page).to_have_title("bulletin – Gossamer")


def test_suggestions_follow_the_aria_pattern(open_page: OpenPage) -> None:
    page = open_page("/")
    combobox = page.get_by_role("combobox", name="Search Gossamer")
    expect(combobox).to_have_attribute("aria-expanded", "false")
    combobox.press_sequentially("ro")
    options = page.get_by_role("listbox", name="Suggestions").get_by_role("option")
    expect(options).to_have_text(["rocket"])
    expect(combobox).to_have_attribute("aria-expanded", "true")
    assert combobox.get_attribute("aria-controls") == page.get_by_role("listbox").get_attribute("id")
    combobox.press("ArrowDown")
    expect(combobox).to_have_attribute("aria-activedescendant", str(options.first.get_attribute("id")))
    expect(options.first).to_have_attribute("aria-selected", "true")
    expect(combobox).to_have_value("rocket")
    combobox.press("Escape")
    expect(combobox).to_have_value("ro")
    expect(combobox).to_have_attribute("aria-expanded", "false")
    expect(page.get_by_role("option")).to_have_count(0)


def test_arrows_go_round_and_back_to_what_was_typed(open_page: OpenPage) -> None:
    page = open_page("/")
    box(page).press_sequentially("re")
    expect(page.get_by_role("option")).to_have_text(["report"])
    for key, value in (("ArrowUp", "report"), ("ArrowUp", "re"), ("ArrowDown", "report"), ("ArrowDown", "re")):
        box(page).press(key)
        expect(box(page)).to_have_value(value)
    box(page).press("Enter")
    expect(page).to_have_url("/search?q=re")


def test_suggestions_vanish_when_the_box_is_left(open_page: OpenPage) -> None:
    page = open_page("/")
    box(page).press_sequentially("ro")
    expect(page.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Tab")
    expect(page.get_by_role("option")).to_have_count(0)


# -- keyboard only --------------------------------------------------------------------------------


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.textContent.trim().replace(/\\s+/g, ' ')"))


def tab_to(page: Page, text: str, most: int = 80) -> None:
    page.wait_for_load_state()
    seen = []
    for _ in range(most):
        page.keyboard.press("Tab")
        seen.append(focused(page))
        if seen[-1].startswith(text):
            return
    raise AssertionError(f"{text!r} was not reached: {seen}")


def test_a_search_needs_no_mouse(open_page: OpenPage) -> None:
    page = open_page("/")
    expect(box(page)).to_be_focused()
    page.keyboard.type("orb")
    expect(page.get_by_role("option")).to_have_text(["orbit"])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_title("orbit – Gossamer")
    tab_to(page, "Bulletin 3")
    tab_to(page, "Next")
    page.keyboard.press("Enter")
    expect(page).to_have_title("orbit, page 2 – Gossamer")
    tab_to(page, "Newest")
    page.keyboard.press("Enter")
    expect(page).to_have_url("/search?q=orbit&sort=date")
    tab_to(page, "Past year")
    page.keyboard.press("Enter")
    expect(page.locator(".chips")).to_contain_text("Past year")


def test_the_first_tab_stop_skips_to_the_content(open_page: OpenPage) -> None:
    page = open_page("/search?q=rocket")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")


def test_a_slash_reaches_the_box_and_can_be_typed_there(open_page: OpenPage) -> None:
    page = open_page("/search?q=rocket")
    page.keyboard.press("/")
    expect(box(page)).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.type("/2")
    expect(box(page)).to_have_value("rocket/2")


def test_what_has_the_focus_is_visible(open_page: OpenPage) -> None:
    page = open_page("/search?q=rocket&since=year")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        assert page.evaluate(
            "() => { const style = getComputedStyle(document.activeElement);"
            " return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2; }"
        ), focused(page)


def test_near_copies_open_with_the_keyboard(open_page: OpenPage) -> None:
    page = open_page("/search?q=rocket")
    tab_to(page, "2 similar")
    page.keyboard.press("Enter")
    expect(page.locator("details.similar li")).to_have_count(2)
