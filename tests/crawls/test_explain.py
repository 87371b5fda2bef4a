"""Promise 4: every decision can be explained with one command, truly and completely."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from crawl_kit import crawl
from inside import fails, gossamer

from gossamer.operate.explain import url as explain
from gossamer.operate.explain.shy_links import shy_links
from gossamer.testing import FakeWeb, Reply, Site
from gossamer.testing.web import wrap

PRIVATE = "http://intranet.test/"
SETTINGS: dict[str, dict[str, Any]] = {
    "politeness": {"backoff_first": 0.05, "backoff_cap": 0.1},
    "fetch": {"idle_timeout": 10.0, "total_timeout": 240.0},
    "robots": {"retry_first": 3600.0},  # a site rests for as long as it is asked about
    "budget": {"retries": 2, "patience": 3, "similar_paths": 5},
    # One parser: of two pages with the same text, the first to be fetched is the first to be read.
    "crawl": {"linger": 1.0, "max_redirects": 3, "parsers": 1},
    "scope": {
        "hosts": ["intranet.test"],
        "filters": [
            {"kind": "prefix", "action": "allow", "pattern": "/shop/open/"},
            {"kind": "prefix", "action": "deny", "pattern": "/shop/", "name": "no_shop"},
            {"kind": "regex", "action": "deny", "pattern": r"[?&]print=1"},
        ],
    },
}


def prose(name: str) -> str:
    return " ".join(f"The page about {name} tells the {n} thing about {name}." for n in ("first", "second", "third"))


def describe_main(site: Site) -> None:
    links = [
        "/doc", "/copy", "/alias", "/old", "/gone", "/private/plan", "/shop/cart", "/shop/open/hours", "/a?print=1",
        "/x/a/a/a/a/a", "/photo.jpg", "/quiet", "/away", "/loop", "/hop/1", "/file.pdf", "/secret-door", "/gift/box",
        "/reserved", "http://elsewhere.test/page", PRIVATE, *(f"/n/{n}" for n in range(9)),
    ]  # fmt: skip
    shy = '<a rel="nofollow" href="/shy">shy</a>'
    site.page("/", wrap("home", prose("home"), links).replace("</ul>", f"</ul>{shy}"))
    for path in (
        "/doc",
        "/shop/open/hours",
        "/private/plan",
        "/shop/cart",
        "/gift/box",
        *(f"/n/{n}" for n in range(9)),
    ):
        site.page(path, prose(path))
    site.page("/copy", prose("/doc"), title=prose("/doc").partition(".")[0])
    site.page("/alias", f'<html><head><link rel="canonical" href="/doc"></head><body><p>{prose("alias")}</body></html>')
    site.page("/quiet", f'<html><head><meta name="robots" content="noindex"></head><body><p>{prose("quiet")}</body>')
    site.page(
        "/reserved",
        f'<html><head><meta name="robots" content="nofollow"></head><body><p>{prose("reserved")}'
        '<p><a href="/shyer">shyer</a></body></html>',
    )
    site.redirect("/old", "/doc")
    site.redirect("/away", "http://elsewhere.test/page")
    site.redirect("/loop", "/loop")
    for n in range(1, 9):
        site.redirect(f"/hop/{n}", f"/hop/{n + 1}")
    site.reply("/file.pdf", Reply(b"%PDF-1.4", content_type="application/pdf"))
    site.page("/secret-door", "no", status=403)
    site.robots(f"User-agent: *\nDisallow: /private/\nSitemap: {site.url('/sitemap.xml')}\n")
    site.sitemap(["/doc"])


def make_web() -> FakeWeb:
    web = FakeWeb("127.0.21")
    describe_main(web.site("main.test"))
    ill = web.site("ill.test")
    ill.page("/", prose("ill"), links=["/broken", "/slow"])
    ill.page("/broken", "oops", status=500)
    ill.reply("/slow", Reply(prose("slow"), delay=60.0))
    busy = web.site("busy.test")
    busy.page("/", prose("busy"), links=["/busy", "/later", "/last"])
    busy.page("/busy", "come back", status=503, headers={"Retry-After": "3600"})
    busy.page("/later", prose("later"))
    mute = web.site("mute.test")
    mute.robots("broken", status=500)
    mute.page("/", prose("mute"))
    return web


class Crawled(NamedTuple):
    data: Path
    asked: set[str]
    """URLs the servers saw a request for."""
    hosts: dict[str, str]

    def url(self, place: str) -> str:
        """`main/doc` → the URL of /doc on main.test; a URL is itself."""
        host, slash, path = place.partition("/")
        return place if "://" in place else self.hosts[host] + slash + path

    def ask(self, place: str) -> dict[str, Any]:
        done = gossamer("explain", self.url(place), "--json", data=self.data)
        assert done.code == 0, done.err
        return dict(done.json)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    data = tmp_path_factory.mktemp("explain") / "data"
    with make_web() as web:
        hosts = {name.partition(".")[0]: web.url(name).rstrip("/") for name in web.sites}
        network = {"resolve": {**web.resolve, "intranet.test": "10.1.2.3"}, "allow": ["127.0.21.0/24"]}
        crawl(web, data, [f"{host}/" for host in hosts.values()], "--workers", "1", network=network, **SETTINGS)
        removed = gossamer("remove", f"{hosts['main']}/gift/", "--reason", "its owner asked for it", data=data)
        assert removed.code == 0, removed.err
        yield Crawled(data, {request.url for request in web.log()}, hosts)


# Place, state, what the reason must say, and whether the server was asked for it.
CASES: list[tuple[str, str, list[str], bool]] = [
    ("main/doc", "fetched", ["document", "fetched and kept"], True),
    ("main/quiet", "fetched", ["noindex"], True),
    ("main/sitemap.xml", "fetched", ["resource", "sitemap"], True),
    ("main/shop/open/hours", "fetched", ["document"], True),
    ("main/file.pdf", "fetched", ["unsupported_type", "application/pdf"], True),
    ("busy/later", "waiting", ["in the queue", "waits for", "503", "0 URLs of busy.test", "come first"], False),
    ("busy/last", "waiting", ["1 URL of busy.test", " comes first"], False),
    ("mute/", "waiting", ["waits for", "robots.txt is unreachable (status 500)"], False),
    ("busy/busy", "scheduled", ["unavailable", "status 503", "tried once", "next try in "], True),
    ("main/shop/cart", "refused", ["filter.no_shop", "deny prefix '/shop/'"], False),
    ("main/a?print=1", "refused", ["filter.deny.3", "regex"], False),
    ("main/photo.jpg", "refused", ["filter.not_document", ".jpg"], False),
    ("main/private/plan", "refused", ["robots", "Disallow: /private/"], False),
    ("main/x/a/a/a/a/a", "refused", ["trap.repeat", "'a' occurs 5 times"], False),
    ("main/n/8", "refused", ["trap.similar_paths", "budget.similar_paths"], False),
    ("main/copy", "duplicate", ["same text as another page", "/doc"], True),
    ("main/alias", "duplicate", ["canonical link", "/doc"], True),
    ("main/old", "redirect", ["points to another URL", "/doc"], True),
    ("main/away", "redirect", ["http://elsewhere.test/page", "its target is refused", "is not among the"], True),
    ("main/loop", "failed", ["bad_redirect", "redirects to itself"], True),
    ("main/hop/4", "failed", ["bad_redirect", "more than 3 redirects in a row", "crawl.max_redirects"], True),
    ("main/gone", "failed", ["gone", "status 404"], True),
    ("main/secret-door", "failed", ["forbidden", "status 403"], True),
    ("ill/broken", "failed", ["server_error", "status 500"], True),
    ("ill/slow", "failed", ["timeout", "the server sent no byte for 10 s"], True),
    (PRIVATE, "failed", ["address_refused", "10.1.2.3"], False),
    ("main/gift/box", "removed", ["its owner asked for it"], True),
    ("main/gift/card", "refused", ["never seen", "removed", "/gift/"], False),
    ("main/never", "unknown", ["never seen"], False),
    ("http://elsewhere.test/page", "refused", ["never seen", "scope.host", "elsewhere.test is not among the"], False),
    ("main/hop/5", "unknown", ["never seen"], False),
    ("main/shy", "unknown", ["known only from links that are not followed, on http://main", "says nofollow"], False),
    ("main/shyer", "unknown", ["not followed, on http://main", "/reserved: the page asks"], False),
]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Links that were not followed are looked for half a second, in which a busy machine may read too few segments."""
    monkeypatch.setattr(explain, "shy_links", partial(shy_links, most_seconds=240.0))


