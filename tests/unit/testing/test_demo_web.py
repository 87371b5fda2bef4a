"""The bundled web is what its expectations say, by a crawl that is too simple to be wrong."""

import re
import subprocess
import sys
from collections import deque
from urllib.parse import urljoin

import pytest
from lxml import etree
from lxml import html as lxml_html
from protego import Protego

from gossamer.demo import DemoWeb
from gossamer.demo.content import load, parse
from gossamer.demo.traps import room
from gossamer.model.outcome import Outcome
from gossamer.model.site import host_of, registrable_domain, site_of
from gossamer.model.url import Canonicalizer


class Crawl:
    """Breadth first over all seeds, sitemaps included; records what became of every URL."""

    def __init__(self, web, fetch):
        self.web, self.get = web, fetch
        self.canonical = Canonicalizer()
        self.queue, self.seen = deque(), set()
        self.outcomes, self.texts, self.languages, self.outside = {}, {}, {}, set()
        self.robots = {}
        for url in web.seeds:
            self.add(url)
        while self.queue:
            url = self.queue.popleft()
            self.outcomes[url] = self.visit(url)

    def add(self, url):
        url = self.canonical.parse(url)
        if host_of(site_of(url)) not in self.web.resolve:
            self.outside.add(url)
        elif url not in self.seen:
            self.seen.add(url)
            self.queue.append(url)

    def allowed(self, url):
        site = site_of(url)
        if site not in self.robots:
            got = self.get(self.web, f"http://{site}/robots.txt")
            self.robots[site] = Protego.parse(got.text if got.status == 200 else "")
            for sitemap in self.robots[site].sitemaps:
                self.add(sitemap)
        return self.robots[site].can_fetch(url, "gossamer")

    def visit(self, url):
        if not self.allowed(url):
            return Outcome.ROBOTS_DENIED
        got = self.get(self.web, url)
        if got.status in (301, 302):
            self.add(urljoin(url, got.headers["Location"]))
            return Outcome.REDIRECT
        if got.status != 200:
            return Outcome.GONE
        kind = got.headers["Content-Type"]
        if "xml" in kind:
            for loc in etree.fromstring(got.body).iter("{*}loc", "link"):
                self.add(loc.text)
            return Outcome.RESOURCE
        return self.read(url, got) if "html" in kind else Outcome.UNSUPPORTED_TYPE

    def read(self, url, got):
        charset = re.search(rb'<meta charset="([^"]+)"', got.body)[1].decode()
        tree = lxml_html.document_fromstring(got.body.decode(charset))
        refresh = tree.xpath("//meta[@http-equiv='refresh']/@content")
        if refresh:
            self.add(urljoin(url, refresh[0].partition("url=")[2]))
            return Outcome.REDIRECT
        for link in tree.xpath("//a/@href | //link[@rel='alternate' or @rel='canonical']/@href"):
            self.add(urljoin(url, link))
        if tree.xpath("//link[@rel='canonical']"):
            return Outcome.ALIAS
        if "noindex" in "".join(tree.xpath("//meta[@name='robots']/@content")):
            return Outcome.NOINDEX
        text = (registrable_domain(host_of(site_of(url))), tree.xpath("string(//article)"))
        first = self.texts.setdefault(text, url)
        self.languages[url] = tree.get("lang")
        return Outcome.DOCUMENT if first == url else Outcome.DUPLICATE


@pytest.fixture(scope="module")
def web():
    with DemoWeb() as web:
        yield web


@pytest.fixture(scope="module")
def crawl(web, fetch):
    return Crawl(web, fetch)


def documents(crawl):
    return {url for url, outcome in crawl.outcomes.items() if outcome is Outcome.DOCUMENT}


def test_a_simple_correct_crawl_finds_exactly_what_is_expected(web, crawl):
    assert web.expected.problems(documents(crawl)) == []
    assert len(documents(crawl)) == web.expected.documents


def test_every_other_url_has_the_outcome_expected_of_it(web, crawl):
    assert {url: crawl.outcomes.get(url) for url in web.expected.others} == web.expected.others


def test_nothing_else_fails(web, crawl):
    """Every 404 is one that was planned, apart from the far ends of the traps."""
    gone = {url for url, outcome in crawl.outcomes.items() if outcome is Outcome.GONE}
    planned = {url for url, outcome in web.expected.others.items() if outcome is Outcome.GONE}
    assert {url for url in gone - planned if "//trap.test" not in url} == set()


def test_languages_are_counted_as_expected(web, crawl):
    counted = [crawl.languages[url] for url in documents(crawl)]
    assert {lang: counted.count(lang) for lang in set(counted)} == web.expected.languages
    assert set(counted) == {"en", "ru", "zh"}


