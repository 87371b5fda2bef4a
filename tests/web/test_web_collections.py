"""Collections: a named part of the crawl with its own address, title and colours."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from pathlib import Path

import httpx
import pytest
from console_kit import ConsoleUnderTest, small_console

from gossamer.web.collections import contrast, stylesheet

RULES = """[[collection]]
name = "alpha"
title = "All of <alpha>"
sites = "alpha.test"
colour = "#ffd400"

[[collection]]
name = "english"
filter = "lang:en"
"""


@pytest.fixture(scope="module")
def site(crawled: Path) -> Iterator[httpx.Client]:
    """A server with two collections; `alpha` is the first of the crawl's sites."""
    with small_console(crawled) as console:
        publish(console)
        yield console.anybody


def publish(console: ConsoleUnderTest) -> None:
    names = [one["value"] for one in console.anybody.get("/api/v1/search?q=the").json()["facets"]["sites"]]
    alpha = next(name for name in names if name.startswith("alpha.test"))
    console.send("/console/desk/file", {"rules": RULES.replace('"alpha.test"', f'"{alpha}"')})
    assert "counts now" in console.send("/console/desk/publish").text


def sites(answer: httpx.Response) -> set[str]:
    assert answer.status_code == 200, answer.text
    return {hit["site"].partition(":")[0] for hit in answer.json()["hits"]}


def test_a_collection_has_a_page_of_its_own(site: httpx.Client) -> None:
    for path in ("/c/alpha/", "/c/alpha"):
        page = site.get(path)
        assert page.status_code == 200 and "All of &lt;alpha&gt;" in page.text and "<alpha>" not in page.text
        assert 'action="/c/alpha/search"' in page.text and 'href="/c/alpha/colours.css"' in page.text
    assert site.get("/c/nowhere/").status_code == site.get("/c/nowhere/search?q=a").status_code == 404
    assert site.get("/c/english/colours.css").status_code == 404


def test_its_results_are_of_its_sites_only(site: httpx.Client) -> None:
    everything = sites(site.get("/api/v1/search?q=the&size=50"))
    assert {"alpha.test", "beta.test"} <= everything
    assert sites(site.get("/api/v1/search?q=the&size=50&collection=alpha")) == {"alpha.test"}
    page = site.get("/c/alpha/search?q=the").text
    assert "beta.test" not in page and "All of &lt;alpha&gt;" in page
    assert 'name="collection"' not in page and 'action="/c/alpha/search"' in page
    assert 'href="/c/alpha/search?q=the&amp;sort=date"' in page  # whatever is chosen stays in the collection
    assert 'href="/search?q=the"' in page  # unless the collection itself is taken away
    same = site.get("/search?q=the&collection=alpha").text
    assert "beta.test" not in same and "All of &lt;alpha&gt;" in same


def test_the_start_page_leads_to_collections(site: httpx.Client) -> None:
    page = site.get("/").text
    assert 'href="/c/alpha/"' in page and 'href="/c/english/"' in page
    assert 'href="/c/' not in site.get("/c/alpha/").text.replace('href="/c/alpha/', "")


def test_a_program_is_told_of_a_collection_that_does_not_exist(site: httpx.Client) -> None:
    for path in ("search?q=a", "explain?q=a&url=http://a.test/", "similar?q=a&url=http://a.test/"):
        answer = site.get(f"/api/v1/{path}&collection=alpah")
        assert answer.status_code == 400 and "did you mean alpha?" in answer.json()["error"]


def test_any_colour_can_be_read_by_day_and_by_night(site: httpx.Client) -> None:
    answer = site.get("/c/alpha/colours.css")
    assert answer.headers["content-type"].startswith("text/css") and "--accent: #" in answer.text
    for colour in ("#000000", "#ffffff", "#ffd400", "#0f6b62", "#808080", "#ff00ff"):
        by_day, by_night = stylesheet(colour).splitlines()
        for rule, grounds in ((by_day, ("#ffffff", "#f3f6f4")), (by_night, ("#121716", "#1b2321"))):
            accent = rule.partition("--accent: ")[2][:7]
            ink = rule.partition("--on-accent: ")[2][:7]
            assert all(contrast(accent, ground) >= 4.5 for ground in grounds) and contrast(accent, ink) >= 4.5
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def test_an_explanation_of_a_collection_names_it(site: httpx.Client) -> None:
    url = site.get("/api/v1/search?q=the&collection=alpha").json()["hits"][0]["url"]
    page = unescape(site.get("/explain", params={"q": "the", "url": url, "collection": "alpha"}).text)
    assert url in page
