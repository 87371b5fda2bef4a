"""The filters page of the console: what was filtered automatically, on what evidence, and whether it was right."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from console_kit import ConsoleUnderTest, small_console

from gossamer.data.opening import open_frontier
from gossamer.database.database import Database
from gossamer.frontier.steering import filters
from gossamer.frontier.steering.filters import ACTIVE, OFF, SHADOW, WITHDRAWN, StoredFilter
from gossamer.frontier.views.inspect import all_urls, find_url
from gossamer.model.records import Discovered
from gossamer.model.site import site_of
from gossamer.scope.automatic import Evidence, FilterConfig, is_probe
from gossamer.scope.statistics import Counts
from gossamer.tables import audit

EVIDENCE = Evidence(
    counts=Counts(known=80, visited=30, duplicates=30), site=Counts(known=300, visited=200, fit=120, documents=150),
    reachable=120, links=900, steps=(2.0, 2.5), since=Counts(known=31, visited=12),
    note="would have refused 31, none of them useful",
)  # fmt: skip
HOSTILE = '/tag/<script>alert("x")</script>/'


@pytest.fixture
def fresh(crawled: Path) -> Iterator[ConsoleUnderTest]:
    """A console whose crawl the test may change."""
    with small_console(crawled) as console:
        yield console


def alpha(console: ConsoleUnderTest) -> str:
    """The site as the crawl calls it."""
    db = console.folder.read()
    try:
        return next(site_of(record.url) for record in all_urls(db) if "alpha.test" in record.url)
    finally:
        db.close()


def change(console: ConsoleUnderTest, action: Any) -> Any:
    db = console.folder.open_database()
    try:
        return action(db)
    finally:
        db.close()


def tag_filter(site: str, state: str = SHADOW, pattern: str = "/tag/", evidence: Evidence = EVIDENCE) -> StoredFilter:
    return StoredFilter(site, "prefix", pattern, state, "yield", evidence, 1_700_000_000.0, 1_700_000_100.0)


def with_filter(console: ConsoleUnderTest, *stored: StoredFilter) -> None:
    change(console, lambda db: filters.save(db, stored))


def with_tags(console: ConsoleUnderTest, site: str, count: int = 3) -> list[str]:
    """URLs that wait and that the filter matches."""
    from gossamer.data.crawl_settings import settings_of_crawl

    every = (f"http://{site}/tag/word{number}" for number in itertools.count())
    urls = list(itertools.islice((url for url in every if not is_probe(url, FilterConfig().probe)), count))
    frontier = open_frontier(console.folder, settings_of_crawl(console.data))
    frontier.add([Discovered(url) for url in urls], 1_700_000_000.0)
    frontier.db.close()
    return urls


def show(console: ConsoleUnderTest, client: httpx.Client | None = None, **query: str) -> str:
    response = (client or console.operator).get("/console/filters", params=query)
    assert response.status_code == 200, response.text
    return html.unescape(re.sub(r"\s+", " ", response.text))


def state_of(db: Database, site: str) -> list[str]:
    return [row.state for row in filters.list_filters(db, site)]


def test_a_crawl_without_filters_says_so(console: ConsoleUnderTest) -> None:
    assert "No automatic filters" in show(console)


def test_each_filter_is_told_with_evidence_and_trial_in_words(fresh: ConsoleUnderTest) -> None:
    site = alpha(fresh)
    with_filter(fresh, tag_filter(site))
    page = show(fresh)
    assert f"URLs that begin with /tag/ on {site}" not in page, "details come when they are asked for"
    assert "80 URLs known, none useful, while 120 of the site's 300 are" in page
    assert "would have refused 31, 0 of them useful" in page
    assert "During their trials, filters would have refused 31 URLs, 0 of them useful." in page


def test_the_details_tell_what_was_visited_and_that_nothing_useful_is_lost(fresh: ConsoleUnderTest) -> None:
    site = alpha(fresh)
    urls = with_tags(fresh, site)
    with_filter(fresh, tag_filter(site))
    page = show(fresh, site=site, kind="prefix", pattern="/tag/")
    assert "The crawl had visited 30 of 80 URLs: 0 were documents" in page
    assert "All 120 useful pages stay reachable without it (900 stored links checked)" in page
    for url in urls:
        assert f">{url}</a>" in page
    assert "/console/url?url=" in page


def test_a_filter_that_was_wrong_says_how_wrong(fresh: ConsoleUnderTest) -> None:
    site = alpha(fresh)
    wrong = Evidence(
        counts=Counts(known=40), since=Counts(known=10, visited=10, fit=2), note="2 of its URLs are useful"
    )
    with_filter(fresh, tag_filter(site, WITHDRAWN, evidence=wrong))
    page = show(fresh, site=site, kind="prefix", pattern="/tag/")
    assert "would have refused 10, 2 of them useful" in page
    assert "Reason for its state: 2 of its URLs are useful." in page


def test_switching_on_takes_urls_from_the_queue_and_off_brings_them_back(fresh: ConsoleUnderTest) -> None:
    site = alpha(fresh)
    urls = with_tags(fresh, site)
    with_filter(fresh, tag_filter(site))
    fields = {"site": site, "kind": "prefix", "pattern": "/tag/"}
    switched = fresh.send("/console/filters/on", fields)
    assert "switched on, 3 URLs left the queue" in html.unescape(switched.text)
    db = fresh.folder.read()
    assert state_of(db, site) == [ACTIVE]
    assert {find_url(db, url).state for url in urls} == {"refused"}
    page = show(fresh, **fields)
    assert "Refused URLs" in page
    assert all(f">{url}</a>" in page for url in urls)
    assert "Active filters refuse 3 known URLs" in page
    back = fresh.send("/console/filters/off", fields)
    assert "switched off, 3 URLs queued again" in html.unescape(back.text)
    assert state_of(db, site) == [OFF]
    assert {find_url(db, url).state for url in urls} == {"waiting"}
    lines = [(line.who, line.action, line.subject) for line in audit.entries(db)][:2]
    assert lines == [("operator", f"filter {word}", f"{site} prefix /tag/") for word in ("off", "on")]


def test_probes_tell_whether_a_filter_in_force_is_right(fresh: ConsoleUnderTest) -> None:
    site = alpha(fresh)
    every = Evidence(counts=Counts(known=5), ruled=False)
    with_filter(fresh, tag_filter(site, ACTIVE, "/p/", every))
    settings = fresh.data / "gossamer.toml"
    settings.write_text(settings.read_text() + "\n[filters]\nprobe = 1\n")
    page = show(fresh, site=site, kind="prefix", pattern="/p/")
    assert re.search(r"fetches one in 1 of its URLs as a probe. So far [1-9]\d* were useful", page)


def test_readers_see_everything_and_change_nothing(fresh: ConsoleUnderTest) -> None:
    site = alpha(fresh)
    with_filter(fresh, tag_filter(site))
    page = show(fresh, fresh.reader, site=site, kind="prefix", pattern="/tag/")
    assert "Evidence" in page
    assert "/console/filters/on" not in page
    refused = fresh.send(
        "/console/filters/on", {"site": site, "kind": "prefix", "pattern": "/tag/"}, client=fresh.reader
    )
    assert refused.status_code == 403
    assert state_of(fresh.folder.read(), site) == [SHADOW]


def test_what_pages_of_strangers_are_called_is_shown_and_does_nothing(fresh: ConsoleUnderTest) -> None:
    site = alpha(fresh)
    with_filter(fresh, tag_filter(site, pattern=HOSTILE))
    text = fresh.operator.get("/console/filters", params={"site": site, "kind": "prefix", "pattern": HOSTILE}).text
    assert "<script>alert" not in text
    assert html.escape(HOSTILE, quote=False) in text.replace("&#34;", '"')


@pytest.mark.parametrize("fields", [{}, {"site": "nowhere.test", "kind": "prefix", "pattern": "/"}, {"kind": "x"}])
def test_a_filter_that_is_not_there_cannot_be_switched(console: ConsoleUnderTest, fields: dict[str, str]) -> None:
    answer = console.send("/console/filters/on", fields)
    assert answer.status_code == 400
    assert "This filter no longer exists" in answer.text


def test_the_filters_of_the_settings_are_shown_beside_them(fresh: ConsoleUnderTest) -> None:
    settings = fresh.data / "gossamer.toml"
    own = 'kind = "prefix"\naction = "deny"\npattern = "http://alpha.test/private/"\nname = "private"'
    settings.write_text(settings.read_text() + f"\n[[scope.filters]]\n{own}\n")
    page = show(fresh)
    assert "http://alpha.test/private/" in page
    assert ">deny<" in page


@pytest.mark.parametrize("query", [{"page": "-1"}, {"page": "99999999999999999999"}, {"page": "x"}, {"site": "\0"}])
def test_strange_addresses_show_a_page_all_the_same(console: ConsoleUnderTest, query: dict[str, str]) -> None:
    assert console.operator.get("/console/filters", params=query).status_code == 200
