"""Recording a crawl: what the recorded web says is what the servers served."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np
import pytest
from crawl_kit import crawl, unmerged
from inside import gossamer
from time_kit import DAY, crawl_later, later

from gossamer.data.folder import DataFolder
from gossamer.dedup.near.registry import DEFAULT, near_method
from gossamer.errors import UsageError
from gossamer.lab.webs.recorder import record
from gossamer.lab.webs.web import NO_RULES, NOWHERE, RecordedWeb
from gossamer.testing import FakeWeb, Reply, Site
from gossamer.upkeep import compacting, due
from kit.postgres import PostgresServer

WEEKS = 30 * DAY
PUBLISHED = float(int(time.time() + 20 * DAY))
ROBOTS = "User-agent: *\nDisallow: /private/\n"
LONG = " ".join(f"sentence number {n} says something about the subject that no other page tells." for n in range(40))


def prose(name: str) -> str:
    return f"The page about {name}. " + " ".join(f"The {n} thing about {name}." for n in ("first", "second", "third"))


def html(name: str, *links: str, head: str = "", text: str = "") -> str:
    anchors = "".join("<p>" + (link if link[0] == "<" else f'<a href="{link}">{link}</a>') for link in links)
    return (
        f"<html><head><title>{name}</title>{head}</head>"
        f"<body><main><article><p>{text or prose(name)}</article></main>{anchors}</body></html>"
    )


def rss(site: Site, *paths: str, dated: dict[str, float] | None = None) -> Reply:
    """A feed of undated entries and of some with their time of publication."""
    items = [(path, "") for path in paths]
    for path, at in (dated or {}).items():
        items.append((path, f"<pubDate>{format_datetime(datetime.fromtimestamp(at, UTC), usegmt=True)}</pubDate>"))
    rows = "".join(f"<item><title>News</title><link>{site.url(path)}</link>{date}</item>" for path, date in items)
    text = f'<?xml version="1.0"?><rss version="2.0"><channel><title>The paper</title>{rows}</channel></rss>'
    return Reply(text, content_type="application/rss+xml")


def serve(site: Site) -> None:
    feed = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'
    links = ("/b", "/a", "/b", '<a rel="nofollow" href="/a">again</a>', '<a rel="nofollow" href="/ad">an ad</a>')
    more = ("/copy", "/old", "/hidden", "/print", "/nowhere", "/private/x", "/changing", "http://elsewhere.test/")
    site.robots(ROBOTS)
    site.page("/", html("start", *links, *more, head=feed))
    site.page("/a", html("a", "/b", text=LONG), compress=False)
    site.page("/b", html("b", "/a"))
    site.page("/copy", html("b", "/a"))
    site.redirect("/old", "/b")
    site.page("/hidden", html("hidden", head='<meta name="robots" content="noindex">'))
    site.page("/print", html("print", head=f'<link rel="canonical" href="{site.url("/a")}">'))
    site.page("/changing", html("changing"))
    site.reply("/feed.xml", rss(site, "/listed", "/b"))
    site.page("/listed", html("listed"))


class Recorded(NamedTuple):
    site: Site
    data: Path
    first: RecordedWeb
    """After the first crawl."""
    web: RecordedWeb
    """After the second one, weeks later."""
    began: float

    def row(self, path: str) -> int:
        return self.web.number[self.site.url(path)]

    def links(self, path: str) -> list[str]:
        return [self.web.urls[row].removeprefix(self.site.url("/")[:-1]) for row in self.web.links.of(self.row(path))]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    data = tmp_path_factory.mktemp("recorded") / "data"
    web = FakeWeb("127.0.99")
    site = web.site("paper.test")
    serve(site)
    rules = data.parent / "rules.toml"
    rules.write_text('[[rule]]\ndomain = "paper.test"\nurls = ["/{slug}"]\nnot_urls = ["/copy"]\n')
    began = time.time()
    with web:
        with unmerged(data):
            crawl(web, data, [site.url("/")], crawl={"workers": 1})
        first = record(DataFolder(data))
        assert gossamer("rules", "import", str(rules), data=data).code == 0
        site.page("/changing", html("changing", "/late", text=prose("something quite different")))
        site.reply("/feed.xml", rss(site, "/listed", "/b", "/undated", dated={"/news": PUBLISHED}))
        for name in ("late", "news", "undated"):
            site.page(f"/{name}", html(name))
        with later(WEEKS), unmerged(data):
            crawl_later(data, WEEKS)
        yield Recorded(site, data, first, record(DataFolder(data), "paper"), began)


def test_every_url_answers_as_its_server_did(recorded: Recorded) -> None:
    answers = {
        "/": ("document", 200), "/a": ("document", 200), "/copy": ("document", 200), "/hidden": ("document", 200),
        "/print": ("document", 200), "/old": ("redirect", 301), "/nowhere": ("gone", 404), "/private/x": ("", 0),
        "/feed.xml": ("resource", 200),
    }  # fmt: skip
    web = recorded.web
    found = {path: (web.answer[recorded.row(path)], int(web.status[recorded.row(path)])) for path in answers}
    assert found == answers


def test_links_are_the_followed_ones_of_the_crawl_in_the_order_of_the_page(recorded: Recorded) -> None:
    paths = ["/b", "/a", "/copy", "/old", "/hidden", "/print", "/nowhere", "/private/x", "/changing"]
    assert recorded.links("/") == paths
    assert recorded.links("/a") == ["/b"]
    assert recorded.links("/copy") == ["/a"]
    assert recorded.links("/listed") == []


def test_a_feed_lists_what_was_found_there_and_a_page_names_its_feed(recorded: Recorded) -> None:
    assert recorded.web.kind[recorded.row("/feed.xml")] == 2
    assert recorded.links("/feed.xml") == ["/undated", "/news", "/listed"]  # the newest first
    assert recorded.web.feeds.of(recorded.row("/")).tolist() == [recorded.row("/feed.xml")]


def test_pages_lead_where_they_said(recorded: Recorded) -> None:
    web = recorded.web
    assert web.redirect[recorded.row("/old")] == recorded.row("/b")
    assert web.canonical[recorded.row("/print")] == recorded.row("/a")
    assert (web.redirect != NOWHERE).sum() == (web.canonical != NOWHERE).sum() == 1
    assert np.flatnonzero(web.noindex).tolist() == [recorded.row("/hidden")]


def test_a_copy_has_the_hash_of_its_original_and_sizes_are_real(recorded: Recorded) -> None:
    web = recorded.web
    texts = {path: web.text_hash[recorded.row(path)] for path in ("/a", "/b", "/copy")}
    assert texts["/copy"] == texts["/b"] != texts["/a"]
    assert all(texts.values())
    size = len(html("a", "/b", text=LONG).encode())
    assert web.size[recorded.row("/a")] == size
    assert 0 < web.duration[recorded.row("/a")] < 60
    assert web.media_type[recorded.row("/a")] == "text/html"


def test_fingerprints_are_those_of_the_default_method(recorded: Recorded) -> None:
    page = gossamer("export", "pages", data=recorded.data).out
    assert LONG[:60] in page
    long = recorded.web.fingerprint[recorded.row("/a")]
    assert long
    assert long == near_method(DEFAULT).fingerprint(LONG)


def test_changes_are_when_visits_brought_another_text(recorded: Recorded) -> None:
    web = recorded.web
    (changed,) = web.changes.of(recorded.row("/changing"))
    assert recorded.began + WEEKS / 2 <= changed <= time.time() + WEEKS / 2, "half-way between the visits"
    assert web.changes.counts.sum() == 1
    assert web.version(recorded.row("/changing"), changed - 1) == 0
    assert web.version(recorded.row("/changing"), changed) == 1
    assert web.facts.started_at < recorded.began + DAY < changed <= web.facts.ended_at


def test_only_what_appeared_on_a_known_page_or_feed_was_born_later(recorded: Recorded) -> None:
    web = recorded.web
    assert recorded.began + WEEKS <= web.born[recorded.row("/late")] <= time.time() + WEEKS
    assert abs(web.born[recorded.row("/undated")] - web.born[recorded.row("/late")]) < DAY
    assert web.born[recorded.row("/news")] == PUBLISHED
    assert np.isfinite(web.born).sum() == 3


def test_robots_seeds_addresses_and_rules_come_along(recorded: Recorded) -> None:
    facts = recorded.web.facts
    site = recorded.site
    assert facts.name == "paper"
    assert facts.robots == {site.url("/")[:-1]: ROBOTS.encode()}
    assert [recorded.web.urls[row] for row in facts.seeds] == [site.url("/")]
    assert list(facts.addresses.values()) == [site.ip]
    assert [rule.domain for rule in facts.rules] == ["paper.test"]
    fits = {path: int(recorded.web.fit[recorded.row(path)]) for path in ("/a", "/copy", "/")}
    assert fits == {"/a": 1, "/copy": 0, "/": 0}
    assert set(recorded.first.fit.tolist()) == {NO_RULES}


def test_a_server_that_sends_validators_is_known_to_answer_304(recorded: Recorded) -> None:
    web = recorded.web
    assert web.validates[recorded.row("/a")]
    assert not web.validates[recorded.row("/nowhere")]


def test_a_recording_is_the_same_after_segments_were_merged(recorded: Recorded) -> None:
    folder = DataFolder(recorded.data)
    db = folder.open_database()
    with mock.patch.object(due, "plan", lambda sizes: [list(sizes)]):
        assert compacting.compact_once(db, folder.segments, time.time(), set()) > 1
    db.close()
    again = record(folder, "paper")
    for column in ("urls", "answer", "text_hash", "fingerprint", "page_type", "media_type"):
        assert getattr(again, column) == getattr(recorded.web, column)
    for column in ("status", "size", "redirect", "canonical", "born", "validates", "noindex"):
        assert np.array_equal(getattr(again, column), getattr(recorded.web, column))
    for column in ("links", "feeds", "changes"):
        assert getattr(again, column).is_same_as(getattr(recorded.web, column))


def test_a_crawl_on_a_database_server_is_recorded_alike(tmp_path: Path) -> None:
    server, web = PostgresServer(), FakeWeb("127.0.100")
    try:
        site = web.site("paper.test")
        serve(site)
        with web:
            for name, places in (
                ("alone", ()),
                ("shared", ("--database", server.database(), "--segments", str(tmp_path / "segments"))),
            ):
                crawl(web, tmp_path / name, [site.url("/")], *places, crawl={"workers": 1})
        alone, shared = record(DataFolder(tmp_path / "alone")), record(DataFolder(tmp_path / "shared"))
    finally:
        server.stop()
    assert links_by_url(shared) == links_by_url(alone)
    assert dict(zip(shared.urls, shared.answer, strict=True)) == dict(zip(alone.urls, alone.answer, strict=True))
    assert shared.facts.robots == alone.facts.robots
    assert shared.facts.addresses == alone.facts.addresses


def links_by_url(web: RecordedWeb) -> dict[str, list[str]]:
    return {url: [web.urls[target] for target in web.links.of(row)] for row, url in enumerate(web.urls)}


def test_a_folder_without_a_crawl_is_an_error_of_the_command(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        record(DataFolder(tmp_path))


def test_a_crawl_that_has_fetched_nothing_makes_an_empty_web(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.create()
    folder.open_database().close()
    web = record(folder)
    assert len(web) == 0
    assert web.facts.seeds == []
