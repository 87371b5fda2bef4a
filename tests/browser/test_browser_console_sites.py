"""Overview and sites of the console in a real browser: figures that live, charts that can be read in every way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from console_kit import PASSWORDS, ConsoleUnderTest, finished_crawl, small_console
from playwright.sync_api import Page, expect

from gossamer.clock import SystemClock
from gossamer.tables import samples
from gossamer.tables.samples import MINUTE, Figures

SPEED = "figure[data-chart*='name=speed']"
HIDE = """hidden => {
    Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
    document.dispatchEvent(new Event("visibilitychange"));
}"""
MANY_TILES = """() => {
    const all = document.querySelector(".tiles"), one = all.querySelector(".tile");
    one.querySelector(".value").textContent = "> 99.9 %";
    all.replaceChildren(...Array.from({length: 8}, () => one.cloneNode(true)));
}"""
LINES = "all => all.map((one) => one.offsetHeight / parseFloat(getComputedStyle(one).fontSize))"
TOO_WIDE = "all => all.filter((one) => one.scrollWidth > one.clientWidth).length"


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleUnderTest]:
    data = tmp_path_factory.mktemp("crawled") / "data"
    finished_crawl(data)
    with small_console(data) as under_test:
        give_a_past(under_test.data)
        yield under_test


def give_a_past(data: Path) -> None:
    """Half an hour at two pages a second, up to five minutes ago, and nothing else: a crawl that ran over the turn of
    a minute has figures of its own."""
    from gossamer.data.folder import DataFolder

    now, db = SystemClock().now(), DataFolder(data).open_database()
    try:
        db.execute("DELETE FROM samples")
        for minute in range(5, 35):
            figures = Figures(now - minute * MINUTE, fetched=120 * (100 - minute), pages=60 * (100 - minute))
            samples.note(db, figures)
    finally:
        db.close()


@pytest.fixture(scope="module")
def base_url(console: ConsoleUnderTest) -> str:
    return console.address


@pytest.fixture
def operator(open_page: Callable[..., Page]) -> Callable[..., Page]:
    """Opens a page of the console as an operator."""

    def open_(path: str, **options: object) -> Page:
        page = open_page("/console/login", **options)
        page.fill("input[name=name]", "operator")
        page.fill("input[name=password]", PASSWORDS["operator"])
        page.click("main button[type=submit]")
        page.wait_for_url("**/console")
        page.goto(path)
        return page

    return open_


def test_which_sites_fail_and_why_is_two_clicks_from_the_overview(operator: Callable[..., Page]) -> None:
    page = operator("/console")
    page.get_by_role("link", name="the server says there is no such page").click()
    row = page.get_by_role("row").filter(has_text="alpha.test")
    expect(row).to_contain_text("most failures: the server says there is no such page")
    row.get_by_role("link", name="alpha.test").click()
    expect(page.locator("main")).to_contain_text("/gone.html")


def test_figures_follow_the_crawl_without_loading_the_page(
    operator: Callable[..., Page], console: ConsoleUnderTest
) -> None:
    page = operator("/console")
    before = page.inner_text("[data-figure=fetched]")
    db = console.folder.open_database()
    try:
        db.execute("UPDATE sites SET fetched = fetched + 1000")
    finally:
        db.close()
    expect(page.locator("[data-figure=fetched]")).not_to_have_text(before)
    expect(page.locator("[data-live-chart]")).to_have_count(0)  # what is over has no present to draw


def test_a_hidden_tab_asks_for_nothing(operator: Callable[..., Page]) -> None:
    page = operator("/console")
    with page.expect_response("**/overview.json"):
        pass
    page.evaluate(HIDE, True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(3000)
    assert asked == []
    with page.expect_response("**/overview.json"):
        page.evaluate(HIDE, False)


def test_a_chart_can_be_read_by_mouse_by_keyboard_and_as_a_table(operator: Callable[..., Page]) -> None:
    page = operator("/console?window=hour")
    chart = page.locator(f"{SPEED} svg[role=img]")
    expect(chart).to_have_attribute(
        "aria-label",
        "Pages per second. Last values: fetched: 2 /s, kept: 1 /s, new errors: 0 /s. Arrow keys step through points.",
    )
    chart.hover()
    expect(chart.get_by_text("fetched: 2 /s")).to_be_visible()
    page.mouse.move(0, 0)
    expect(chart.get_by_text("fetched: 2 /s")).to_have_count(0)
    chart.focus()
    page.keyboard.press("Home")
    expect(page.locator(f"{SPEED} [aria-live]")).to_contain_text("fetched: 2 /s, kept: 1 /s")
    page.keyboard.press("Escape")
    expect(chart.get_by_text("fetched: 2 /s")).to_have_count(0)
    page.locator(SPEED).get_by_text("Figures").click()
    expect(page.locator(f"{SPEED} tbody tr").nth(28)).to_be_attached()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_fit_the_screen(
    operator: Callable[..., Page], console: ConsoleUnderTest, width: int, scheme: str
) -> None:
    page = operator("/console", viewport={"width": width, "height": 800}, color_scheme=scheme)
    for path in ("/console", "/console/sites", None):
        if path is None:
            page.get_by_role("link", name="alpha.test").first.click()
        else:
            page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, page.url


@pytest.mark.parametrize("width", [390, 1280])
def test_a_figure_of_a_tile_stands_on_one_line_inside_it(operator: Callable[..., Page], width: int) -> None:
    page = operator("/console", viewport={"width": width, "height": 800})
    page.evaluate(MANY_TILES)
    values = page.locator(".tile .value")
    heights = values.evaluate_all(LINES)
    assert len(heights) == 8 and max(heights) < 1.5
    assert values.evaluate_all(TOO_WIDE) == 0


def test_an_operator_pauses_and_resumes_a_site_by_its_buttons(operator: Callable[..., Page]) -> None:
    page = operator("/console/sites")
    page.get_by_role("link", name="alpha.test").first.click()
    page.get_by_text("Pause…").click()
    page.get_by_label("Reason").first.fill("they asked us to")
    page.get_by_role("button", name="Pause this site").click()
    expect(page.get_by_role("status")).to_contain_text("Paused")
    expect(page.locator("main")).to_contain_text("is paused: they asked us to")
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("status")).to_contain_text("Resumed")
