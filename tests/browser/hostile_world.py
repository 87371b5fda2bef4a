"""A crawl of pages that want to run in the reader's browser, and an operator's database full of the same.

Titles, texts, addresses, anchors, authors, categories, feeds, robots.txt and headers are crawled with the command line.
What comes from elsewhere (reasons, names, queries, messages, what a run said) is put in by the functions that the
product itself uses. Everything that runs sets `window.__xss`; everything that is evaluated makes `EVALUATED`.
"""

from __future__ import annotations

import html
import sys
import time
from pathlib import Path
from typing import NamedTuple

import msgspec

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import run, settings_of, write_settings
from inside import gossamer

from gossamer.alerts.gathering import encoded
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.data.machine import machine_name
from gossamer.data.opening import open_frontier
from gossamer.database.database import Database
from gossamer.frontier import subscriptions
from gossamer.frontier.steering import controls, filters
from gossamer.frontier.steering.filters import ACTIVE, OFF, PROPOSED, SHADOW, WITHDRAWN, StoredFilter
from gossamer.frontier.views.inspect import all_urls
from gossamer.model.site import key64
from gossamer.notify.message import Item, Message
from gossamer.operate import desk
from gossamer.parse.rules import DocumentRule
from gossamer.scope.automatic import Evidence
from gossamer.scope.statistics import Counts
from gossamer.search.desk.rules import BestBet, Collection, Desk, Synonym
from gossamer.search.results import Request
from gossamer.tables import alarms, alerts, asked, audit, evaluations, outbox, rulebook, schedules
from gossamer.tables.alarms import Sign
from gossamer.tables.alerts import AlertHit
from gossamer.tables.evaluations import EvaluationResult, RankingResult, WorstQuery
from gossamer.tables.schedules import Run
from gossamer.testing import FakeWeb, Reply, Site

RUN = "window.__xss=1"
EVALUATED = str(7919 * 7919)
PAYLOADS = (
    f"<script>{RUN}</script>",
    f'"><img src=x onerror="{RUN}">',
    f"'><svg/onload={RUN}>",
    f"</title><svg onload={RUN}>",
    f"</textarea><script>{RUN}</script>",
    f'</script><script>{RUN}</script><script>"',
    f'" autofocus onfocus="{RUN}" onmouseover="{RUN}" x="',
    f"' autofocus onfocus='{RUN}' x='",
    f"javascript:{RUN}//",
    f"data:text/html,<script>{RUN}</script>",
    "{{7919*7919}} ${7919*7919} #{7919*7919} <%= 7919*7919 %> {% print(7919*7919) %}",
    "</style><style>*{background:url(http://evil.invalid/x)}</style>",
    f'"}}]}};{RUN};//',
    f"<!--><script>{RUN}</script>]]><script>{RUN}</script>-->",
    f'<iframe srcdoc="<script>parent.{RUN.removeprefix("window.")}</script>">',
    f'<base href=http://evil.invalid/><meta http-equiv=refresh content="0;url=javascript:{RUN}">',
    "<form action=http://evil.invalid/><button autofocus>Log in",
    f"&lt;script&gt;{RUN}&lt;/script&gt; &#60;script&#62; %3Cscript%3E{RUN}%3C/script%3E \\x3cscript\\x3e",
    f'<math><mi//xlink:href="javascript:{RUN}">click <a href=javascript:{RUN}>here</a>',
    "\u202egnitirw eht snrut\u202c \u2066and\u2069 \x1b[31mrings\x07\x1b[0m \u0085the bell",
)
ALL = " ".join(PAYLOADS)
SHORT = f"<b onclick={RUN}>{{{{7919*7919}}}}\u202e\"'><i>"
"""Many kinds at once, for fields that are short."""
SLOW_CRAWL = 600.0
"""Seconds that a busy machine gets for the crawl."""
TITLE = f"Gossamer {SHORT}".replace("\u202e", "")
"""What the operator of the server calls it."""


class Hostile(NamedTuple):
    """What was crawled."""

    data: Path
    site: str
    pages: list[str]
    """URLs of documents."""
    others: list[str]
    """URLs that are none: refused, failed, redirected, feeds."""
    alert: str
    """The id of an alert that found pages called `PAYLOADS[1]`."""


