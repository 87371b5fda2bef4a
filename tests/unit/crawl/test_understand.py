"""From a response to a result: outcomes, retries, redirects, what is stored and what is found. All pure."""

from __future__ import annotations

import msgspec
import pytest

from gossamer.crawl.understand import Rules, of_page, of_response, plain_result, robots_sitemaps
from gossamer.frontier.contract import Budgets, Place
from gossamer.model.decision import Decision, allow, refuse
from gossamer.model.outcome import Outcome
from gossamer.model.records import Entry, Kind, Link, Parsed, Response, Task, Via
from gossamer.model.site import key64, packed_keys, unpacked_keys
from gossamer.model.url import Canonicalizer

SITE, URL, NOW = "a.test", "http://a.test/page", 1000.0
BUDGETS = Budgets(retries=3, patience=5)


def decide(url: str, now: float) -> Decision:
    if not url.startswith("http://a.test/"):
        return refuse("scope.host", "a foreign host")
    return refuse("filter.no", "not this one") if "/no/" in url else allow("scope", "fine")


def keys_of(urls: list[str]) -> bytes:
    return packed_keys([key64(url) for url in urls])


def unknown(keys: bytes, depth: int) -> list[tuple[int, int]]:
    seen = key64("http://a.test/seen")
    return [(at, key) for at, key in enumerate(unpacked_keys(keys)) if key != seen]


RULES = Rules(Canonicalizer(), decide, unknown, BUDGETS, 4, "w1")


def task(attempts: int = 0, hops: int = 0, kind: Kind = Kind.PAGE) -> Task:
    return Task(URL, key64(URL), kind, level=5, seq=1, depth=2, hops=hops, attempts=attempts)


def response(outcome: Outcome, status: int = 200, **more: object) -> Response:
    return Response(URL, outcome, NOW - 2, NOW - 1, NOW, status, **more)


@pytest.mark.parametrize("outcome", [one for one in Outcome if one.meaning.retry])
def test_a_failure_is_tried_again_as_often_as_the_budget_says(outcome: Outcome) -> None:
    patient = outcome in (Outcome.RATE_LIMITED, Outcome.UNAVAILABLE)
    tries = BUDGETS.patience if patient else BUDGETS.retries
    for attempts in range(tries + 2):
        visit = of_response(Place(SITE), task(attempts), response(outcome, 503), NOW + 60, RULES).visit
        again = attempts + 1 < tries
        assert visit.retry_at == (NOW + 60 if again else None)
        assert visit.outcome is outcome


@pytest.mark.parametrize("outcome", [one for one in Outcome if one.meaning.final and one is not Outcome.REDIRECT])
def test_a_final_outcome_is_not_tried_again(outcome: Outcome) -> None:
    assert of_response(Place(SITE), task(), response(outcome, 404), NOW + 60, RULES).visit.retry_at is None


def test_a_retry_never_comes_before_the_site_may_be_asked() -> None:
    visit = of_response(Place(SITE), task(), response(Outcome.TIMEOUT, 0), NOW - 500, RULES).visit
    assert visit.retry_at == NOW


def test_nothing_raw_is_kept_where_no_response_came() -> None:
    assert of_response(Place(SITE), task(), response(Outcome.TIMEOUT, 0), NOW, RULES).response is None
    assert of_response(Place(SITE), task(), response(Outcome.GONE, 404), NOW, RULES).response is not None