@pytest.mark.parametrize(("place", "state", "phrases", "asked"), CASES, ids=[case[0] for case in CASES])
def test_every_fate_is_told_with_its_reason(
    crawled: Crawled, place: str, state: str, phrases: list[str], asked: bool
) -> None:
    answer = crawled.ask(place)
    assert set(answer) == {"url", "state", "reason", "factors"}
    assert answer["url"] == crawled.url(place)
    assert answer["state"] == state, answer
    for phrase in phrases:
        assert phrase in answer["reason"], answer
    assert (answer["url"] in crawled.asked) == asked


def without_seconds(reason: str) -> str:
    """A reason without the time that goes by between two questions."""
    return re.sub(r"again in \d+ (s|min|h|days)", "again", reason)


@pytest.mark.parametrize("place", [case[0] for case in CASES])
def test_the_text_says_what_the_json_says(crawled: Crawled, place: str) -> None:
    answer = crawled.ask(place)
    text = gossamer("explain", crawled.url(place), data=crawled.data).out
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[0] == answer["url"]
    assert f"state {answer['state']}" in lines
    reason, told = " ".join(answer["reason"].split()), next(line for line in lines if line.startswith("reason "))
    if answer["state"] not in ("waiting", "scheduled"):  # those count seconds
        assert without_seconds(told) == without_seconds(f"reason {reason}")
    assert any(line.startswith("robots ") for line in lines)
    assert len([line for line in lines if line.startswith(("allows ", "refuses "))]) == len(answer["factors"]["rules"])


