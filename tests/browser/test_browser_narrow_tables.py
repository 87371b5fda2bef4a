"""Tables on a phone: a row is a card, and no column or button lies outside of what can be seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from console_kit import PASSWORDS, ConsoleUnderTest, finished_crawl, send, small_console
from playwright.sync_api import Page

TOO_WIDE = "all => all.filter((one) => one.scrollWidth > one.clientWidth).length"
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleUnderTest]:
    data = tmp_path_factory.mktemp("crawled") / "data"
    finished_crawl(data)
    with small_console(data) as under_test:
        rule = {"kind": "prefix", "action": "deny", "pattern": "/a/rather/long/beginning/of/addresses/"}
        assert send(under_test.operator, "/console/filters/add", rule).status_code == 200
        yield under_test


@pytest.fixture(scope="module")
def base_url(console: ConsoleUnderTest) -> str:
    return console.address


def test_every_column_of_a_table_is_seen_on_a_phone(open_page: Callable[..., Page]) -> None:
    page = open_page("/console/login", viewport=PHONE)
    page.fill("input[name=name]", "operator")
    page.fill("input[name=password]", PASSWORDS["operator"])
    page.click("main button[type=submit]")
    page.wait_for_url("**/console")
    for place in ("audit", "filters", "jobs", "seeds", "accounts"):
        page.goto(f"/console/{place}")
        assert page.locator("table.cards").count() > 0, place
        assert page.eval_on_selector_all(".scroll", TOO_WIDE) == 0, place