@pytest.mark.parametrize(
    ("location", "outcome", "target", "found"),
    [
        ("/b", Outcome.REDIRECT, "http://a.test/b", True),
        ("http://a.test/b#x", Outcome.REDIRECT, "http://a.test/b", True),
        ("/no/x", Outcome.REDIRECT, "http://a.test/no/x", True),
        ("http://b.test/", Outcome.REDIRECT, "http://b.test/", False),
        ("/page#x", Outcome.BAD_REDIRECT, "", False),
        ("mailto:a@b.test", Outcome.BAD_REDIRECT, "", False),
        ("http://[", Outcome.BAD_REDIRECT, "", False),
    ],
)
def test_a_redirect_leads_on_or_is_told_why_not(location: str, outcome: Outcome, target: str, found: bool) -> None:
    result = of_response(Place(SITE), task(), response(Outcome.REDIRECT, 301, location=location), NOW, RULES)
    assert (result.visit.outcome, result.visit.target) == (outcome, target)
    assert bool(result.found) is found
    assert (result.visit.reason == "") == (target == "http://a.test/b")
    assert result.row is not None and result.row.outcome == outcome.value


def test_the_target_of_a_redirect_is_as_near_as_its_source_and_one_hop_further() -> None:
    result = of_response(Place(SITE), task(hops=3), response(Outcome.REDIRECT, 301, location="/b"), NOW, RULES)
    (item,) = result.found
    assert (item.depth, item.hops, item.via, item.referrer) == (2, 4, Via.REDIRECT, URL)
    assert list(result.found_keys) == [key64(item.url)]


def test_a_refused_target_is_remembered_with_its_refusal() -> None:
    result = of_response(Place(SITE), task(), response(Outcome.REDIRECT, 301, location="/no/x"), NOW, RULES)
    refusal = result.found[0].refusal
    assert refusal is not None and refusal.rule == "filter.no"


def test_redirects_in_a_row_end() -> None:
    result = of_response(Place(SITE), task(hops=4), response(Outcome.REDIRECT, 301, location="/b"), NOW, RULES)
    assert result.visit.outcome is Outcome.BAD_REDIRECT and not result.found
    assert "more than 4 redirects" in result.visit.reason


@pytest.mark.parametrize(
    ("nested", "problem", "reason"),
    [
        (["http://a.test/b.xml"], "", ""),
        (["http://a.test/b.xml"], "cut off", "only partly read: cut off"),
        ([], "it names no URL", "it names no URL"),
    ],
)
def test_what_kept_us_from_reading_a_sitemap_is_remembered(nested: list[str], problem: str, reason: str) -> None:
    parsed = Parsed(URL, method="sitemap", nested=nested, problem=problem)
    result = of_page(Place(SITE), task(kind=Kind.SITEMAP), response(Outcome.DOCUMENT), parsed, RULES)
    assert (result.visit.outcome, result.visit.reason) == (Outcome.RESOURCE, reason)


def page(**more: object) -> Parsed:
    return Parsed(URL, text="the text", content_hash="h", media_type="text/html", method="main", **more)


def test_a_page_is_a_document_with_its_new_links() -> None:
    follow = ["http://a.test/new", "http://a.test/seen"]
    links = [Link(url) for url in follow]
    parsed = page(follow=follow, follow_keys=keys_of(follow), links=links)
    result = of_page(Place(SITE), task(), response(Outcome.DOCUMENT), parsed, RULES)
    assert (result.visit.outcome, result.visit.content_hash) == (Outcome.DOCUMENT, "h")
    assert [(item.url, item.depth, item.referrer) for item in result.found] == [("http://a.test/new", 3, URL)]
    assert list(result.links) == links
    assert result.row is not None and (result.row.text, result.row.links, result.row.worker) == ("the text", 2, "w1")


def test_a_noindex_page_keeps_its_links_and_nothing_of_its_text() -> None:
    follow = ["http://a.test/new"]
    parsed = page(noindex=True, follow=follow, follow_keys=keys_of(follow), description="d", headings=["h"])
    result = of_page(Place(SITE), task(), response(Outcome.DOCUMENT), parsed, RULES)
    assert (result.visit.outcome, result.visit.content_hash) == (Outcome.NOINDEX, "")
    assert result.row is not None and result.response is None
    assert (result.row.text, result.row.description, result.row.headings) == (None, None, None)
    assert [item.url for item in result.found] == follow


