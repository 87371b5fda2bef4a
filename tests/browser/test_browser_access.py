"""Everybody can use it: names, structure, contrast, small screens, dark rooms. Checked in the rendered page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

OpenPage = Callable[..., Page]

PAGES = {
    "home": "/",
    "results": "/search?q=rocket&since=year",
    "paged": "/search?q=orbit&page=2",
    "hostile": "/search?q=silk",
    "nothing": "/search?q=rokcet",
    "cached": "/cached?url=https://ru.example.org/istoriya&q=%D1%80%D0%B0%D0%BA%D0%B5%D1%82%D0%B0",
    "story": "/story?url=https://www.example.org/rockets/engines",
    "history": "/history?url=https://www.example.org/rockets/engines",
    "explain": "/explain?q=rocket&url=https://www.example.org/rockets/history",
    "api": "/api",
}
every_page = pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)
schemes = pytest.mark.parametrize("scheme", ["light", "dark"])

STRUCTURE = """
() => {
    const problems = [];
    const shown = (element) => element.checkVisibility({ visibilityProperty: true });
    const all = (selector) => [...document.querySelectorAll(selector)].filter(shown);
    const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
    const name = (element) =>
        (element.getAttribute("aria-label") || element.labels?.[0]?.textContent || element.textContent).trim();
    const one = (selector) => {
        if (all(selector).length !== 1) problems.push(`${all(selector).length} of ${selector}`);
    };
    if (!document.documentElement.lang) problems.push("no language");
    if (!document.title) problems.push("no title");
    for (const selector of ["h1", "main", "body > header", "body > footer", "search"]) one(selector);
    let level = 0;
    for (const heading of all("h1, h2, h3, h4")) {
        const now = Number(heading.tagName[1]);
        if (now > level + 1) problems.push(`h${now} after h${level}: ${heading.textContent}`);
        level = now;
        if (!name(heading)) problems.push("an empty heading");
    }
    for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) problems.push(`id ${id} twice`);
    for (const control of all("a[href], button, input:not([type=hidden]), summary, [role=option]"))
        if (!name(control)) problems.push(`no name: ${control.outerHTML.slice(0, 80)}`);
    for (const landmark of all("nav, [role=region], [role=group]"))
        if (!landmark.getAttribute("aria-label")) problems.push(`no label: ${landmark.outerHTML.slice(0, 60)}`);
    for (const svg of all("svg"))
        if (svg.ariaHidden !== "true" && !svg.getAttribute("aria-label")) problems.push("an svg without a name");
    for (const element of all("[aria-controls], [aria-describedby], [aria-labelledby]"))
        for (const attribute of ["aria-controls", "aria-describedby", "aria-labelledby"])
            for (const id of (element.getAttribute(attribute) || "").split(" "))
                if (id && !ids.includes(id)) problems.push(`${attribute} leads to no ${id}`);
    for (const element of all("[tabindex]")) if (element.tabIndex > 0) problems.push("a positive tabindex");
    for (const element of all("main *"))
        if (element.textContent.trim() && !element.closest("main")) problems.push("text outside of landmarks");
    for (const table of all("table")) if (!table.querySelector("th[scope]")) problems.push("a table without heads");
    return problems;
}
"""

CONTRAST = """
() => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const rgba = (colour) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const light = ([r, g, b]) => {
        const [x, y, z] = [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    const back = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const colour = rgba(getComputedStyle(at).backgroundColor);
            if (colour[3] === 255) return colour;
        }
        return [255, 255, 255, 255];
    };
    const low = new Set();
    let count = 0;
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const element = texts.currentNode.parentElement;
        if (!texts.currentNode.data.trim() || !element.checkVisibility() || element.closest(".hidden")) continue;
        const [one, two] = [light(rgba(getComputedStyle(element).color)), light(back(element))];
        const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
        count += 1;
        if (ratio < 4.5) low.add(`${ratio.toFixed(2)}: ${texts.currentNode.data.trim().slice(0, 40)}`);
    }
    return [count, [...low]];
}
"""


@every_page
def test_structure_and_names(open_page: OpenPage, path: str) -> None:
    assert open_page(path).evaluate(STRUCTURE) == []


@every_page
@schemes
def test_every_text_has_the_contrast_of_wcag_aa(open_page: OpenPage, path: str, scheme: str) -> None:
    count, low = open_page(path, color_scheme=scheme).evaluate(CONTRAST)
    assert count > 3 and low == []


@every_page
@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_needs_no_sideways_scrolling(open_page: OpenPage, path: str, width: int) -> None:
    page = open_page(path, viewport={"width": width, "height": 700}, has_touch=True, is_mobile=True)
    inside, outside = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert (inside, outside) == (width, width)
    wide: list[Any] = page.evaluate(
        """(width) => [...document.querySelectorAll("body *")]
            .filter((element) => !element.closest(".scroll, svg, .hidden"))
            .filter((element) => element.getBoundingClientRect().right > width + 1)
            .map((element) => element.outerHTML.slice(0, 80))""",
        width,
    )
    assert wide == []


def test_on_a_phone_filters_are_folded_away_and_work(open_page: OpenPage) -> None:
    page = open_page("/search?q=rocket", viewport={"width": 360, "height": 700}, has_touch=True, is_mobile=True)
    chosen = page.get_by_role("link", name="Past week")
    expect(chosen).not_to_be_visible()
    page.locator("summary", has_text="Filters").tap()
    chosen.tap()
    expect(page.locator(".hits h2")).to_have_count(2)


def test_large_text_needs_no_sideways_scrolling(open_page: OpenPage) -> None:
    page = open_page("/search?q=rocket", viewport={"width": 640, "height": 700})
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert page.evaluate("document.documentElement.scrollWidth") <= 640


def test_dark_is_dark_and_light_is_light(open_page: OpenPage) -> None:
    def background(scheme: str) -> list[int]:
        page = open_page("/search?q=rocket", color_scheme=scheme)
        text = str(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        return [int(part) for part in text.removeprefix("rgb(").removesuffix(")").split(",")]

    assert min(background("light")) > 230
    assert max(background("dark")) < 40


def test_results_carry_their_language_for_screen_readers(open_page: OpenPage) -> None:
    page = open_page("/search?q=6")
    expect(page.locator("article[lang=ru]")).to_have_count(1)
    assert page.locator("article[lang=ru] .meta").get_attribute("lang") == "en"


def test_the_checks_can_fail(open_page: OpenPage) -> None:
    page = open_page("/")
    page.evaluate(
        "() => { const button = document.createElement('button'); const heading = document.createElement('h4');"
        " heading.textContent = 'x'; heading.className = 'low'; document.querySelector('main').append(button, heading);"
        " const sheet = new CSSStyleSheet(); sheet.replaceSync('.low { color: #999; background: #fff }');"
        " document.adoptedStyleSheets = [sheet]; }"
    )
    assert len(page.evaluate(STRUCTURE)) == 2
    assert page.evaluate(CONTRAST)[1] == ["2.85: x"]