def hostile_world(folder: Path) -> Hostile:
    """Crawl it all, and fill the tables."""
    data, web = folder / "data", FakeWeb("127.0.89")
    evil, script = web.site("evil.test"), web.site("xn--e1afmkfd.xn--80akhbyknj4f")
    describe(evil)
    script.page("/", f"A name in another script. {ALL}", title=SHORT)
    own = {"kind": "prefix", "action": "deny", "pattern": evil.url(f"/no/{RUN}"), "name": SHORT.replace("\u202e", "")}
    write_settings(
        data,
        settings_of(
            web, crawl={"index": True, "workers": 1, "linger": 0.5}, scope={"filters": [own]},
            alerts={"sender": f"{PAYLOADS[0]} <a@b.test>"},
        ),
    )  # fmt: skip
    with web:
        done = run("crawl", evil.url("/"), script.url("/"), "--quiet", data=data, timeout=SLOW_CRAWL)
        assert done.returncode == 0, done.stderr
    removed = gossamer("remove", evil.url("/page/0.html"), "--exact", "--reason", ALL[:300], data=data)
    assert removed.code == 0, removed
    db = DataFolder(data).open_database()
    try:
        alert = fill(db, data, evil.name)
        rows = list(all_urls(db))
    finally:
        db.close()
    pages = [row.url for row in rows if row.outcome == "document" and row.state == "done"]
    return Hostile(data, evil.name, pages, [row.url for row in rows if row.url not in pages], alert)


def describe(site: Site) -> None:
    """A page for each payload, in every place of a page that is read, and what stands beside pages."""
    robots = "".join(f"Disallow: /never/{payload}\n# {payload}\n" for payload in PAYLOADS)
    site.robots(f"User-agent: *\n{robots}Sitemap: javascript:{RUN}\nSitemap: {site.url('/map.xml')}\n")
    paths = [f"/page/{n}.html" for n in range(len(PAYLOADS))]
    strange = [
        *(f"/{payload}" for payload in PAYLOADS), f"/never/{PAYLOADS[0]}", f"/no/{RUN}", f"/?q={ALL}",
        f"//user:{PAYLOADS[0]}@evil.test/", f"javascript:{RUN}", f"data:text/html,{PAYLOADS[0]}", "/moved", "/500",
        "/feed.xml", "/near.html", "/type",
    ]  # fmt: skip
    anchors = "".join(f'<li><a href="{html.escape(link)}">{html.escape(link)}</a></li>' for link in (*paths, *strange))
    site.page("/", page_of(ALL, f"<ul>{anchors}</ul>"))
    for path, payload in zip(paths, PAYLOADS, strict=True):
        site.page(path, page_of(payload), headers={"Content-Language": "en", "X-Powered-By": ascii(payload)})
    site.page("/near.html", page_of(PAYLOADS[1], "<p>And one more sentence."))
    site.redirect("/moved", f"/page/1.html?{PAYLOADS[0]}".replace(" ", "%20"))
    site.reply("/500", Reply(PAYLOADS[0], 500))
    site.reply("/type", Reply("<x>", content_type='text/<script>alert(1)</script>; charset="<b>"'))
    items = "".join(
        f"<item><title>{html.escape(payload, False)}</title><link>{site.url(path)}</link>"
        f"<description>{html.escape(payload, False)}</description></item>"
        for path, payload in zip(paths, PAYLOADS[:-1], strict=False)
    )
    hub = f'<atom:link rel="hub" href="javascript:{RUN}"/>'
    text = f'<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>{html.escape(PAYLOADS[0])}'
    site.reply("/feed.xml", Reply(f"{text}</title>{hub}{items}</channel></rss>", content_type="application/rss+xml"))


def page_of(payload: str, more: str = "") -> str:
    """A page that has a payload for everything that is taken out of it."""
    said = html.escape(payload)
    again = f"<p>{said} stands between words that everybody looks for, silk and gossamer, so that it is found.</p>"
    return (
        f'<html lang="{said}"><head><title>{said}</title><meta name="author" content="{said}">'
        f'<meta property="article:section" content="{said}"><meta name="description" content="{said}">'
        f'<meta property="article:published_time" content="2026-05-01"><meta property="og:locale" content="{said}">'
        f'<link rel="alternate" type="application/rss+xml" title="{said}" href="/feed.xml"></head>'
        f"<body><main><h1>{said}</h1>{again * 3}</main>{more}</body></html>"
    )


def fill(db: Database, data: Path, site: str) -> str:
    """Everything that does not come from a page; returns the id of an alert."""
    now = time.time()
    for payload in (ALL, *PAYLOADS):
        audit.note(db, now, payload, payload[:100], payload, payload)
    counts = {asked.normalised(payload): asked.Times(9, 9) for payload in PAYLOADS}
    asked.record(db, asked.day_of(now), counts)
    raise_alarms(db, now)
    subscribe(db, site, now)
    evaluate(db, now)
    filter_and_rule(db, site, now)
    publish_rules(db, now)
    run_and_rest(db, data, site, now)
    return save_queries(db, site, now)


def raise_alarms(db: Database, now: float) -> None:
    """Alarms that are open, and one that is over."""
    with db.transaction():
        alarms.settle(db, now, [SHORT], [Sign(SHORT, payload, payload) for payload in (ALL, *PAYLOADS)])
        alarms.settle(db, now - 9000, ["over"], [Sign("over", SHORT, ALL)])
        alarms.settle(db, now, ["over"], [])