def test_outside_links_exist_and_are_not_ours(web, crawl):
    assert crawl.outside == web.expected.outside


def test_the_expectations_can_fail(web, crawl):
    good = documents(crawl)
    trap = {url for url in crawl.outcomes if "/calendar/" in url}
    assert web.expected.problems(good - {web.url("weaver.test")}) == [f"{web.url('weaver.test')} is missing"]
    assert "noindex" in web.expected.problems(good | {web.url("weaver.test", "/thanks.html")})[0]
    assert "should be stored, but" in web.expected.problems(good | trap)[0]
    assert "should be stored, but 0" in web.expected.problems(good - trap)[0]
    assert web.expected.problems(good | {"http://new.test/"}) == ["http://new.test/ should not be stored"]


def test_one_document_is_named_by_the_feed_alone(web, crawl, fetch):
    """Whoever follows links and sitemaps only cannot find it."""
    start, page = web.url("news.weaver.test"), web.url("news.weaver.test", "/2025/night-desk.html")
    feed = lxml_html.document_fromstring(fetch(web, start).body).xpath("//link[@rel='alternate']/@href")[0]
    items = etree.fromstring(fetch(web, urljoin(start, feed)).body).iter("item")
    assert {item.findtext("link"): item.findtext("pubDate") for item in items}[page] == "Tue, 01 Jul 2025 00:00:00 GMT"
    assert page in web.expected.kept and page in documents(crawl)
    texts = [body for host in load().values() for body in [host.get("nav"), *(p.text for p in host.pages.values())]]
    entries = [p.get("entries") for host in load().values() for p in host.pages.values()]
    assert not [text for text in texts + entries if "night-desk" in text]


def test_near_duplicates_differ_in_a_few_words_only(web, crawl):
    by_url = {url: text.split() for (_, text), url in crawl.texts.items()}
    for pair in web.expected.near:
        first, second = (by_url[url] for url in sorted(pair))
        differences = sum(a != b for a, b in zip(first, second, strict=True))
        assert 0 < differences <= 3


def test_the_traps_are_long_and_do_end(web):
    assert room("/calendar/2089-12") is not None
    assert room("/calendar/2090-01") is None
    assert room("/s/500/hall") is not None
    assert room("/s/501/hall") is None
    assert room("/stairs/" + "down/" * 60) is not None
    assert room("/stairs/" + "down/" * 61) is None
    assert room("/question?" + "&".join(["ask=why"] * 60)) is not None
    assert room("/question?" + "&".join(["ask=why"] * 61)) is None
    assert room("/elsewhere") is None


def test_hosts_have_addresses_of_their_own_and_seeds_cover_them(web):
    assert len(web.resolve) == len(set(web.resolve.values())) == 6
    assert {host_of(site_of(seed)) for seed in web.seeds} == set(web.resolve)
    assert all(address.startswith("127.0.1.") for address in web.resolve.values())


def test_it_is_served_compressed_where_accepted_and_in_old_charsets_where_said(web, fetch):
    assert fetch(web, web.url("pauk.test"), {"Accept-Encoding": "gzip"}).headers["Content-Encoding"] == "gzip"
    assert "Скакуны видят" in fetch(web, web.url("pauk.test", "/pauki/skakuny.html")).body.decode("cp1251")
    assert "水蛛" in fetch(web, web.url("zhizhu.test", "/zhizhu/shuizhu.html")).body.decode("gb18030")


def test_every_article_is_prose():
    """Four sentences or more on nearly every article that is not a list or a stub."""
    long = 0
    for host in load().values():
        for page in host.pages.values():
            sentences = len(re.findall(r"[.!?。！？](?:\s|$|”)|[。！？]", page.text))
            long += page.is_html and sentences >= 4
    assert long >= 60


def test_the_written_form_is_read_as_documented():
    host = parse(
        "x.test",
        "name: X\nlang: en\nbroken: /a, /b\n\n@ /p\ntitle: P: and Q\n\nOne.\n\nTwo.\n\n@ /r\nstatus: 301\n",
    )
    assert (host.get("name"), host.listed("broken")) == ("X", ["/a", "/b"])
    assert (host.pages["/p"].get("title"), host.pages["/p"].text) == ("P: and Q", "One.\n\nTwo.")
    assert host.pages["/r"].get("status") == "301"
    assert not host.pages["/r"].is_html


def test_the_demo_does_not_need_the_test_kit():
    code = "import sys, gossamer.demo; sys.exit(any(m.startswith('gossamer.testing') for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
