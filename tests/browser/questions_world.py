"""A crawl that leaves questions: four sites and a paper, some of them in trouble, with a day of history.

    with questions_world(folder) as world:      # a finished crawl; nothing is served yet
        world.urls["robots"]                    # a page that robots.txt forbids, and so on

The first crawl is a day old, so that the paper's feed has been watched since; what the feed announced later was
crawled just now. Everything was done with the command line; only the samples of the day between are written here,
because no test waits for a day.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any, NamedTuple

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import run, settings_of, write_settings
from inside import gossamer
from time_kit import DAY, HOUR, later

from gossamer.data.folder import DataFolder
from gossamer.frontier.views.inspect import all_urls
from gossamer.tables import delays, samples
from gossamer.testing import FakeWeb, Reply, Site

BEFORE = 30 * HOUR
"""How long ago the first crawl was."""
SLOW_CRAWL = 600.0
"""Seconds that a busy machine gets for a crawl."""
NEWS = 24
SLOW = 1
"""The item that comes too late for the goal."""
ITEMS, TAGS = 26, 150
RULES = '[[rule]]\ndomain = "shop.test"\nname = "item"\nurls = "/item/{id}"\n'
COMPLAINT = "The author withdrew it"
MAINTENANCE = "They asked us to wait until their move is done"


class World(NamedTuple):
    """A crawled data folder and what is in it."""

    data: Path
    urls: dict[str, str]
    """A page for each reason not to be found, by the reason."""
    names: dict[str, str]
    """The sites as the crawl calls them, by their host."""


@contextmanager
def questions_world(folder: Path) -> Iterator[World]:
    """Crawl it all."""
    data, web = folder / "data", FakeWeb("127.0.97")
    paper, shop = web.site("paper.test"), web.site("shop.test")
    broken, quiet = web.site("broken.test"), web.site("quiet.test", pages=5, links=3, seed=5)
    now = time.time()
    urls = describe_paper(paper, now) | describe_shop(shop) | describe_broken(broken)
    write_settings(data, settings_of(web, **settings(paper)))
    with web:
        with later(-BEFORE):
            must("crawl", paper.url(), shop.url(), broken.url(), "--quiet", "--pages", "75", data=data)
            must("rules", "import", "-", data=data, stdin=RULES)
            must("filters", "run", data=data)
        with later(HOUR - BEFORE):
            must("crawl", "--quiet", "--pages", "15", data=data)
        with later(-HOUR):
            must("filters", "run", data=data)
        paper.reply("/feed.xml", feed(paper, time.time()))
        must("recrawl", paper.url("/feed.xml"), data=data)
        must("inject", quiet.generated[0], data=data)
        must("pause", quiet.name, "--reason", MAINTENANCE, data=data)
        must("crawl", "--quiet", data=data)
        must("remove", urls["removed"], "--exact", "--reason", COMPLAINT, data=data)
        write_history(data)
        urls |= {"paused": quiet.generated[0], "filtered": a_refused_tag(data)}
        yield World(data, urls, {site.host: site.name for site in (paper, shop, broken, quiet)})


def settings(paper: Site) -> dict[str, dict[str, Any]]:
    """The operator's own filter, and filters made after a short trial."""
    own = {"kind": "prefix", "action": "deny", "pattern": paper.url("/print/"), "name": "no print versions"}
    return {
        "scope": {"filters": [own]},
        "filters": {"useful": 10, "known": 20, "shadow_urls": 500, "shadow": HOUR, "probe": 0, "every": 100_000.0},
        "crawl": {"index": True, "workers": 1, "commit_seconds": 0.05, "linger": 0.5},
        "revisit": {"policy": "none"},
    }


def must(*arguments: str, data: Path, stdin: str = "") -> None:
    """A verb that succeeds: crawls in a process of their own."""
    if arguments[0] == "crawl":
        done = run(*arguments, data=data, timeout=SLOW_CRAWL)
        assert done.returncode == 0, done.stderr
    else:
        told = gossamer(*arguments, data=data, stdin=stdin)
        assert told.code == 0, told


def prose(name: str) -> str:
    """Some sentences that no other page has."""
    return " ".join(f"This is the {n} thing that {name} tells about {name}." for n in ("first", "second", "third"))


