"""S2.7: what is taken down leaves everything within seconds, and nothing brings it back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from crawl_kit import PATIENCE, crawl, exported, run, settings_of, start, wait_until, write_settings
from index_kit import contents
from inside import fails, gossamer

from gossamer.alerts.gathering import decoded, encoded
from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.data.locks import merging_lock
from gossamer.data.machine import MERGER, THINNER
from gossamer.data.opening import open_frontier
from gossamer.data.raw_pages import StoredPage, html_of, newest_html
from gossamer.errors import UsageError
from gossamer.frontier.steering import removals
from gossamer.frontier.views.inspect import segment_ids
from gossamer.index.folder import IndexFolder
from gossamer.model.records import Discovered
from gossamer.notify.message import Message, item
from gossamer.operate.takedown import covering, take_down, take_down_within
from gossamer.parse.limits import ParseLimits
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher
from gossamer.serving.stories import StoredStories
from gossamer.settings import Settings
from gossamer.store.compaction import compact
from gossamer.store.layout import new_segment_id
from gossamer.store.segments import iter_pages, open_links
from gossamer.tables import audit, holds, outbox
from gossamer.testing import FakeWeb, Site

SECRET = "unmentionable"
"""A word that stands only on the pages that are taken down."""


def prose(*names: str) -> str:
    return " ".join(f"This page tells the {n} thing about {' '.join(names)}." for n in ("first", "second", "third"))


def html(title: str, text: str, head: str = "", tail: str = "") -> str:
    return f"<html><head><title>{title}</title>{head}</head><body><main><p>{text}</p></main>{tail}</body></html>"


def describe(site: Site) -> None:
    """Links, a sitemap, a feed, a redirect and a canonical link lead to the pages under /secret/."""
    links = '<a href="/secret/1">one</a><a href="/secret/2">two</a><a href="/open">open</a><a href="/way">way</a>'
    links += '<a href="/near">near</a><a href="/names">names</a><a href="/news.xml">news</a>'
    feed = '<link rel="alternate" type="application/rss+xml" href="/news.xml">'
    site.page("/", html("Home", prose("home"), feed, links))
    for n in (1, 2):
        telling = '<a href="/open">a tell-tale label</a>' if n == 1 else ""
        site.page(f"/secret/{n}", html(f"Secret {SECRET} {n}", prose(SECRET, f"number{n}"), tail=telling))
    site.page("/secret/new", html("New", prose("novelty")))  # no link leads there
    site.page("/open", html("Open", prose("openness")))
    site.redirect("/way", "/secret/1")
    site.page("/names", html("Names", prose("naming"), f'<link rel="canonical" href="{site.url("/secret/2")}">'))
    item = f"<item><title>News</title><link>{site.url('/secret/1')}</link></item>"
    site.page("/news.xml", f'<?xml version="1.0"?><rss version="2.0"><channel><title>N</title>{item}</channel></rss>')
    site.sitemap(["/secret/1", "/secret/2", "/open"])
    site.robots(f"User-agent: *\nAllow: /\nSitemap: {site.url('/sitemap.xml')}\n")


class Crawled(NamedTuple):
    data: Path
    web: FakeWeb
    site: Site
    removed: dict[str, int]

    def requests(self) -> int:
        """How often the pages that were taken down were asked for."""
        return sum("/secret/" in entry.path for entry in self.web.log())


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    data = tmp_path_factory.mktemp("takedown") / "data"
    web = FakeWeb("127.0.47")
    site = web.site("down.test")
    describe(site)
    with web:
        crawl(web, data, [site.url("/")], crawl={"index": True})
        assert SECRET in json.dumps(contents(data).pages)
        done = gossamer("remove", site.url("/secret/"), "--reason", "a court said so", "--json", data=data)
        assert done.code == 0, done.err
        yield Crawled(data, web, site, done.json)


def test_everything_known_of_the_prefix_leaves(crawled: Crawled) -> None:
    assert crawled.removed == {"removed": 2}


def test_the_index_lets_go_at_once_without_an_indexer(crawled: Crawled) -> None:
    now = contents(crawled.data)
    assert SECRET not in json.dumps(now.pages)
    assert crawled.site.url("/open") in now.pages
    searcher = Searcher(IndexFolder(crawled.data / "index"))
    assert searcher.search(Request(query=SECRET)).total == 0
    assert searcher.page(crawled.site.url("/secret/1")) is None
    assert not [one for one in searcher.suggest(SECRET[:6]) if SECRET in one.lower()]


def test_exports_show_nothing_of_it(crawled: Crawled) -> None:
    pages = exported("pages", crawled.data)
    assert SECRET not in json.dumps(pages)
    links = exported("links", crawled.data)
    assert links and not [link for link in links if "/secret/" in link["source"]]
    assert "tell-tale" not in json.dumps(links)


def test_histories_stories_and_raw_pages_show_nothing_of_it(crawled: Crawled) -> None:
    url = crawled.site.url("/secret/1")
    shown = gossamer("history", url, data=crawled.data)
    assert SECRET not in shown.out and "a court said so" in shown.out
    assert gossamer("history", url, "--json", data=crawled.data).json == []
    stories = StoredStories(DataFolder(crawled.data))
    assert stories.history(url) is None and stories.story(url) is None
    folder = DataFolder(crawled.data)
    with pytest.raises(UsageError, match="a court said so"):
        newest_html(folder, folder.read(), url, ParseLimits())


def test_the_graph_of_links_leaves_it_out(crawled: Crawled) -> None:
    done = gossamer("rank", "--json", data=crawled.data)
    assert done.code == 0, done.err
    for path in crawled.data.rglob("*.parquet"):
        if "segments" not in path.parts:
            assert b"tell-tale" not in path.read_bytes()
    assert "/secret/1" not in done.out


def test_the_audit_log_tells_who_did_it_and_why(crawled: Crawled) -> None:
    [line] = audit.entries(DataFolder(crawled.data).read(), audit.Filter(action="remove"))
    assert line.who.startswith("cli:")
    assert (line.subject, line.detail) == (crawled.site.url("/secret/"), "a court said so")


def test_the_list_names_it(crawled: Crawled) -> None:
    [one] = gossamer("remove", "--list", "--json", data=crawled.data).json
    assert (one["what"], one["reason"], one["unfinished"]) == (crawled.site.url("/secret/"), "a court said so", False)
    assert "a court said so" in gossamer("remove", "--list", data=crawled.data).out


def test_explain_says_that_it_was_taken_down(crawled: Crawled) -> None:
    for path in ("/secret/1", "/secret/never-seen"):
        answer = gossamer("explain", crawled.site.url(path), "--json", data=crawled.data).json
        verdict = answer["factors"]["verdict"]
        assert verdict.startswith("Readers cannot find this page: it was taken down: a court said so"), verdict


def test_nothing_brings_it_back(crawled: Crawled) -> None:
    """Seeds, links, sitemap, feed, redirect, canonical link, recrawl, restart, rebuild."""
    site, data, before = crawled.site, crawled.data, crawled.requests()
    assert gossamer("inject", site.url("/secret/1"), "--json", data=data).json["new"] == 0
    assert gossamer("inject", site.url("/secret/new"), "--json", data=data).json["new"] == 0
    assert gossamer("recrawl", site.url("/"), data=data).code == 0
    again = run("crawl", site.url("/secret/2"), "--quiet", data=data)
    assert again.returncode == 0, again.stderr
    assert crawled.requests() == before
    assert SECRET not in json.dumps(contents(data).pages)
    # A page that named a removed one as its canonical one stands for itself.
    assert site.url("/names") in contents(data).pages
    assert gossamer("index", "--rebuild", data=data).code == 0
    assert SECRET not in json.dumps(contents(data).pages)
    assert gossamer("status", "--json", data=data).json["urls_due"] == 0


def stored_of(data: Path, word: str) -> tuple[int, int, int]:
    """Stored rows, raw responses and links that have a word or stand on pages under /secret/."""
    folder = DataFolder(data)
    rows = raw = links = 0
    for segment in segment_ids(folder.read()):
        for page in (row for batch in iter_pages(folder.segments, [segment]) for row in batch.to_pylist()):
            rows += word in f"{page['title']} {page['text']}"
            place = (segment, page["warc_offset"], page["warc_length"])
            raw += word in (html_of(folder, StoredPage(page["url"], "", "", "", *place), ParseLimits()) or "")
        for table in open_links(folder.segments, segment).groups():
            links += sum("/secret/" in source for source in table.column("source").to_pylist())
    return rows, raw, links


def held_by_backups(data: Path, **since: float) -> None:
    """Backups that last held the segments at these times."""
    db = DataFolder(data).open_database()
    holds.forget_all(db)
    for name, at in since.items():
        with db.transaction():
            db.execute("INSERT INTO meta VALUES (?, ?)", (f"hold:{name}", repr(at + holds.LASTING)))
    db.close()


def test_erasing_leaves_no_byte_in_the_segments_and_loses_no_other_page(crawled: Crawled) -> None:
    data = crawled.data
    before = exported("pages", data)
    assert stored_of(data, SECRET) == (2, 2, 1)
    held_by_backups(data, running=SystemClock().now(), killed=1.0)
    fails(gossamer("remove", "--erase", data=data), 1, "a backup")
    assert set(DataFolder(data).segments.ids()) == set(segment_ids(DataFolder(data).read())), "nothing is left behind"
    held_by_backups(data, killed=1.0)
    merging_was_killed(data)
    done = gossamer("remove", "--erase", "--json", data=data)
    assert done.code == 0, done.err
    assert done.json["erased"] >= 2
    assert stored_of(data, SECRET) == (0, 0, 0)
    assert stored_of(data, "openness")[:2] == (1, 1)
    texts = [{page["url"]: page["text"] for page in pages} for pages in (before, exported("pages", data))]
    assert texts[0] == texts[1]
    assert gossamer("remove", "--erase", "--json", data=data).json["erased"] == 0
    folder = DataFolder(data)
    assert folder.segments.ids() == sorted(segment_ids(folder.read())), "no folder is left that holds them"
    assert folder.segments.unfinished() == []
    assert gossamer("index", "--rebuild", data=data).code == 0
    assert len(contents(data).pages) == len(before)


def merging_was_killed(data: Path) -> None:
    """On some machine, before what it wrote came to count, and while it wrote."""
    folder, now = DataFolder(data), SystemClock().now()
    compact(folder.segments, segment_ids(folder.read()), new_segment_id(f"{MERGER}-c0ffee", now, 0))
    (folder.segments.build(new_segment_id(THINNER, now, 1)) / "pages.parquet").write_text(SECRET)


def test_erasing_waits_for_who_merges_although_the_crawl_was_killed(crawled: Crawled) -> None:
    with merging_lock(DataFolder(crawled.data)):
        fails(gossamer("remove", "--erase", data=crawled.data), 1, "is already merging")


def test_undoing_it_fetches_the_pages_anew(crawled: Crawled) -> None:
    site, data = crawled.site, crawled.data
    fails(gossamer("remove", site.url("/secret/1"), "--undo", data=data), 2, site.url("/secret/"), "undo that")
    done = gossamer("remove", site.url("/secret/"), "--undo", "--json", data=data)
    assert done.json["queued"] >= 2, done
    assert gossamer("remove", "--list", "--json", data=data).json == []
    again = run("crawl", "--quiet", data=data)
    assert again.returncode == 0, again.stderr
    assert {site.url("/secret/1"), site.url("/secret/2")} <= contents(data).pages.keys()
    assert gossamer("history", site.url("/secret/1"), "--json", data=data).json[0]["text"]


def test_one_page_alone_can_be_taken_down(crawled: Crawled) -> None:
    """After the undoing above."""
    site, data = crawled.site, crawled.data
    done = gossamer("remove", site.url("/"), "--exact", "--json", data=data)
    assert done.json == {"removed": 1}
    pages = contents(data).pages
    assert site.url("/") not in pages and site.url("/open") in pages


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("https://a.org/x", "https://a.org/x"),
        ("HTTP://A.org", "http://a.org/"),
        ("a.org/x/", "//a.org/x/"),
        ("//a.org/x/", "//a.org/x/"),
        ("a.org", "a.org"),
        ("A.ORG/", "a.org"),
        ("//a.org/", "//a.org/"),
        ("https://a.org/p?id=1", "https://a.org/p?id=1"),
        ("a.org:8080", "//a.org:8080/"),
        ("=https://a.org/x", "=https://a.org/x"),
    ],
)
def test_what_is_typed_means_a_url_a_beginning_or_a_host(typed: str, meant: str) -> None:
    assert covering(typed, Settings()) == meant
    assert covering(meant, Settings()) == meant


@pytest.mark.parametrize(
    "typed",
    [
        "https://a.org/?utm_source=newsletter",
        "https://a.org/#about",
        "a.org/?",
        "https://a.org/p?id=1&utm_source=newsletter",
        "https://a.org/a;jsessionid=12",
        "https://a.org/a/../",
    ],
)
def test_a_page_that_is_typed_in_full_never_takes_others_with_it(typed: str) -> None:
    """Its canonical form is shorter, and more begins with that."""
    with pytest.raises(UsageError, match="for that page alone"):
        covering(typed, Settings())
    assert covering(f"={typed}", Settings()).startswith("=https://a.org/" if "//" in typed else "=http")


def test_a_site_goes_without_others_on_its_host(tmp_path: Path) -> None:
    """As the console removes it: with the address of the site, not with the name of the host."""
    out = removals.Covered([covering("//intranet.example/", Settings())])
    assert out("http://intranet.example/a") and out("https://intranet.example/")
    assert not out("http://intranet.example:8080/wiki")
    assert removals.Covered([covering("intranet.example", Settings())])("http://intranet.example:8080/wiki")


def test_a_removal_that_broke_off_is_carried_on_by_the_next(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    frontier = open_frontier(folder, Settings())
    frontier.add([Discovered(f"http://a.org/x/{n}") for n in range(5)], 1.0)
    with frontier.db.transaction():
        removals.enter(frontier.db, "http://a.org/x/", "first", 1.0)
    [one] = gossamer("remove", "--list", "--json", data=tmp_path).json
    assert one["unfinished"]
    assert gossamer("remove", "b.org", "--json", data=tmp_path).json == {"removed": 0}
    assert {row["state"] for row in exported("urls", tmp_path)} == {"removed"}
    assert not any(one["unfinished"] for one in gossamer("remove", "--list", "--json", data=tmp_path).json)
    frontier.db.close()


def test_messages_of_alerts_that_still_wait_tell_nothing_of_it(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    db = open_frontier(folder, Settings()).db
    told = {"both": ["http://a.org/1", "http://b.org/2"], "one": ["http://a.org/1"], "other": ["http://b.org/2"]}
    with db.transaction():
        for alert, urls in told.items():
            found = tuple(item(url, SECRET if "a.org" in url else "Open", "", "", 1.0) for url in urls)
            message = Message("hits", "t", "t", found, alert=alert)
            outbox.put(db, "mailto:ann@example.org", alert, encoded(message), 1.0, 61.0)
    take_down(folder, db, Settings(), "a.org", "a court said so", 2.0)
    left = {one.about: decoded(one.body) for one in outbox.list_messages(db)}
    assert {alert: [page.url for page in message.items] for alert, message in left.items()} == {
        "both": ["http://b.org/2"], "other": ["http://b.org/2"]
    }  # fmt: skip
    assert SECRET not in repr(left) and left["both"].more == 1
    db.close()


def test_who_cannot_wait_is_told_how_far_it_came(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    frontier = open_frontier(folder, Settings())
    frontier.add([Discovered(f"http://a.org/x/{n}") for n in range(5)], 1.0)
    done = take_down_within(folder, Settings(), "a.org", "spam", 2.0, 30.0)
    assert (done.urls, done.is_done) == (5, True)
    with pytest.raises(UsageError):
        take_down_within(folder, Settings(), "what is this", "spam", 2.0, 30.0)
    frontier.db.close()


def test_while_a_crawl_runs_it_leaves_within_seconds_and_stays_out(tmp_path: Path) -> None:
    data, web = tmp_path / "data", FakeWeb("127.0.48")
    site = web.site("busy.test")
    for n in range(2000):
        links = "".join(f'<a href="/{"secret" if m % 2 else "open"}/{m}">{m}</a>' for m in range(n * 3, n * 3 + 9))
        for kind in ("open", "secret"):
            site.page(f"/{kind}/{n}", html(f"{kind} {n}", prose(f"{kind}word", f"page{n}"), tail=links))
    site.page("/", html("Home", prose("home"), tail='<a href="/open/0">0</a><a href="/secret/1">1</a>'))
    with web:
        write_settings(data, settings_of(web, crawl={"index": True}, politeness={"delay": 0.02}))
        running = start("crawl", site.url("/"), "--quiet", data=data)
        try:
            wait_until(lambda: sum("/secret/" in entry.path for entry in web.log()) > 10)
            wait_until(lambda: IndexFolder(data / "index").current() is not None)
            clock = SystemClock()
            began = clock.now()
            assert gossamer("remove", "busy.test", "--undo", data=data).code == 2  # nothing to undo: nothing happens
            assert gossamer("remove", site.url("/secret/"), "--json", data=data).json["removed"] > 10
            wait_until(lambda: "secretword" not in json.dumps(contents(data).pages))
            assert clock.now() >= began
            fails(gossamer("remove", "--erase", data=data), 1, "stop it")
            asked = len(web.log())
            wait_until(lambda: len(web.log()) > asked + 50)
        finally:
            running.terminate()
            out, err = running.communicate(timeout=PATIENCE)
        assert running.returncode == 0, (out, err)
        log = [entry.path for entry in web.log()]
    assert "secretword" not in json.dumps(contents(data).pages)
    assert "secretword" not in json.dumps(exported("pages", data))
    waiting = [row for row in exported("urls", data) if "/secret/" in row["url"]]
    assert {row["state"] for row in waiting} <= {"removed", "refused"}
    # What was on its way when the order came may still have been asked for: no more than a few.
    last = max(place for place, path in enumerate(log) if "/secret/" in path)
    assert last < len(log) - 20
    assert re.search("openword", json.dumps(contents(data).pages))
