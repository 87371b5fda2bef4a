"""Feeds over the days of a crawl: found, read first, polled when due, and their news searched soon after."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from crawl_kit import crawl, run
from inside import gossamer
from table_kit import problems
from time_kit import DAY, crawl_later, gossamer_later

from gossamer.testing import Ask, FakeWeb, Reply, Site

ITEMS = 5
LINKED = 40
HUB = "http://hub.test/push"
QUIET = 120.0
"""Seconds between a publication and our poll."""


def prose(name: str) -> str:
    return " ".join(f"The page about {name} tells the {n} thing about {name}." for n in ("first", "second", "third"))


def page(name: str, *links: str, feeds: Sequence[tuple[str, str]] = ()) -> Reply:
    heads = "".join(f'<link rel="alternate" type="{kind}" href="{href}">' for href, kind in feeds)
    anchors = "".join(f'<p><a href="{link}">on to {link}</a>' for link in links)
    body = f"<html><head><title>{name}</title>{heads}</head><body><main><p>{prose(name)}</main>{anchors}</body></html>"
    return Reply(body)


def rss(items: Sequence[tuple[str, float]], more: str = "") -> Reply:
    rows = "".join(
        f"<item><title>News</title><link>{url}</link><guid>{url}</guid>"
        f"<pubDate>{format_datetime(datetime.fromtimestamp(at, UTC), usegmt=True)}</pubDate></item>"
        for url, at in items
    )
    text = (
        '<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>'
        f"<title>The paper</title>{more}{rows}</channel></rss>"
    )
    return Reply(text, content_type="application/rss+xml")


class Server:
    """Answers with what `pages` says, and remembers what it was asked."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.pages: dict[str, Reply] = {}
        self.asks: list[Ask] = []
        site.handler("/", self)

    def __call__(self, ask: Ask) -> Reply:
        self.asks.append(ask)
        return self.pages.get(ask.target, Reply("", 404))

    def asked(self, path: str) -> list[Ask]:
        return [ask for ask in self.asks if ask.target == path]

    @property
    def paths(self) -> list[str]:
        return [ask.target for ask in self.asks]


def paper(server: Server, now: float) -> None:
    """A start page that names a feed and one of comments; pages that name feeds of their own comments."""
    url = server.site.url
    linked = [f"/linked/{n}" for n in range(LINKED)]
    kind = "application/rss+xml"
    server.pages["/"] = page("paper", "/feed.xml", *linked, feeds=[("/feed.xml", kind), ("/comments/feed/", kind)])
    for path in linked:
        server.pages[path] = page(path, feeds=[(f"{path}/feed", kind)])
        server.pages[f"{path}/feed"] = rss([(url(f"{path}/remark"), now)])
    server.pages["/comments/feed/"] = rss([(url("/linked/1/remark"), now)])
    for n in range(ITEMS + 1):
        server.pages[f"/news/{n}"] = page(f"news number{n}")
    server.pages["/feed.xml"] = the_feed(server, [(n, now - (ITEMS - n) * DAY) for n in range(ITEMS)])


def the_feed(server: Server, items: Sequence[tuple[int, float]]) -> Reply:
    url = server.site.url
    links = f'<atom:link rel="hub" href="{HUB}"/><atom:link rel="self" href="{url("/feed.xml")}"/>'
    return rss([(url(f"/news/{n}"), at) for n, at in items], links)


def sources(data: Path, ahead: float = 0.0) -> dict[str, dict[str, Any]]:
    done = gossamer_later("feeds", "--json", data=data, seconds=ahead)
    return {source["url"]: source for source in done.json}


class Followed(NamedTuple):
    """A paper that was crawled, polled with a new item, and polled without one."""

    data: Path
    server: Server
    first: list[str]
    """Paths of the first crawl."""
    too_early: list[str]
    """Paths of a crawl before anything was due."""
    states: list[dict[str, Any]]
    """The feed after each of the three polls."""
    took: float
    """Seconds that the second poll and all that followed from it took at most."""
    status: dict[str, Any]
    """After the second poll."""
    started: float


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Followed]:
    data = tmp_path_factory.mktemp("feed") / "data"
    web = FakeWeb("127.0.65")
    server = Server(web.site("paper.test"))
    started = time.time()
    paper(server, started)
    feed = server.site.url("/feed.xml")
    sections: dict[str, dict[str, Any]] = {
        "crawl": {"index": True, "workers": 1, "commit_seconds": 0.05},
        "politeness": {"delay": 0.02},
        "budget": {"per_site": 2},
    }
    with web:
        crawl(web, data, [server.site.url("/")], **sections)
        first = list(server.paths)
        states = [sources(data)[feed]]
        assert run("crawl", "--quiet", data=data).returncode == 0
        too_early = server.paths[len(first) :]
        ahead = states[0]["next_at"] - started + 5.0
        items = [(n, started - (ITEMS - n) * DAY) for n in range(ITEMS)]
        published = time.time() + ahead - QUIET
        server.pages["/feed.xml"] = the_feed(server, [*items, (ITEMS, published)])
        crawl_later(data, ahead)
        took = time.time() + ahead - QUIET - published
        states.append(sources(data)[feed])
        status = gossamer_later("status", "--json", data=data, seconds=ahead).json
        crawl_later(data, states[1]["next_at"] - started + 5.0)
        states.append(sources(data)[feed])
    yield Followed(data, server, first, too_early, states, took, status, started)


