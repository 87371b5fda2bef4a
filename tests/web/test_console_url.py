"""The URL page of the console, served for real over a finished crawl."""

from __future__ import annotations

import html
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from console_kit import ConsoleUnderTest, console_of, small_console
from crawl_kit import wait_until
from web_kit import PATIENCE

from gossamer.data.folder import DataFolder
from gossamer.frontier.steering import removals
from gossamer.frontier.views.inspect import all_urls, find_url
from gossamer.tables import audit

START = "/start.html"


@pytest.fixture
def fresh(crawled: Path) -> Iterator[ConsoleUnderTest]:
    """A console whose crawl the test may change."""
    with small_console(crawled) as console:
        yield console


def url_ending(console: ConsoleUnderTest, end: str) -> str:
    """The known URL with this end."""
    return next(record.url for record in all_urls(console.folder.read()) if record.url.endswith(end))


def page(console: ConsoleUnderTest, url: str, **more: str) -> httpx.Response:
    return console.operator.get("/console/url", params={"url": url, **more})


def verdict(response: httpx.Response) -> str:
    found = re.search(r'id="verdict"><strong>(.*?)</strong>', response.text, re.DOTALL)
    assert found, response.text[:2000]
    return html.unescape(found[1])


def test_the_start_page_asks_for_a_url(console: ConsoleUnderTest) -> None:
    response = console.operator.get("/console/url")
    assert response.status_code == 200
    assert 'name="q"' in response.text


def test_a_url_that_is_typed_leads_to_its_page(console: ConsoleUnderTest) -> None:
    url = url_ending(console, START)
    response = console.operator.get("/console/url", params={"q": url})
    assert verdict(response) == "Readers can find this page."
    bare = console.operator.get("/console/url", params={"q": url.removeprefix("http://")})
    assert url in bare.text


def test_a_part_of_a_url_offers_the_urls_that_contain_it(console: ConsoleUnderTest) -> None:
    response = console.operator.get("/console/url", params={"q": "gone.ht"})
    assert html.escape(url_ending(console, "/gone.html")) in response.text


def test_words_offer_the_pages_that_answer_them(console: ConsoleUnderTest) -> None:
    response = console.operator.get("/console/url", params={"q": "gossamer hedge"})
    assert url_ending(console, START) in response.text
    assert "Spiders of the meadow" in response.text


def test_what_nobody_knows_is_said(console: ConsoleUnderTest) -> None:
    response = console.operator.get("/console/url", params={"q": "qqqzzz"})
    assert "No known URL contains this" in response.text


def test_the_life_of_a_page_that_is_found(console: ConsoleUnderTest) -> None:
    url = url_ending(console, START)
    response = page(console, url)
    assert response.status_code == 200
    for words in (
        "as a seed", "document", "Spiders of the meadow", "An orb weaver spins silk at dawn",
        "&lt;title&gt;Spiders of the meadow", "allows", "robots.txt", "127.", "level",
    ):  # fmt: skip
        assert words in response.text, words
    assert "<title>Spiders" not in response.text  # the page is shown, never rendered


@pytest.mark.parametrize(
    ("end", "because"),
    [
        ("/gone.html", "its last visit failed: gone: status 404: the server says there is no such page"),
        ("/old.html", "it redirects to"),
        ("/private/x.html", "forbids it: robots.txt forbids"),
    ],
)
def test_why_a_page_is_not_found(console: ConsoleUnderTest, end: str, because: str) -> None:
    said = verdict(page(console, url_ending(console, end)))
    assert said.startswith("Readers cannot find this page: ") and because in said


def test_an_unknown_url_is_explained_as_well(console: ConsoleUnderTest) -> None:
    url = url_ending(console, START).replace(START, "/nobody-links-here")
    said = page(console, url)
    assert verdict(said) == "Not in this crawl: no seed, link, sitemap or feed points to it."
    assert f"gossamer inject {url} --data {console.data}" in said.text
    elsewhere = verdict(page(console, "http://elsewhere.example/x"))
    assert "would refuse it" in elsewhere


def test_what_is_no_url_is_a_sentence(console: ConsoleUnderTest) -> None:
    response = page(console, "mailto:somebody")
    assert response.status_code == 404
    assert "Traceback" not in response.text


def test_why_it_ranks_where_it_ranks(console: ConsoleUnderTest) -> None:
    url = url_ending(console, START)
    response = page(console, url, query="orb weaver silk")
    assert re.search(r"Position <strong>1</strong>", response.text)
    assert "the sum of:" in response.text
    other = page(console, url, query="qqqzzz")
    assert "does not match this query" in other.text


