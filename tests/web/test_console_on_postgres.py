"""The console over a crawl whose database is PostgreSQL: every page answers, every form does what it says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from console_kit import ConsoleUnderTest, console_of, log_in
from crawl_kit import crawl

from gossamer.frontier.views.inspect import find_url
from gossamer.tables import audit
from gossamer.testing import FakeWeb
from kit.postgres import PostgresServer

TEXT = "An orb weaver spins silk at dawn, and the gossamer drifts across the meadow until the evening."


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ConsoleUnderTest, str, str]]:
    """A console, a site of its crawl and a page of it."""
    server, web = PostgresServer(), FakeWeb()
    try:
        data, site = tmp_path_factory.mktemp("shared") / "data", web.site("alpha.test", pages=4, links=2, seed=1)
        start = site.page("/start.html", f'<html lang="en"><title>Spiders</title><p>{TEXT}</p><a href="/gone">x</a>')
        with web:
            options = {"crawl": {"index": True, "workers": 1}, "storage": {"database": server.database()}}
            crawl(web, data, [start, *site.generated], **options)
        with console_of(data) as console:
            yield console, start.removeprefix("http://").partition("/")[0], start
    finally:
        server.stop()


PAGES = (
    "", "/overview.json", "/sites", "/sites?sort=share", "/sites?sort=waiting", "/sites?error=gone",
    "/sites?q=alpha%00",
    *(f"/sites?state={state}" for state in ("active", "waiting", "resting", "paused", "limited", "idle")),
    "/site?name=SITE", "/site.json?name=SITE", "/site/extraction.json?name=SITE", "/url?url=PAGE", "/url?q=PAGE",
    "/url?q=gone", "/url?q=go%00ne", "/filters", "/rules", "/jobs", "/searches", "/searches/chart.json",
    "/evaluations", "/alerts", "/audit", "/audit?who=a%00&subject=%25", "/settings", "/accounts",
)  # fmt: skip


@pytest.mark.parametrize("path", PAGES)
def test_every_page_answers(shared: tuple[ConsoleUnderTest, str, str], path: str) -> None:
    console, site, page = shared
    answer = console.operator.get(f"/console{path.replace('SITE', site).replace('PAGE', page)}")
    assert answer.status_code == 200, answer.text[-2000:]


def test_forms_do_what_they_say_and_each_has_its_line(shared: tuple[ConsoleUnderTest, str, str]) -> None:
    console, site, page = shared
    for path, fields in (
        ("/site/pause", {"name": site, "reason": "a\x00b"}),
        ("/site/resume", {"name": site}),
        ("/site/limit", {"name": site, "least_delay": "2", "most_pages": "500"}),
        ("/site/recrawl", {"name": site}),
        ("/url/recrawl", {"url": page}),
        ("/url/remove", {"url": page, "reason": "asked\x00for"}),
        ("/url/restore", {"url": page, "what": f"={page}"}),
    ):
        answer = console.send(f"/console{path}", fields)
        assert answer.status_code == 200, (path, answer.text[-2000:])
    db = console.folder.read()
    record = find_url(db, page)
    assert record is not None and record.state == "waiting"
    done = [entry.action for entry in audit.entries(db) if entry.action not in ("log in",)]
    assert done[::-1] == ["pause site", "resume site", "limit site", "recrawl", "recrawl", "remove", "restore"]
    assert log_in(console.anybody, "op\x00erator", "x").status_code == 403