def test_the_items_of_a_feed_come_before_what_links_lead_to(followed: Followed) -> None:
    order = followed.first
    last_item = max(order.index(f"/news/{n}") for n in range(ITEMS))
    before = [path for path in order[:last_item] if path.startswith("/linked/")]
    assert len(before) < LINKED / 2
    assert {f"/linked/{n}" for n in range(LINKED)} <= set(order)


def test_a_feed_that_is_linked_to_as_well_is_a_feed_from_the_start(followed: Followed) -> None:
    told = gossamer("explain", followed.server.site.url("/feed.xml"), "--json", data=followed.data).json["factors"]
    assert (told["record"]["kind"], told["record"]["level"]) == ("feed", 0)
    assert [one["sentence"] for one in told["priority"]] == ["a feed is fetched first"]


def test_the_tables_fit_together(followed: Followed) -> None:
    assert problems(followed.data) == []


def test_feeds_of_comments_are_not_followed(followed: Followed) -> None:
    asked = set(followed.server.paths)
    assert "/comments/feed/" not in asked
    assert not [path for path in asked if path.endswith(("/feed", "/remark"))]


def test_a_feed_is_not_asked_before_its_time(followed: Followed) -> None:
    assert followed.too_early == []


def test_a_feed_is_polled_with_a_conditional_request(followed: Followed) -> None:
    first, *others = followed.server.asked("/feed.xml")
    assert "if-none-match" not in first.headers
    assert len(others) == 2
    assert all(ask.headers["if-none-match"].startswith('W/"') for ask in others)
    assert others[0].headers["if-none-match"] != others[1].headers["if-none-match"]


def test_a_new_item_is_fetched_once_and_can_be_searched(followed: Followed) -> None:
    assert len(followed.server.asked(f"/news/{ITEMS}")) >= 1
    found = gossamer("search", f"number{ITEMS}", "--json", data=followed.data).json
    assert [hit["url"] for hit in found["hits"]] == [followed.server.site.url(f"/news/{ITEMS}")]


def test_the_delay_from_publication_to_search_is_measured_for_news_only(followed: Followed) -> None:
    news = followed.status["news"]
    assert news["documents"] == 1
    # A feed tells seconds, and delays are counted in classes of which the longest is told.
    assert QUIET <= news["median"] == news["p95"] <= 2**0.25 * (QUIET + followed.took + 1.0)
    assert sum(news["by_delay"].values()) == 1


def test_feeds_tells_what_each_brought_and_when_it_is_asked_next(followed: Followed) -> None:
    first, second, third = followed.states
    assert [state["polls"] for state in followed.states] == [1, 2, 3]
    assert [state["found"] for state in followed.states] == [ITEMS, ITEMS + 1, ITEMS + 1]
    assert second["hits"] == first["hits"] + 1 == third["hits"]
    assert first["next_at"] > followed.started
    assert first["polled_at"] < second["polled_at"] < third["polled_at"] < third["next_at"]
    assert all(state["kind"] == "feed" and not state["retired"] for state in followed.states)


def test_feeds_of_one_site_are_shown_for_people(followed: Followed) -> None:
    shown = gossamer("feeds", followed.server.site.url("/"), data=followed.data).out
    assert f"{ITEMS + 1} URLs in " in shown and " of 3 polls" in shown and "push wanted" in shown


def test_the_hub_that_a_feed_names_is_to_be_asked(followed: Followed) -> None:
    assert followed.states[0]["push"] == "wanted"