def test_factors_tell_how_the_url_was_found_and_stored(crawled: Crawled) -> None:
    record = crawled.ask("main/shop/open/hours")["factors"]["record"]  # not /doc: the sitemap names that, too
    assert (record["via"], record["depth"], record["status"]) == ("link", 1, 200)
    assert record["found_on"] == crawled.url("main/")
    assert record["segment"] and record["content_hash"]
    assert crawled.ask("main/")["factors"]["record"]["via"] == "seed"
    assert crawled.ask("main/sitemap.xml")["factors"]["record"]["via"] == "robots"
    assert crawled.ask("main/hop/2")["factors"]["record"]["via"] == "redirect"
    assert crawled.ask("main/old")["factors"]["record"]["target"] == crawled.url("main/doc")
    assert crawled.ask("main/never")["factors"]["record"] is None


def test_factors_hold_the_verdict_of_every_rule_and_of_robots(crawled: Crawled) -> None:
    refused = crawled.ask("main/shop/cart")["factors"]
    verdicts = {rule["rule"]: rule["allowed"] for rule in refused["rules"]}
    assert verdicts == {"scope.host": True, "filter.no_shop": False, "trap": True}
    saved = crawled.ask("main/shop/open/hours")["factors"]["rules"]
    assert [rule["allowed"] for rule in saved if rule["rule"].startswith("filter")] == [True, False]
    assert crawled.ask("main/private/plan")["factors"]["robots"].startswith("deny: robots.txt forbids /private/plan")
    assert crawled.ask("main/doc")["factors"]["robots"].startswith("allow")
    assert crawled.ask("mute/")["factors"]["robots"].startswith("deny: robots.txt is unreachable")
    assert "has not been fetched" in crawled.ask("http://elsewhere.test/page")["factors"]["robots"]


def test_waiting_tells_until_when_and_how_many_come_first(crawled: Crawled) -> None:
    factors = crawled.ask("busy/last")["factors"]
    assert factors["ahead"] == 1
    assert factors["waits_until"] > factors["record"]["found_at"] + 3500
    assert crawled.ask("busy/busy")["factors"]["record"]["due_at"] >= factors["waits_until"] - 1


def test_retries_happened_as_often_as_the_settings_say(crawled: Crawled) -> None:
    """`failed` is said only after the last try: the claim is checked against the stored visits."""
    for place in ("ill/broken", "ill/slow"):
        visits = gossamer("history", crawled.url(place), "--json", data=crawled.data).json
        assert len(visits) == SETTINGS["budget"]["retries"]


def test_another_spelling_of_the_url_is_the_same_url(crawled: Crawled) -> None:
    host = crawled.url("main/").removeprefix("http://")
    for text in (f"http://{host}doc#part", f"HTTP://{host.upper()}doc", f"{host}doc?utm_source=x", f" {host}x/../doc "):
        answer = crawled.ask(text) if "://" in text else gossamer("explain", text, "--json", data=crawled.data).json
        assert (answer["url"], answer["state"]) == (crawled.url("main/doc"), "fetched")


@pytest.mark.parametrize(
    "text", ["", "nonsense", "http://", "http://[::1", "mailto:a@b.test", "two words", "http://a:99999/"]
)
def test_garbage_is_a_usage_error(crawled: Crawled, text: str) -> None:
    fails(gossamer("explain", text, data=crawled.data), 2)


def test_a_new_filter_is_told_before_it_bites(crawled: Crawled, tmp_path: Path) -> None:
    """A URL that waits and would be refused now says both."""
    file = crawled.data / "gossamer.toml"
    before = file.read_text()
    try:
        file.write_text(before.replace('"/shop/open/"', '"/nothing/"').replace('"/shop/"', '"/later"'))
        answer = crawled.ask("busy/later")
    finally:
        file.write_text(before)
    assert answer["state"] == "waiting"
    assert "filter.no_shop will refuse it" in answer["reason"]


def test_without_a_crawl_it_says_so(tmp_path: Path) -> None:
    fails(gossamer("explain", "http://a.test/", data=tmp_path / "none"), 2, "no crawl in", "gossamer crawl SEED")
    assert not (tmp_path / "none").exists()