def test_hostile_urls_are_escaped(console: ConsoleUnderTest) -> None:
    for hostile in ("http://alpha.test/<script>alert(1)</script>", '"><script>alert(1)</script>'):
        for parameter in ("url", "q", "query"):
            given = {"url": url_ending(console, START), parameter: hostile}
            response = console.operator.get(
                "/console/url", params=given if parameter == "query" else {parameter: hostile}
            )
            assert "<script>alert" not in response.text


def test_a_reader_sees_no_buttons_and_may_change_nothing(console: ConsoleUnderTest) -> None:
    url = url_ending(console, START)
    response = console.reader.get("/console/url", params={"url": url})
    assert response.status_code == 200
    assert "Remove this page" not in response.text and "Fetch it again" not in response.text
    for action in ("recrawl", "remove", "block", "restore"):
        fields = {"url": url, "reason": "x", "prefix": url, "what": url}
        refused = console.send(f"/console/url/{action}", fields, client=console.reader)
        assert refused.status_code == 403


def test_removing_needs_a_reason(fresh: ConsoleUnderTest) -> None:
    url = url_ending(fresh, START)
    response = fresh.send("/console/url/remove", {"url": url, "reason": "  "})
    assert response.status_code == 400 and "Enter a reason" in response.text
    assert verdict(page(fresh, url)) == "Readers can find this page."


def test_a_page_is_removed_and_brought_back(fresh: ConsoleUnderTest) -> None:
    url = url_ending(fresh, START)
    done = fresh.send("/console/url/remove", {"url": url, "reason": "asked by mail"})
    assert done.status_code == 200 and "Taken down" in done.text
    assert verdict(done).startswith("Readers cannot find this page: it was taken down: asked by mail")
    assert "An orb weaver" not in done.text and "Spiders of the meadow" not in done.text
    assert fresh.anybody.get("/cached", params={"url": url}).status_code == 404
    assert url not in fresh.anybody.get("/search", params={"q": "orb weaver"}).text
    [line] = audit.entries(fresh.folder.read(), audit.Filter(action="remove"))
    assert (line.who, line.subject) == ("operator", f"={url}") and "asked by mail" in line.detail
    back = fresh.send("/console/url/restore", {"url": url, "what": f"={url}"})
    assert "Restored" in back.text
    assert "it has to be fetched again: in the queue" in verdict(back)


def test_a_prefix_is_blocked(fresh: ConsoleUnderTest) -> None:
    url = url_ending(fresh, START)
    prefix = url.removesuffix("start.html")
    done = fresh.send("/console/url/block", {"url": url, "prefix": prefix})
    assert "blocked" in verdict(done)
    others = [record for record in all_urls(fresh.folder.read()) if record.url.startswith(prefix)]
    assert len(others) > 3 and {record.state for record in others} == {"removed"}
    assert fresh.send("/console/url/block", {"url": url, "prefix": " "}).status_code == 400


def test_a_page_is_queued_again(fresh: ConsoleUnderTest) -> None:
    url = url_ending(fresh, "/gone.html")
    done = fresh.send("/console/url/recrawl", {"url": url})
    assert "The crawl will fetch it again" in done.text
    record = find_url(fresh.folder.read(), url)
    assert record is not None and record.state == "waiting"
    unknown = fresh.send("/console/url/recrawl", {"url": url.replace("gone", "unknown")})
    assert unknown.status_code == 400 and "gossamer inject" in unknown.text


def test_a_removal_that_breaks_off_is_not_called_done_and_stands_in_the_audit_log(fresh: ConsoleUnderTest) -> None:
    url = url_ending(fresh, START)
    index = fresh.data / "index"
    index.rename(fresh.data / "index.kept")
    index.write_text("not a folder")
    response = fresh.send("/console/url/remove", {"url": url, "reason": "a court said so"})
    assert response.status_code >= 500
    db = fresh.folder.read()
    record = find_url(db, url)
    assert record is not None and record.state == "removed", "the removal holds all the same"
    [line] = audit.entries(db, audit.Filter(subject="/console/url/remove"))
    assert (line.who, line.action) == ("operator", "tried")
    assert url in line.detail and "a court said so" in line.detail


def test_a_removal_that_ended_with_its_server_is_finished_by_the_next(crawled: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(crawled, data)
    db = DataFolder(data).open_database()
    url = next(record.url for record in all_urls(db) if record.url.endswith(START))
    with db.transaction():
        removals.enter(db, f"={url}", "asked", 1.0)  # killed before the first URL left
    with console_of(data) as console:
        wait_until(lambda: not removals.unfinished(db), PATIENCE)
        wait_until(lambda: verdict(page(console, url)).startswith("Readers cannot find this page"), PATIENCE)
    db.close()