class Odd(NamedTuple):
    data: Path
    server: Server
    seeded: Server
    status: dict[str, Any]

    def record(self, path: str) -> dict[str, Any]:
        told = gossamer("explain", self.server.site.url(path), "--json", data=self.data).json
        return dict(told["factors"]["record"])


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Odd]:
    """A site whose feeds are odd, and one that is entered by its feed."""
    data = tmp_path_factory.mktemp("odd") / "data"
    web = FakeWeb("127.0.66")
    server, seeded = Server(web.site("odd.test")), Server(web.site("seeded.test"))
    url, kind = server.site.url, "application/rss+xml"
    feeds = [(path, kind) for path in ("/html", "/garbage.xml", "/long.xml", "/huge.xml", "/cut.xml", "/none.xml")]
    server.pages["/"] = page(
        "odd",
        "/doc",
        feeds=[
            *feeds,
            ("/feed.json", "application/feed+json"),
            ("/old-feed", kind),
            ("/plain.json", "application/feed+json"),
        ],
    )
    server.pages["/doc"] = page("doc")
    server.pages["/html"] = page("this is no feed", "/from-html")
    server.pages["/garbage.xml"] = Reply(bytes(range(256)) * 20, content_type=kind)
    many = [("http://elsewhere.test/", 0.0)] * 10_000
    server.pages["/long.xml"] = rss([(url("/early"), 0.0), *many, (url("/late"), 0.0)])
    server.pages["/huge.xml"] = rss([(url("/in-huge"), 0.0)], f"<!--{'x' * 3_000_000}-->")
    whole = rss([(url("/in-cut"), 0.0), (url("/lost"), 0.0)]).body
    server.pages["/cut.xml"] = Reply(whole[: whole.index(b"</item>") + 20], content_type=kind)
    json = f'{{"version": "https://jsonfeed.org/version/1.1", "items": [{{"id": "1", "url": "{url("/in-json")}"}}]}}'
    server.pages["/feed.json"] = Reply(json, content_type="application/feed+json")
    server.pages["/plain.json"] = Reply(json.replace("/in-json", "/in-plain"), content_type="application/json")
    server.pages["/old-feed"] = Reply(b"", 301, [("Location", "/moved/feed")])
    server.pages["/moved/feed"] = rss([(url("/in-moved"), 0.0)])
    for path in ("/in-plain", "/in-moved", "/early", "/late", "/in-huge", "/in-cut", "/in-json", "/from-html"):
        server.pages[path] = page(path)
    atom = (
        '<feed xmlns="http://www.w3.org/2005/Atom"><title>S</title>'
        '<entry><title>A</title><link href="/a"/><id>1</id></entry><entry><link href="b"/><id>2</id></entry></feed>'
    )
    seeded.pages["/news/feed.atom"] = Reply(atom, content_type="application/atom+xml")
    seeded.pages["/a"], seeded.pages["/news/b"] = page("a", "/news/b"), page("b")
    with web:
        seeds = [url("/"), seeded.site.url("/news/feed.atom")]
        limits: dict[str, Any] = {"max_bytes": 2_000_000, "max_decoded": 2_000_000}
        status = crawl(web, data, seeds, fetch=limits)
        yield Odd(data, server, seeded, status)


def test_a_feed_that_is_a_page_is_an_error_for_itself_only(odd: Odd) -> None:
    told = odd.record("/html")
    assert told["outcome"] == "parse_failed"
    assert "not a feed" in told["reason"]
    assert "/from-html" not in odd.server.paths


def test_a_feed_of_garbage_is_an_error_for_itself_only(odd: Odd) -> None:
    told = odd.record("/garbage.xml")
    assert told["outcome"] == "parse_failed" and told["reason"]
    assert odd.record("/doc")["outcome"] == "document"


def test_a_feed_that_does_not_exist_harms_nothing(odd: Odd) -> None:
    assert odd.record("/none.xml")["status"] == 404


def test_of_a_feed_without_end_the_first_items_count(odd: Odd) -> None:
    assert odd.record("/long.xml")["outcome"] == "resource"
    assert "/early" in odd.server.paths and "/late" not in odd.server.paths


def test_a_feed_larger_than_any_page_may_be_is_not_read(odd: Odd) -> None:
    assert odd.record("/huge.xml")["outcome"] in ("too_large", "bomb")
    assert "/in-huge" not in odd.server.paths


def test_of_a_feed_that_was_cut_off_the_rest_counts(odd: Odd) -> None:
    assert "/in-cut" in odd.server.paths and "/lost" not in odd.server.paths


def test_json_feeds_are_feeds(odd: Odd) -> None:
    assert "/in-json" in odd.server.paths


def test_a_json_feed_is_read_whatever_kind_of_json_its_server_calls_it(odd: Odd) -> None:
    assert "/in-plain" in odd.server.paths


def test_a_feed_that_moved_is_polled_where_it_is_now(odd: Odd) -> None:
    assert "/in-moved" in odd.server.paths
    found = sources(odd.data)
    assert odd.server.site.url("/moved/feed") in found and odd.server.site.url("/old-feed") not in found
    assert odd.record("/moved/feed")["kind"] == "feed"


def test_a_feed_can_be_a_seed(odd: Odd) -> None:
    assert {"/a", "/news/b"} <= set(odd.seeded.paths)
    found = sources(odd.data)[odd.seeded.site.url("/news/feed.atom")]
    assert (found["kind"], found["found"]) == ("feed", 2)


def test_failed_feeds_are_asked_again_within_a_day(odd: Odd) -> None:
    for path in ("/html", "/garbage.xml", "/none.xml"):
        record = odd.record(path)
        assert 0 < record["due_at"] - record["fetched_at"] <= DAY + 60