def describe_paper(site: Site, now: float) -> dict[str, str]:
    """A paper with a feed, copies, and pages that nobody may fetch."""
    site.robots("User-agent: *\nDisallow: /members/\n")
    links = ["/members/area.html", "/print/spring.html", "/spring.html", "/copy.html", "/retracted.html"]
    anchors = "".join(f'<p><a href="{link}">{link}</a>' for link in links)
    site.page(
        "/", '<html><head><title>The paper</title><link rel="alternate" type="application/rss+xml" href="/feed.xml">'
        f"</head><body><main><p>{prose('the paper')}</main>{anchors}</body></html>",
    )  # fmt: skip
    site.page("/spring.html", prose("spring in the hills"), title="Spring in the hills")
    site.page("/copy.html", prose("spring in the hills"), title="Spring in the hills")
    site.page("/retracted.html", prose("a rumour"), title="A rumour")
    for n in range(NEWS):
        site.page(f"/news/{n}.html", prose(f"news number {n}"), title=f"News number {n}")
    site.reply("/feed.xml", feed(site, now - BEFORE - DAY, 1))
    return {
        "robots": site.url("/members/area.html"), "own filter": site.url("/print/spring.html"),
        "duplicate": site.url("/copy.html"), "original": site.url("/spring.html"),
        "removed": site.url("/retracted.html"), "never linked": site.url("/nobody-links-here.html"),
        "found": site.url("/news/3.html"),
    }  # fmt: skip


def feed(site: Site, now: float, items: int = NEWS) -> Reply:
    """The feed: its items are some minutes old, and one is too old for the goal."""
    ages = [2400.0 if n == SLOW else 60.0 + 25.0 * n for n in range(items)]
    rows = "".join(
        f"<item><title>News {n}</title><link>{site.url(f'/news/{n}.html')}</link>"
        f"<pubDate>{format_datetime(datetime.fromtimestamp(now - age, UTC), usegmt=True)}</pubDate></item>"
        for n, age in enumerate(ages)
    )
    text = f'<?xml version="1.0"?><rss version="2.0"><channel><title>The paper</title>{rows}</channel></rss>'
    return Reply(text, content_type="application/rss+xml")


def describe_shop(site: Site) -> dict[str, str]:
    """Items, and many pages of tags that lead to nothing new."""
    site.page("/", prose("the shop"), links=[f"/item/{n}" for n in range(ITEMS)])
    for n in range(ITEMS):
        tags = [f"/tag/word{(n * 5 + k) % TAGS}" for k in range(5)]
        site.page(f"/item/{n}", prose(f"item {n}"), links=["/", *tags])
    for n in range(TAGS):
        site.page(f"/tag/word{n}", prose(f"tag {n}"), links=[f"/item/{n % ITEMS}", f"/tag/word{(n + 7) % TAGS}"])
    return {}


def describe_broken(site: Site) -> dict[str, str]:
    """A start page whose links lead to errors."""
    kinds = {"/crash/": 500, "/gone/": 404}
    paths = [f"{prefix}{n}.html" for prefix in kinds for n in range(4)]
    site.page("/", prose("a broken place"), title="A broken place", links=paths)
    for path in paths:
        site.reply(path, Reply("<p>Sorry", next(code for prefix, code in kinds.items() if path.startswith(prefix))))
    return {"failed": site.url("/crash/1.html"), "gone": site.url("/gone/1.html")}


def a_refused_tag(data: Path) -> str:
    """A URL that an automatic filter keeps out."""
    db = DataFolder(data).read()
    try:
        return next(one.url for one in all_urls(db) if one.state == "refused" and "/tag/" in one.url)
    finally:
        db.close()


def write_history(data: Path) -> None:
    """A sample every ten minutes of the last day, which grow to what is there now; news came one by one."""
    db, now = DataFolder(data).open_database(), time.time()
    try:
        present = samples.newest(db)
        assert present is not None
        # The slowest came first, long ago.
        news = sorted((bucket for bucket, count in delays.histogram(db).items() for _ in range(count)), reverse=True)
        steps = 24 * 6
        for step in range(steps):
            share = 0.5 + 0.5 * step / steps
            so_far = news[: int(len(news) * step / steps)]
            moment = {
                "taken_at": now - DAY + step * 600, "pages": int(present.pages * share),
                "fetched": int(present.fetched * share), "errors": int(present.errors * share),
                "urls_known": int(present.urls_known * share), "urls_due": 40 - step // 6, "sites": present.sites,
                "sites_active": 2, "sites_waiting": 1, "disk_free": present.disk_free,
                "segment_bytes": int(present.segment_bytes * share), "fresh": 0.9 + 0.08 * share,
                "age": 3 * HOUR - HOUR * share, "delays": {bucket: so_far.count(bucket) for bucket in set(so_far)},
            }  # fmt: skip
            samples.note(db, samples.Figures(**moment))
    finally:
        db.close()
