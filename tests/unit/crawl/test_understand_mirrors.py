"""A URL that waits when its site turns out to be a mirror, and a main site that redirects to its mirror."""

from __future__ import annotations

from gossamer.crawl.understand import Rules, of_mirror, of_response
from gossamer.frontier.contract import Budgets, Place
from gossamer.model.decision import Decision, allow, refuse
from gossamer.model.outcome import Outcome
from gossamer.model.records import Kind, Response, Task, Via
from gossamer.model.url import Canonicalizer

CANONICAL = Canonicalizer(mirrors={"copy.org": "https://main.org"})
SITEMAP = Task("http://copy.org/s.xml", 1, Kind.SITEMAP, 3, 7, 2, 1, 0)


def rules(decision: Decision) -> Rules:
    return Rules(CANONICAL, lambda url, now: decision, lambda key: False, Budgets(), 4, "w1")


def test_it_is_refused_unfetched_and_offered_as_a_page_of_the_main_site() -> None:
    result = of_mirror(Place("copy.org"), SITEMAP, "https://main.org/s.xml", rules(allow("x", "y")), 5.0)
    visit = result.visit
    assert (visit.outcome, visit.rule, visit.reason) == (Outcome.REFUSED, "mirror", "mirror of main.org")
    assert not visit.fetched and visit.retry_at is None
    (found,) = result.found
    assert (found.url, found.via, found.kind) == ("https://main.org/s.xml", Via.REDIRECT, Kind.SITEMAP)
    assert (found.depth, found.hops, found.referrer) == (2, 1, SITEMAP.url), "no step further away"
    assert found.refusal is None and len(result.found_keys) == 1


def test_a_rule_that_refuses_the_page_of_the_main_site_is_remembered_with_it() -> None:
    denied = refuse("filter.deny", "no sitemaps")
    (found,) = of_mirror(Place("copy.org"), SITEMAP, "https://main.org/s.xml", rules(denied), 5.0).found
    assert found.refusal == denied
    foreign = rules(refuse("scope.host", "not one of the hosts"))
    assert list(of_mirror(Place("copy.org"), SITEMAP, "https://main.org/s.xml", foreign, 5.0).found) == []


def redirected(url: str, location: str) -> tuple[Outcome, str]:
    task = Task(url, 1, Kind.PAGE, 3, 7, 2, 0, 0)
    response = Response(url, Outcome.REDIRECT, 1.0, 1.0, 1.0, 301, location=location)
    visit = of_response(Place("x"), task, response, 0.0, rules(allow("x", "y"))).visit
    return visit.outcome, visit.target


def test_a_redirect_to_a_mirror_leads_to_the_main_site_unless_it_comes_from_there() -> None:
    assert redirected("http://page.org/", "http://copy.org/a") == (Outcome.REDIRECT, "https://main.org/a")
    assert redirected("https://main.org/a", "http://copy.org/a") == (Outcome.REDIRECT, "http://copy.org/a")
    assert redirected("https://main.org/a", "http://copy.org/b") == (Outcome.REDIRECT, "https://main.org/b")
    assert redirected("https://main.org/a", "/a#x")[0] is Outcome.BAD_REDIRECT
