"""A page is judged by its whole site: the first pages of a crawl are as good as the last, without a second request."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from crawl_kit import crawl, run
from table_kit import problems

from gossamer.database.database import open_database
from gossamer.frontier.knowledge import FIRST_KEY
from gossamer.site.facts import Facts
from gossamer.testing import FakeWeb, Reply

PAGES = 24
SIDEBAR = [
    "Our editors' most read story of the month is the one about the bridge that nobody wanted to pay for",
    "Subscribe to our newsletter and never miss what happens in the valley, in the hills and by the river",
    "The weather tomorrow: rain in the morning, sun in the afternoon, and a fresh wind from the west",
    "Letters to the editor reach us by post, by mail and, since last year, also in the box at the door",
]
STREETS = "Mill Church Market Station Garden Harbour Forest School Castle Bridge Lake Meadow".split()


def article(number: int) -> str:
    street, other = STREETS[number % 12], STREETS[(number * 5 + 3) % 12]
    return "".join(
        f"<p>{text}</p>"
        for text in (
            f"On {street} Street, {number + 3} neighbours have planted {number * 7 + 2} lime trees, as they told us.",
            f"Nobody in {other} Lane knew of it before; the council of ward {number} will now have to decide.",
            f"A first vote in case {number * 31 + 5} failed by a single voice, which came from {other} Lane itself.",
            f"The trees of {street} Street stay where they are until then, and get water every evening at {number}.",
        )
    )


def html(number: int) -> str:
    """An article; its site has one title for all pages, and a sidebar that reads like text."""
    links = "".join(f'<a href="/{n}">{n}</a> ' for n in range(1, PAGES))
    aside = "".join(f"<p>{text}</p>" for text in SIDEBAR)
    return (
        "<html><head><title>The Valley Post</title></head><body><div class=page>"
        f"<div class=col><h1>Trees of case {number}</h1>{article(number)}</div><div class=col2>{aside}</div></div>"
        f"<div class=more>{links}</div></body></html>"
    )


class Crawled(NamedTuple):
    web: FakeWeb
    data: Path
    requests: dict[str, int]
    pages: dict[str, dict[str, Any]]


def described(network: str) -> tuple[FakeWeb, str]:
    """The site, and its first page."""
    web = FakeWeb(network)
    site = web.site("valley.test")
    for number in range(PAGES):
        reply = Reply(html(number))
        reply.etag = ""  # a second visit brings the whole page again
        site.reply(f"/{number or ''}", reply)
    return web, site.url("/")


def crawled(web: FakeWeb, seed: str, data: Path, **sections: dict[str, Any]) -> Crawled:
    crawl(web, data, [seed], **sections)
    requests = Counter(request.path for request in web.log())
    rows = [json.loads(line) for line in run("export", "pages", data=data).stdout.splitlines()]
    return Crawled(web, data, requests, {row["url"]: row for row in rows})


pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    web, seed = described("127.0.91")
    with web:
        yield crawled(web, seed, tmp_path_factory.mktemp("known") / "data")


def furnished(pages: dict[str, dict[str, Any]]) -> list[str]:
    """Pages with a line of the sidebar in their text."""
    return [url for url, page in pages.items() if any(text in page["text"] for text in SIDEBAR)]


def test_no_page_has_its_sites_sidebar_in_its_text_and_each_has_its_own(known: Crawled) -> None:
    assert len(known.pages) >= PAGES - 1
    assert furnished(known.pages) == []
    for url, page in known.pages.items():
        number = int(url.rpartition("/")[2] or 0)
        assert f"case {number * 31 + 5} failed" in page["text"], page


def test_a_title_that_all_pages_share_is_no_pages_title(known: Crawled) -> None:
    assert {page["title"] for page in known.pages.values()} == {
        f"Trees of case {int(url.rpartition('/')[2] or 0)}" for url in known.pages
    }


def test_no_page_was_asked_for_twice(known: Crawled) -> None:
    assert {path: times for path, times in known.requests.items() if times > 1} == {}


def test_a_page_that_was_judged_again_has_had_one_visit(known: Crawled) -> None:
    db = open_database(known.data / "frontier.db")
    rows = db.execute("SELECT url FROM urls WHERE segment IN (SELECT id FROM segments WHERE worker = 'reread')")
    merged = db.execute("SELECT COUNT(*) FROM segments WHERE worker = 'reread'")
    db.close()
    assert merged[0][0] >= 1, "no page was judged again"
    for (url,) in rows[:3]:
        told = json.loads(run("history", url, "--json", data=known.data).stdout)
        assert len(told) == 1, told


def test_the_next_visit_finds_them_unchanged(known: Crawled) -> None:
    """A re-reading is no change of the page: the hash moved along with the text."""
    db = open_database(known.data / "frontier.db")
    before = dict(db.execute("SELECT url, content_hash FROM urls WHERE outcome = 'document'"))
    db.close()
    assert run("recrawl", *sorted(before), data=known.data).returncode == 0
    crawl(known.web, known.data, [])
    visits = [request for request in known.web.log() if request.path != "/robots.txt" and request.status == 200]
    assert len(visits) == 2 * PAGES, "the pages were not sent once more"
    db = open_database(known.data / "frontier.db")
    assert dict(db.execute("SELECT url, content_hash FROM urls WHERE outcome = 'document'")) == before
    assert db.execute("SELECT COALESCE(SUM(changes), 0) FROM change_classes") == [(0,)]
    db.close()


def test_without_learning_each_page_is_judged_alone(tmp_path: Path) -> None:
    web, seed = described("127.0.92")
    with web:
        alone = crawled(web, seed, tmp_path / "data", site={"learn": False})
    assert furnished(alone.pages), "the sidebar was no trap for the page-level judgement: this test proves nothing"
    db = open_database(alone.data / "frontier.db")
    assert db.execute("SELECT COUNT(*) FROM site_pages") == [(0,)]
    db.close()


def html_with_teasers(number: int) -> str:
    """An article above teasers of three others, which are others on each page."""
    others = [(number * 7 + step) % PAGES or 1 for step in (3, 8, 17)]
    teasers = "".join(
        f'<div><a href="/{n}">Trees of case {n} and what became of them</a> In short, case {n} is about the lime trees '
        f"that neighbours planted, and about the question who will have to water them …</div>"
        for n in others
    )
    return (
        f"<html><head><title>Trees of case {number}</title></head><body><div class=col><h1>Trees of case {number}</h1>"
        f"{article(number)}</div><div class=rel>{teasers}</div></body></html>"
    )


def html_of_list() -> str:
    entries = "".join(
        f'<div><a href="/{n}">Trees of case {n} and what became of them</a> In short, case {n} is about the lime trees '
        f"of the valley, and about neighbours who planted them …</div>"
        for n in range(1, PAGES)
    )
    body = f"<h1>All cases</h1><div class=rel>{entries}</div>"
    return f"<html><head><title>All cases</title></head><body>{body}</body></html>"


@pytest.mark.parametrize("learn", [False, True])
def test_no_page_has_teasers_of_others_in_its_text_and_a_list_has_nothing_else(tmp_path: Path, learn: bool) -> None:
    web = FakeWeb("127.0.94")
    site = web.site("valley.test")
    site.reply("/", Reply(html_of_list()))
    for number in range(1, PAGES):
        site.reply(f"/{number}", Reply(html_with_teasers(number)))
    with web:
        pages = crawled(web, site.url("/"), tmp_path / "data", site={"learn": learn}).pages
    front = pages.pop(site.url("/"))
    assert front["text"].count("In short") == PAGES - 1
    assert len(pages) == PAGES - 1
    teased = [url for url, page in pages.items() if "In short" in page["text"]]
    assert bool(teased) == (not learn), "without the site, teasers must be a trap: else this test proves nothing"
    for url, page in pages.items():
        assert f"case {int(url.rpartition('/')[2]) * 31 + 5} failed" in page["text"], page


def judged_by(data: Path, facts: bytes) -> None:
    """Let all documents be judged again by these facts."""
    db = open_database(data / "frontier.db")
    db.execute("UPDATE site_facts SET version = version + 1, facts = ?, reread = ?", (facts, FIRST_KEY))
    db.close()


def judge_again(data: Path, seconds: float | None = None) -> int:
    """Run the process that judges pages again; kill it after so long."""
    process = subprocess.Popen([sys.executable, "-m", "gossamer.crawl.again.process", str(data)])
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def texts(data: Path) -> dict[str, str]:
    rows = [json.loads(line) for line in run("export", "pages", data=data).stdout.splitlines()]
    return {row["url"]: row["text"] for row in rows}


def test_killed_at_any_moment_it_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    web, seed = described("127.0.93")
    with web:
        data = crawled(web, seed, tmp_path / "data").data
    before = texts(data)
    db = open_database(data / "frontier.db")
    facts = bytes(db.execute("SELECT facts FROM site_facts")[0][0])
    db.close()
    judged_by(data, msgspec.msgpack.encode(Facts()))  # as if nothing were known: the sidebar comes back
    for kill in range(8):
        judge_again(data, 0.15 * (kill + 1))
    assert judge_again(data) == 0
    assert len(furnished({url: {"text": text} for url, text in texts(data).items()})) > PAGES / 2
    judged_by(data, facts)
    assert judge_again(data) == 0
    assert texts(data) == before
    assert run("crawl", "--for", "1s", data=data).returncode in (0, 1)  # deletes what the killed ones left behind
    assert problems(data, unfinished=True) == []