def test_a_noarchive_page_loses_only_its_raw_response() -> None:
    result = of_page(Place(SITE), task(), response(Outcome.DOCUMENT), page(noarchive=True), RULES)
    assert result.response is None and result.visit.outcome is Outcome.DOCUMENT
    assert result.row is not None and result.row.text == "the text"


@pytest.mark.parametrize(
    ("canonical", "joined"),
    [
        ("http://a.test/other", True),
        (URL, False),
        ("http://b.test/", False),
        ("http://a.test/no/x", False),
        ("", False),
    ],
)
def test_a_canonical_link_counts_inside_the_scope(canonical: str, joined: bool) -> None:
    result = of_page(Place(SITE), task(), response(Outcome.DOCUMENT), page(canonical=canonical), RULES)
    assert result.visit.canonical == (canonical if joined else "")
    assert [item.via for item in result.found] == ([Via.CANONICAL] if joined else [])


@pytest.mark.parametrize(
    ("own", "other", "joined"),
    [
        ("de", "en", False),
        ("zh-tw", "zh-cn", False),
        ("en-gb", "en-us", True),
        ("de", "de", True),
        ("", "en", True),
        ("x-default", "en", True),
    ],
)
def test_a_translation_is_a_page_of_its_own_though_its_canonical_link_names_another_language(
    own: str, other: str, joined: bool
) -> None:
    canonical = "http://a.test/other"
    alternates = [(language, url) for language, url in ((own, URL), (other, canonical)) if language]
    parsed = page(canonical=canonical, alternates=alternates)
    result = of_page(Place(SITE), task(), response(Outcome.DOCUMENT), parsed, RULES)
    assert result.visit.canonical == (canonical if joined else "")


def test_the_languages_of_a_page_are_kept_with_their_urls() -> None:
    parsed = page(alternates=[("de", "http://a.test/de"), ("x-default", URL)])
    result = of_page(Place(SITE), task(), response(Outcome.DOCUMENT), parsed, RULES)
    assert result.row is not None
    assert result.row.alternates == ["de http://a.test/de", f"x-default {URL}"]
    plain = of_page(Place(SITE), task(), response(Outcome.DOCUMENT), page(), RULES)
    assert plain.row is not None
    assert plain.row.alternates is None


def test_a_meta_refresh_is_a_redirect_and_one_to_itself_is_none() -> None:
    away = of_page(Place(SITE), task(), response(Outcome.DOCUMENT), page(refresh="http://a.test/b"), RULES)
    assert (away.visit.outcome, away.visit.target) == (Outcome.REDIRECT, "http://a.test/b")
    here = of_page(Place(SITE), task(), response(Outcome.DOCUMENT), page(refresh=URL), RULES)
    assert here.visit.outcome is Outcome.DOCUMENT


def test_what_cannot_be_read_says_why() -> None:
    failed = of_page(Place(SITE), task(), response(Outcome.DOCUMENT), Parsed(URL, ok=False, problem="too deep"), RULES)
    assert (failed.visit.outcome, failed.visit.reason) == (Outcome.PARSE_FAILED, "too deep")
    unread = Parsed(URL, ok=False, problem="a picture", unsupported=True)
    other = of_page(Place(SITE), task(), response(Outcome.DOCUMENT), unread, RULES)
    assert (other.visit.outcome, other.visit.reason) == (Outcome.UNSUPPORTED_TYPE, "a picture")


def test_a_sitemap_is_a_resource_and_its_urls_are_one_link_away() -> None:
    urls = ["http://a.test/1", "http://a.test/seen"]
    parsed = Parsed(URL, method="sitemap", entries=[Entry(url) for url in urls], follow=urls,
                    follow_keys=keys_of(urls), nested=["http://a.test/more.xml"])  # fmt: skip
    result = of_page(Place(SITE), task(kind=Kind.SITEMAP), response(Outcome.DOCUMENT), parsed, RULES)
    assert result.visit.outcome is Outcome.RESOURCE
    assert [(item.url, item.kind, item.depth) for item in result.found] == [
        ("http://a.test/1", Kind.PAGE, 1),
        ("http://a.test/more.xml", Kind.SITEMAP, 0),
    ]
    deep = of_page(Place(SITE), task(hops=4, kind=Kind.SITEMAP), response(Outcome.DOCUMENT), parsed, RULES)
    assert [item.kind for item in deep.found] == [Kind.PAGE], "indexes of indexes end, too"


