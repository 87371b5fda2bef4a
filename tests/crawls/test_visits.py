"""What a visit leads to: pages' wishes, sitemaps, conditional requests, access of single sites, visits again.

One web is crawled, changed, and crawled again; the tests read what is left, and what the servers saw.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from crawl_kit import crawl, run
from inside import gossamer

from gossamer.store.archive import iter_records
from gossamer.testing import Ask, FakeWeb, Reply, Site
from gossamer.testing.web import sitemap_xml

MODIFIED = "Tue, 04 Feb 2025 10:00:00 GMT"
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def prose(name: str) -> str:
    return " ".join(f"The page about {name} tells the {n} thing about {name}." for n in ("first", "second", "third"))


def html(head: str, text: str, *links: str, rel: str = "") -> str:
    anchors = "".join(f'<p><a rel="{rel}" href="{link}">on to {link}</a>' for link in links)
    return f"<html><head><title>{text[:20]}</title>{head}</head><body><main><p>{text}</main>{anchors}</body></html>"


def dated(ask: Ask) -> Reply:
    """A page with Last-Modified and no ETag."""
    if ask.headers.get("if-modified-since") == MODIFIED:
        return Reply(b"", 304)
    reply = Reply(html("", prose("dated")), 200, [("Last-Modified", MODIFIED)])
    reply.etag = ""
    return reply


def describe_news(site: Site) -> None:
    site.page("/", prose("news"), links=[
        "/noindex", "/nofollow", "/header", "/noarchive", "/rel", "/alias", "/orphan-alias", "/refresh", "/steady",
        "/changing", "/dated", "/vanishing", "/vanishing-copy", "/moved",
    ])  # fmt: skip
    site.page("/noindex", html('<meta name="robots" content="noindex">', prose("noindex"), "/from-noindex"))
    site.page("/nofollow", html('<meta name="robots" content="nofollow">', prose("nofollow"), "/from-nofollow"))
    site.page("/header", html("", prose("header"), "/from-header"), headers={"X-Robots-Tag": "noindex, nofollow"})
    site.page("/noarchive", html('<meta name="robots" content="noarchive">', prose("noarchive")))
    site.page("/rel", html("", prose("rel"), "/from-rel", rel="nofollow"))
    site.page("/alias", html('<link rel="canonical" href="/steady">', prose("alias"), "/from-alias"))
    site.page("/orphan-alias", html('<link rel="canonical" href="/nowhere">', prose("orphan")))
    site.page("/refresh", html('<meta http-equiv="refresh" content="0; url=/refreshed">', prose("refresh")))
    site.redirect("/moved", "/moved-here")
    for path in ("/from-noindex", "/from-alias", "/refreshed", "/steady", "/changing", "/moved-here"):
        site.page(path, prose(path))
    for path in ("/vanishing", "/vanishing-copy"):
        site.page(path, html("", prose("vanishing")))
    site.handler("/dated", dated)


def describe_sitemaps(site: Site) -> None:
    locations = "".join(f"<sitemap><loc>{site.url(p)}</loc></sitemap>" for p in ("/map-a.xml", "/map-b.xml.gz"))
    index = f'<sitemapindex xmlns="{NAMESPACE}">{locations}</sitemapindex>'
    site.reply("/map-index.xml", Reply(index, content_type="application/xml"))
    site.sitemap([("/only/a", "2025-01-01"), "http://elsewhere.test/x", "/closed/x"], "/map-a.xml")
    packed = gzip.compress(sitemap_xml([(site.url("/only/b"), "")]).encode())
    site.reply("/map-b.xml.gz", Reply(packed, content_type="application/gzip", compress=False))
    site.sitemap(["/only/late"], "/map-late.xml")
    for path in ("/only/a", "/only/b", "/only/late"):
        site.page(path, prose(path))
    maps = f"Sitemap: {site.url('/map-index.xml')}\nSitemap: http://elsewhere.test/map.xml\nSitemap: nonsense\n"
    site.robots(f"User-agent: *\nDisallow: /closed/\n{maps}")


class Doorman:
    """Lets in who has cookie, login and key, and remembers what everybody carried."""

    def __init__(self, other: str) -> None:
        self.seen: list[Ask] = []
        self._other = other

    def __call__(self, ask: Ask) -> Reply:
        self.seen.append(ask)
        if ask.path == "/robots.txt":
            return Reply("", 404)
        if ask.path == "/away":
            return Reply(b"", 302, [("Location", f"{self._other}/landing")])
        return Reply(html("", prose(f"{ask.host}{ask.path}"), "/away", f"{self._other}/"), 200)


class News(NamedTuple):
    data: Path
    news: Site
    login: Doorman
    public: Doorman
    requests: dict[str, list[str]]
    """Paths the server of news.test was asked for, by crawl: `first`, `second`."""

    def explain(self, path: str) -> dict[str, Any]:
        return dict(gossamer("explain", self.news.url(path), "--json", data=self.data).json)

    def history(self, path: str) -> list[dict[str, Any]]:
        return list(gossamer("history", self.news.url(path), "--json", data=self.data).json)

    def pages(self) -> dict[str, dict[str, Any]]:
        done = gossamer("export", "pages", data=self.data)
        rows = [json.loads(line) for line in done.out.splitlines()]
        return {row["url"].removeprefix(self.news.url("")): row for row in rows}


@pytest.fixture(scope="module")
def news(tmp_path_factory: pytest.TempPathFactory) -> Iterator[News]:
    data = tmp_path_factory.mktemp("visits") / "data"
    web = FakeWeb("127.0.22")
    site = web.site("news.test")
    describe_news(site)
    describe_sitemaps(site)
    login, public = web.site("login.test"), web.site("public.test")
    doormen = Doorman(public.url("")), Doorman(login.url(""))
    login.handler("/", doormen[0])
    public.handler("/", doormen[1])
    access = {"cookies": {"pass": "abc", "lang": "en"}, "basic_auth": ("user", "secret"), "headers": {"X-Key": "k1"}}
    # One parser: of two pages with the same text, the first to be fetched is the first to be read.
    sections: dict[str, dict[str, Any]] = {f'sites."{login.name}"': access, "crawl": {"parsers": 1}}
    requests: dict[str, list[str]] = {}
    with web:
        crawl(web, data, [site.url("/"), login.url("/"), public.url("/")], "--contact", "me@example.org", **sections)
        requests["first"] = [request.path for request in web.log() if request.site == site.name]
        change(site)
        assert gossamer("recrawl", site.url("/"), data=data).code == 0
        assert gossamer("inject", "--sitemap", site.url("/map-late.xml"), data=data).code == 0
        again = run("crawl", "--quiet", data=data)
        assert again.returncode == 0, again.stderr
        everything = [request.path for request in web.log() if request.site == site.name]
        requests["second"] = everything[len(requests["first"]) :]
        yield News(data, site, *doormen, requests)


def change(site: Site) -> None:
    """What happens on the site between the two crawls."""
    site.page("/changing", prose("quite another matter"))
    site.remove("/vanishing")


# -- what pages ask for ---------------------------------------------------------------------------


def test_a_noindex_page_is_read_for_its_links_and_not_kept(news: News) -> None:
    assert news.explain("/noindex")["factors"]["record"]["outcome"] == "noindex"
    assert "/noindex" not in news.pages()
    assert "/from-noindex" in news.pages()
    visit = news.history("/noindex")[-1]
    assert visit["text"] is None and visit["warc_offset"] is None


def test_a_nofollow_page_is_kept_and_its_links_are_not_followed(news: News) -> None:
    assert "/nofollow" in news.pages()
    assert news.explain("/from-nofollow")["state"] == "unknown"
    assert "/from-nofollow" not in news.requests["first"]


def test_x_robots_tag_counts_like_the_meta_element(news: News) -> None:
    assert "/header" not in news.pages()
    assert news.explain("/from-header")["state"] == "unknown"


def test_a_noarchive_page_is_kept_without_its_raw_response(news: News) -> None:
    assert news.pages()["/noarchive"]["warc_offset"] is None
    assert news.pages()["/steady"]["warc_offset"] is not None
    records = [one for path in news.data.glob("segments/*/responses.warc.gz") for one in iter_records(path)]
    kept = {one.url for one in records if one.headers["warc-type"] == "response"}
    assert news.news.url("/steady") in kept
    assert not {news.news.url("/noarchive"), news.news.url("/noindex")} & kept
    assert all(prose("noarchive").encode() not in one.block for one in records)


def test_a_nofollow_link_is_recorded_and_not_followed(news: News) -> None:
    assert "/from-rel" not in news.requests["first"]
    links = gossamer("export", "links", data=news.data).out
    assert news.news.url("/from-rel") in links


def test_a_canonical_link_joins_the_page_to_its_target(news: News) -> None:
    answer = news.explain("/alias")
    assert (answer["state"], answer["factors"]["record"]["target"]) == ("duplicate", news.news.url("/steady"))
    assert "/alias" not in news.pages() and "/steady" in news.pages()
    assert "/from-alias" in news.pages()


def test_a_canonical_link_to_a_missing_page_loses_nothing(news: News) -> None:
    assert news.explain("/nowhere")["state"] == "failed"
    assert "orphan" in news.pages()["/orphan-alias"]["text"]


def test_a_meta_refresh_is_a_redirect(news: News) -> None:
    answer = news.explain("/refresh")
    assert (answer["state"], answer["factors"]["record"]["target"]) == ("redirect", news.news.url("/refreshed"))
    assert "/refreshed" in news.pages() and "/refresh" not in news.pages()
    assert news.explain("/refreshed")["factors"]["record"]["via"] == "refresh"


def test_the_target_of_a_redirect_stands_for_it(news: News) -> None:
    assert news.explain("/moved")["factors"]["record"]["target"] == news.news.url("/moved-here")
    assert "/moved-here" in news.pages() and "/moved" not in news.pages()
    assert news.explain("/moved-here")["factors"]["record"]["depth"] == 1


# -- sitemaps -------------------------------------------------------------------------------------


def test_sitemaps_of_robots_txt_are_read_through_indexes_and_gzip(news: News) -> None:
    assert {"/only/a", "/only/b"} <= set(news.pages())
    for path in ("/map-index.xml", "/map-a.xml", "/map-b.xml.gz"):
        record = news.explain(path)["factors"]["record"]
        assert (record["outcome"], record["kind"]) == ("resource", "sitemap")
    assert news.explain("/only/a")["factors"]["record"]["via"] == "sitemap"
    assert news.explain("/only/b")["factors"]["record"]["found_on"] == news.news.url("/map-b.xml.gz")


def test_a_sitemap_opens_no_door_that_is_closed(news: News) -> None:
    assert news.explain("/closed/x")["reason"].startswith("robots")
    assert "/closed/x" not in news.requests["first"] + news.requests["second"]
    assert gossamer("explain", "http://elsewhere.test/x", "--json", data=news.data).json["state"] == "refused"


def test_an_injected_sitemap_is_read(news: News) -> None:
    assert "/only/late" in news.pages()
    assert news.requests["second"].count("/only/late") == 1
    assert "/only/late" not in news.requests["first"]


# -- access of single sites -----------------------------------------------------------------------


def test_access_reaches_its_site_with_every_request(news: News) -> None:
    pages = [ask for ask in news.login.seen if ask.path != "/robots.txt"]
    assert {ask.path for ask in pages} >= {"/", "/away"}
    for ask in news.login.seen:
        assert ask.headers["authorization"] == "Basic dXNlcjpzZWNyZXQ="
        assert set(ask.headers["cookie"].split("; ")) == {"pass=abc", "lang=en"}
        assert ask.headers["x-key"] == "k1"


def test_access_reaches_no_other_site(news: News) -> None:
    assert {"/", "/landing"} <= {ask.path for ask in news.public.seen}
    for ask in news.public.seen:
        assert not {"authorization", "cookie", "x-key"} & set(ask.headers)


def test_secrets_are_in_no_stored_file(news: News) -> None:
    raw = b"".join(gzip.decompress(path.read_bytes()) for path in news.data.glob("segments/*/responses.warc.gz"))
    tables = b"".join(path.read_bytes() for path in news.data.glob("segments/*/*.parquet"))
    for secret in (b"dXNlcjpzZWNyZXQ", b"pass=abc", b"k1\r\n"):
        assert secret not in raw
        assert secret not in tables


def test_every_request_names_the_crawler_and_its_operator(news: News) -> None:
    first = news.login.seen[0].headers["user-agent"]
    assert first.startswith("Gossamer/") and "me@example.org" in first


# -- visits again ---------------------------------------------------------------------------------


def test_a_changed_page_gets_a_new_version_and_keeps_the_old_one(news: News) -> None:
    new, old = news.history("/changing")
    assert (new["outcome"], old["outcome"]) == ("document", "document")
    assert "quite another matter" in new["text"] and "quite another matter" not in old["text"]
    assert new["fetched_at"] > old["fetched_at"]
    assert news.pages()["/changing"]["text"] == new["text"]


@pytest.mark.parametrize("path", ["/steady", "/dated"])
def test_an_unchanged_page_is_not_sent_again_and_stays(news: News, path: str) -> None:
    """By ETag, and by Last-Modified where there is no ETag."""
    new, old = news.history(path)
    assert (new["outcome"], new["status"]) == ("not_modified", 304)
    assert (old["outcome"], old["status"]) == ("document", 200)
    assert news.pages()[path]["text"] == old["text"]
    answer = news.explain(path)
    assert answer["state"] == "fetched" and "unchanged since the last visit" in answer["reason"]


def test_history_shows_both_versions_to_a_person(news: News) -> None:
    lines = gossamer("history", news.news.url("/steady"), data=news.data).out.splitlines()
    assert len(lines) == 2
    assert "304 not_modified" in lines[0] and "200 document" in lines[1]


def test_a_page_that_is_gone_leaves_the_export_and_its_copy_takes_its_place(news: News) -> None:
    first, second = "/vanishing", "/vanishing-copy"
    assert news.explain(first)["state"] == "failed"
    assert first not in news.pages()
    assert "vanishing" in news.pages()[second]["text"]
    assert [visit["outcome"] for visit in news.history(first)] == ["gone", "document"]


def test_no_text_is_exported_twice(news: News) -> None:
    hashes = [row["content_hash"] for row in news.pages().values()]
    assert len(hashes) == len(set(hashes)) > 10


def test_robots_txt_is_not_asked_for_again_within_its_time(news: News) -> None:
    assert news.requests["first"].count("/robots.txt") == 1
    assert "/robots.txt" not in news.requests["second"]


def test_failed_urls_can_be_queued_alone(news: News) -> None:
    """After all others, because it changes the crawl."""
    queued = gossamer("recrawl", "--failed", "--json", data=news.data).json["queued"]
    status = gossamer("status", "--json", data=news.data).json
    assert queued == status["errors"] == status["urls_due"] > 0
    assert news.explain("/vanishing")["state"] == "waiting"
