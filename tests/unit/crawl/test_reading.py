"""What a parser makes of a body, and that plug-ins' rules really stand in the chain."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator

import pytest

from gossamer import plugins
from gossamer.crawl.parser_config import ParserConfig, full_chain
from gossamer.crawl.reading import PageParser, looks_like_sitemap
from gossamer.model.decision import Decision, refuse
from gossamer.model.records import Kind, ParseJob
from gossamer.model.site import key64, unpacked_keys
from gossamer.model.url import CanonicalRules
from gossamer.parse.limits import ParseLimits
from gossamer.scope.chain import ScopeConfig
from gossamer.scope.filters import FilterRule

SCOPE = ScopeConfig(hosts=("a.test",), filters=(FilterRule("prefix", "deny", "/no/", "no"),))
SITEMAP = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{}</urlset>"


class NoCats:
    """A rule of a plug-in; it knows more than the URL: how often it was asked."""

    name = "cats"

    def __init__(self) -> None:
        self.asked = 0

    def decide(self, url: str, now: float) -> Decision | None:
        self.asked += 1
        return refuse("cats", f"no cats, question {self.asked}") if "cat" in url else None


@pytest.fixture
def cats() -> Iterator[str]:
    plugins.RULES.register("cats", NoCats)
    yield "cats"
    del plugins.RULES._built_in["cats"]


def reader(*rules: str) -> PageParser:
    return PageParser(ParserConfig(CanonicalRules(), SCOPE, rules, ParseLimits()))


def job(
    body: str | bytes, content_type: str = "text/html", kind: Kind = Kind.PAGE, url: str = "http://a.test/"
) -> ParseJob:
    return ParseJob(url, kind, content_type, body.encode() if isinstance(body, str) else body)


def test_a_rule_of_a_plug_in_is_asked_after_the_built_in_ones(cats: str) -> None:
    chain = full_chain(SCOPE, (cats,), lambda _url: None)
    assert chain.decide("http://a.test/cat", 0.0).rule == "cats"
    assert chain.decide("http://a.test/dog", 0.0).allowed
    assert chain.decide("http://b.test/cat", 0.0).rule == "scope.host"
    said = [verdict.rule for verdict in chain.verdicts("http://a.test/cat", 0.0)]
    assert said == ["scope.host", "filter", "trap", "cats"]


def test_what_a_plug_in_says_is_not_remembered(cats: str) -> None:
    chain = full_chain(SCOPE, (cats,), lambda _url: None)
    reasons = [chain.split(["http://a.test/cat"], 0.0)[1][0][1].reason for _ in range(2)]
    assert reasons == ["no cats, question 1", "no cats, question 2"]


def test_links_are_sorted_into_followed_refused_and_foreign(cats: str) -> None:
    links = "".join(f"<a href='{url}'>x</a>" for url in ("/yes", "/no/x", "http://b.test/", "/cat"))
    page = reader(cats).read(job(links))
    assert page.follow == ["http://a.test/yes"]
    assert unpacked_keys(page.follow_keys) == (key64("http://a.test/yes"),)
    refused = [(url, rule) for url, rule, _ in page.refused]
    assert refused == [("http://a.test/no/x", "filter.no"), ("http://a.test/cat", "cats")]
    assert len(page.links) == 4


def sitemap(*urls: str) -> str:
    return SITEMAP.format("".join(f"<url><loc>{url}</loc></url>" for url in urls))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_sitemap_is_read_packed_or_not(pack: Callable[[bytes], bytes]) -> None:
    body = pack(
        sitemap("http://a.test/1", "/2", "http://b.test/", "http://a.test/no/x", "http://[", "http://a.test/1").encode()
    )
    parsed = reader().read(job(body, "application/xml", Kind.SITEMAP, "http://a.test/map.xml"))
    assert parsed.ok and parsed.method == "sitemap"
    assert [entry.url for entry in parsed.entries] == parsed.follow == ["http://a.test/1", "http://a.test/2"]
    assert [rule for _, rule, _ in parsed.refused] == ["filter.no"]
    assert list(unpacked_keys(parsed.follow_keys)) == [key64(url) for url in parsed.follow]


def test_a_sitemap_names_its_translations_within_the_scope_behind_its_entries() -> None:
    body = (
        "<urlset xmlns:xhtml='http://www.w3.org/1999/xhtml'><url><loc>http://a.test/en</loc><priority>0.8</priority>"
        "<xhtml:link rel='alternate' hreflang='en' href='http://a.test/en'/>"
        "<xhtml:link rel='alternate' hreflang='de' href='/de'/>"
        "<xhtml:link rel='alternate' hreflang='fr' href='http://elsewhere.test/fr'/></url>"
        "<url><loc>http://a.test/last</loc></url></urlset>"
    )
    parsed = reader().read(job(body, "application/xml", Kind.SITEMAP, "http://a.test/map.xml"))
    assert [(entry.url, entry.priority) for entry in parsed.entries] == [
        ("http://a.test/en", 0.8),
        ("http://a.test/last", 0.5),
        ("http://a.test/de", 0.8),
    ]


def test_nested_sitemaps_stay_inside_the_scope() -> None:
    places = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in ("/b.xml.gz", "http://b.test/c.xml"))
    parsed = reader().read(job(f"<sitemapindex>{places}</sitemapindex>", "text/xml", Kind.SITEMAP))
    assert parsed.nested == ["http://a.test/b.xml.gz"]


def test_a_sitemap_index_that_breaks_off_gives_what_it_has_and_says_so() -> None:
    body = "<sitemapindex><sitemap><loc>/b.xml</loc></sitemap><sitemap><loc>/c.xml</sitemap></sitemapindex>"
    parsed = reader().read(job(body, "text/xml", Kind.SITEMAP))
    assert parsed.ok and parsed.nested == ["http://a.test/b.xml"]
    assert parsed.problem.startswith("not well-formed XML")


def test_a_sitemap_index_that_names_nothing_says_so() -> None:
    parsed = reader().read(job("<sitemapindex><sitemap>/b.xml</sitemap></sitemapindex>", "text/xml", Kind.SITEMAP))
    assert parsed.ok and parsed.problem == "it names no URL"


def test_a_sitemap_without_sense_is_a_problem_and_no_page() -> None:
    parsed = reader().read(job("<p>hello", "text/xml", Kind.SITEMAP))
    assert not parsed.ok and parsed.problem


@pytest.mark.parametrize(
    ("content_type", "url", "body", "expected"),
    [
        ("application/xml", "http://a.test/x", "<urlset>", True),
        ("text/html", "http://a.test/sitemap.xml", "<?xml version='1.0'?><sitemapindex>", True),
        ("text/html", "http://a.test/about", "all about <urlset>", False),
        ("application/xml", "http://a.test/x", "<rss>", False),
    ],
)
def test_a_sitemap_in_disguise_is_known_by_its_type_or_name_and_its_root(
    content_type: str, url: str, body: str, expected: bool
) -> None:
    assert looks_like_sitemap(job(body, content_type, url=url)) is expected
    assert (reader().read(job(body + "</x>", content_type, url=url)).method == "sitemap") is expected