def subscribe(db: Database, site: str, now: float) -> None:
    """Subscriptions that hubs refused with many words."""
    with db.transaction():
        for payload in PAYLOADS:
            feed = f"http://{site}/feed.xml?{key64(payload)}"
            subscriptions.want(db, feed, feed, f"javascript:{payload}", now)
    for one in subscriptions.list_all(db):
        subscriptions.asked(db, one.id, now)
        subscriptions.failed(db, one.id, ALL, 1)


def save_queries(db: Database, site: str, now: float) -> str:
    """Alerts with what they found, and a message that nobody took; returns the id of the second alert."""
    saved: list[str] = []
    for n, payload in enumerate(PAYLOADS):
        request = msgspec.json.encode(Request(query=payload, site=payload, lang=payload, category=payload)).decode()
        saved.append(alerts.add(db, f"{n} {payload}"[:200], request, [payload], payload, now).id)
        urls = (f"javascript:{RUN}", f"http://{site}/{payload}", payload)
        hits = [AlertHit(saved[n], k, now, url, payload, payload, payload) for k, url in enumerate(urls)]
        alerts.note_hits(db, hits)
    with db.transaction():
        message = Message("hits", ALL, ALL, (Item(f"javascript:{RUN}", ALL, ALL, ALL, now),), alert=ALL)
        outbox.put(db, ALL, saved[1], encoded(message), now, now)
    for waiting in outbox.claim(db, now + 1, 5, gathered=True):
        outbox.failed(db, waiting, ALL, now)
    return saved[1]


def evaluate(db: Database, now: float) -> None:
    """Two runs over a set of queries."""
    measures = {payload[:60]: 0.5 for payload in PAYLOADS}
    worst = tuple(WorstQuery(payload, payload, 0.1, 0) for payload in PAYLOADS)
    for step in range(2):
        ranking = RankingResult(SHORT, measures, dict.fromkeys(PAYLOADS, 0.1 * step), worst)
        other = RankingResult(PAYLOADS[1], measures)
        evaluations.note(db, now - 60 * step, ALL, EvaluationResult(5, 0, (ranking, other), 3, version=ALL))


def publish_rules(db: Database, now: float) -> None:
    """The rules of the search desk: a version that counts, and a draft."""
    typed = tuple(payload for payload in PAYLOADS if payload.isprintable())
    rules = Desk(
        synonym=(Synonym((PAYLOADS[0], "nobody")),),
        best_bet=tuple(BestBet((payload,), f"http://evil.test/{n}") for n, payload in enumerate(typed)),
        collection=(Collection("evil", SHORT.replace("\u202e", ""), filter="lang:en", colour="#0f6b62"),),
    )
    desk.publish(db, PAYLOADS[1], now, ALL, rules)
    desk.edit(db, PAYLOADS[2], now, lambda one: msgspec.structs.replace(one, stop_words=(PAYLOADS[0], "silk")))


def filter_and_rule(db: Database, site: str, now: float) -> None:
    """Automatic filters in every state, and document rules."""
    states = [ACTIVE, SHADOW, PROPOSED, WITHDRAWN, OFF] * 4
    evidence = Evidence(
        Counts(known=40, visited=30), Counts(known=90, fit=20), since=Counts(known=9, visited=9), note=ALL,
        reachable=20, links=9, steps=(1.0, 2.0),
    )  # fmt: skip
    made = [
        StoredFilter(site, "prefix", f"/{payload}/", state, payload, evidence, now, now)
        for payload, state in zip(PAYLOADS, states, strict=True)
    ]
    filters.save(db, made)
    rules = [
        DocumentRule(
            "evil.test", (f"/page/{payload}",), f"{n} {payload}", (payload,), (payload,), (payload,), category=payload,
            author=(payload,),
        )
        for n, payload in enumerate(PAYLOADS)
    ]  # fmt: skip
    rulebook.save_rules(db, rules, now)


def run_and_rest(db: Database, data: Path, site: str, now: float) -> None:
    """What runs of the plan said, and why sites and the whole crawl rest."""
    folder = DataFolder(data)
    for n, payload in enumerate(PAYLOADS):
        began = schedules.begin(db, machine_name(folder), payload, now - n)
        schedules.finish(db, machine_name(folder), Run(payload, began, now, n, f"{payload}\n{ALL}"))
    schedules.note_plan(db, machine_name(folder), {SHORT: SHORT}, now)
    frontier = open_frontier(folder, settings_of_crawl(data))
    try:
        frontier.block_until(site, now + 9999, ALL)
    finally:
        frontier.db.close()
    other = next(row.site for row in all_urls(db) if row.site != site)
    controls.pause_site(db, other, ALL, now)
    controls.pause_crawl(db, ALL, now)
