"""The console's door and frame in a real browser: logging in and out, a phone, no JavaScript, both colour schemes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from console_kit import PASSWORDS, ConsoleUnderTest, finished_crawl, small_console
from playwright.sync_api import Page, expect

from gossamer.console.app import PAGES

OpenPage = Callable[..., Page]
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 700}, "has_touch": True, "is_mobile": True}
PATHS = ["/console" if name == "overview" else f"/console/{name}" for name in PAGES]


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleUnderTest]:
    data = tmp_path_factory.mktemp("crawled") / "data"
    finished_crawl(data)
    with small_console(data) as under_test:
        yield under_test


@pytest.fixture(scope="module")
def base_url(console: ConsoleUnderTest) -> str:
    return console.address


def enter(page: Page, name: str = "operator", password: str = "") -> Page:
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password or PASSWORDS[name])
    page.keyboard.press("Enter")
    return page


def test_a_person_logs_in_where_they_wanted_to_go_and_out_again(open_page: OpenPage, watch: Any) -> None:
    page = open_page("/console/audit?who=operator")
    expect(page.get_by_label("Name")).to_be_focused()
    enter(page, password="not-the-password")
    expect(page.get_by_role("alert")).to_have_text("Wrong name or password.")
    expect(page.get_by_label("Name")).to_have_value("operator")
    enter(page)
    expect(page).to_have_url(f"{page.url.split('/console')[0]}/console/audit?who=operator")
    expect(page.get_by_role("heading", level=1)).to_have_text("Audit log")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
    # The browser itself tells of the refusal in its console, and may do so later than the page shows it.
    watch.problems[:] = [problem for problem in watch.problems if "status of 403" not in problem]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_is_wider_than_a_phone(open_page: OpenPage, scheme: str) -> None:
    page = enter(open_page("/console/audit", color_scheme=scheme, **PHONE))
    expect(page.get_by_role("heading", level=1)).to_have_text("Audit log")
    for path in PATHS:
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path


def test_everything_is_reached_on_a_phone_without_javascript(open_page: OpenPage) -> None:
    page = enter(open_page("/console", java_script_enabled=False, **PHONE))
    assert not page.get_by_role("link", name="Accounts", exact=True).is_visible()
    page.locator("details.places summary").click()
    page.get_by_role("link", name="Accounts", exact=True).click()
    panel = page.locator("section", has_text="New account")
    panel.get_by_label("Name").fill("carol")
    panel.get_by_role("button", name="Add account").click()
    expect(page.get_by_role("status")).to_contain_text("The password of carol is")
    row = page.get_by_role("row").filter(has_text="carol")
    row.get_by_text("Remove", exact=True).click()
    row.get_by_role("button", name="Yes: Remove").click()
    expect(page.get_by_role("status")).to_have_text("Removed carol and ended all their sessions.")
    expect(page.get_by_role("row").filter(has_text="carol")).to_have_count(0)


def test_readers_see_no_button_that_changes_something(open_page: OpenPage) -> None:
    page = enter(open_page("/console/audit"), "reader")
    expect(page.get_by_role("heading", level=1)).to_have_text("Audit log")
    for path in PATHS:
        page.goto(path)
        posts = page.locator("form[method=post]").evaluate_all("forms => forms.map(form => form.action)")
        assert {post.rpartition("/")[2] for post in posts} <= {"logout", "own"}, path


def test_what_has_the_focus_can_be_seen(open_page: OpenPage) -> None:
    page = enter(open_page("/console/audit"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Audit log")
    for _ in range(12):
        page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid", page.evaluate("document.activeElement.outerHTML")