def feed(*published: float | None) -> Parsed:
    urls = [f"http://a.test/{number}" for number in range(len(published))]
    entries = [Entry(url, at) for url, at in zip(urls, published, strict=True)]
    return Parsed(URL, method="feed", entries=entries, follow=urls, follow_keys=keys_of(urls))


def test_what_a_feed_names_is_found_by_it() -> None:
    result = of_page(Place(SITE), task(kind=Kind.FEED), response(Outcome.DOCUMENT), feed(500.0, None), RULES)
    assert result.visit.outcome is Outcome.RESOURCE
    assert [(item.via, item.depth) for item in result.found] == [(Via.FEED, 1)] * 2
    assert list(result.visit.listed) == [500.0]


def test_only_what_a_feed_lists_while_we_watch_it_is_announced() -> None:
    first = of_page(Place(SITE), task(kind=Kind.FEED), response(Outcome.DOCUMENT), feed(500.0), RULES)
    assert first.found[0].announced_at is None, "it may have been there for years"
    again = msgspec.structs.replace(task(kind=Kind.FEED), checked_at=400.0)
    later = of_page(Place(SITE), again, response(Outcome.DOCUMENT), feed(500.0), RULES)
    assert later.found[0].announced_at == 500.0


@pytest.mark.parametrize(
    ("depth", "page_type", "feeds"),
    [(0, "article", 1), (1, "listing", 1), (1, "article", 0), (3, "listing", 0)],
)
def test_feeds_are_taken_from_start_pages_and_lists_near_them(depth: int, page_type: str, feeds: int) -> None:
    parsed = page(page_type=page_type, feeds=["http://a.test/feed", "http://a.test/comments/feed", "http://b.test/f"])
    near = msgspec.structs.replace(task(), depth=depth)
    result = of_page(Place(SITE), near, response(Outcome.DOCUMENT), parsed, RULES)
    assert [(item.url, item.kind) for item in result.found] == [("http://a.test/feed", Kind.FEED)] * feeds


def test_links_are_told_to_strategies_that_go_by_them() -> None:
    follow = ["http://a.test/new", "http://a.test/seen"]
    parsed = page(follow=follow, follow_keys=keys_of(follow))
    by_links = msgspec.structs.replace(RULES, goes_by_links=True)
    result = of_page(Place(SITE), task(), response(Outcome.DOCUMENT), parsed, by_links)
    assert list(result.visit.outlinks) == [(key64("a.test"), key64(url)) for url in follow], "known ones, too"
    assert not of_page(Place(SITE), task(), response(Outcome.DOCUMENT), parsed, RULES).visit.outlinks


def test_a_refusal_without_a_request_does_not_count_as_fetched() -> None:
    result = plain_result(Place(SITE), task(), Outcome.ROBOTS_DENIED, refuse("robots", "Disallow: /"), NOW)
    assert (result.visit.fetched, result.visit.rule, result.visit.reason) == (False, "robots", "Disallow: /")
    assert result.row is None and result.response is None


def test_sitemaps_of_robots_txt_are_taken_as_far_as_the_scope_goes() -> None:
    lines = ["http://a.test/map.xml", "http://b.test/map.xml", "/relative", "http://a.test/no/map.xml"]
    found = robots_sitemaps(lines, "http://a.test", RULES, NOW)
    assert [(item.url, item.kind, item.via) for item in found] == [("http://a.test/map.xml", Kind.SITEMAP, Via.ROBOTS)]
    assert len(robots_sitemaps([f"http://a.test/{n}.xml" for n in range(1000)], "http://a.test", RULES, NOW)) == 100
