"""What the page of a site shows: why it is asked as often as it is, what its robots.txt says, what it gives.

The reasons are worked out with the functions by which the crawl decides, so that the page cannot tell another story.
"""

from __future__ import annotations

import msgspec

from gossamer.console.context import Crawl
from gossamer.database.database import Database
from gossamer.errors import GossamerError
from gossamer.fetch.identity import AGENT
from gossamer.frontier import partitions, sources, subscriptions
from gossamer.frontier.extraction import Day, extraction_of
from gossamer.frontier.politeness import PolitenessConfig, SiteClock, for_part, gap
from gossamer.frontier.steering import filters
from gossamer.frontier.steering.controls import why_it_rests
from gossamer.frontier.steering.removals import Removal, removal_of
from gossamer.frontier.views import site_view
from gossamer.frontier.views.inspect import stored_robots
from gossamer.frontier.views.known_site import SiteKnowledge, site_knowledge
from gossamer.frontier.views.site_view import Example, Site
from gossamer.model.site import key64, site_of
from gossamer.parse.rules import DocumentRule
from gossamer.partition.assignment import Assignment
from gossamer.robots.rules import Robots, lines_for
from gossamer.robots.verdict import Answer, RobotsState, is_fresh, verdict
from gossamer.search.results import Hit, Request
from gossamer.settings import Settings
from gossamer.tables import scripted
from gossamer.tables.rulebook import rules_for
from gossamer.tables.scripted import Scripted

EXTRACTION_DAYS = 60
"""Days of which it is told how many pages gave no text."""
_HOUR = 3600.0
_TEXT_SHOWN = 20_000
"""Characters of a robots.txt that are shown."""
_SOURCES_SHOWN = 20
_NEWEST_SHOWN = 8
_ANSWERS = {
    Answer.ALLOW: "allows everything",
    Answer.DENY: "allows nothing",
    Answer.WAIT: "allows nothing for now",
}


class RobotsView(msgspec.Struct, frozen=True):
    """The robots.txt of one origin."""

    origin: str
    verdict: str
    """What it means for us, and why."""
    allowed: bool
    """Whether its start page may be fetched."""
    fetched_at: float
    expires_at: float
    fresh: bool
    rules: list[str]
    """The lines of it that we obey."""
    text: str
    """The stored copy, empty where there is none."""
    cut: bool
    crawl_delay: float | None
    sitemaps: list[str]


class Delay(msgspec.Struct, frozen=True):
    """The pause between two requests, and who asks for it."""

    seconds: float
    """What is in force."""
    asked: list[tuple[str, float, bool]]
    """Who asks for how much, and whether it counts."""
    times: int
    """By how much trouble makes it longer."""
    parts: int


class SitePage(msgspec.Struct, frozen=True):
    """All of it."""

    site: Site
    state: str
    rests: str
    """What an operator said that keeps it from being asked."""
    removed: Removal | None
    """What took it out as a whole."""
    visited: int | None
    """URLs visited in the last hour, where that is known."""
    robots: list[RobotsView]
    delay: Delay
    failures: dict[str, list[Example]]
    extraction: list[Day]
    scripted: Scripted
    """What rendering cost today, and brought."""
    sources: list[sources.Source]
    more_sources: int
    subscriptions: list[subscriptions.Subscription]
    plan: Assignment | None
    budget: int
    """URLs it may have in the table."""
    rules: tuple[DocumentRule, ...]
    filters: list[filters.StoredFilter]
    asks_javascript: str
    known: SiteKnowledge | None
    """What was learned from its pages."""


def site_page(db: Database, settings: Settings, name: str, now: float) -> SitePage | None:
    """Everything about a site; None where the crawl does not know it."""
    site = site_view.find_site(db, name)
    if site is None:
        return None
    listed = sources.list_sources(db, name)
    access = settings.sites.get(name)
    return SitePage(
        site=site,
        state=site.state(now),
        rests=why_it_rests(db, name),
        removed=removal(db, name),
        visited=site_view.visited_since(db, site, now - _HOUR),
        robots=[one for scheme in ("https", "http") if (one := robots_view(db, settings, f"{scheme}://{name}", now))],
        delay=delay_of(site, settings.polite),
        failures=site_view.failures(db, name),
        extraction=extraction_of(db, name, EXTRACTION_DAYS),
        scripted=scripted.of_site(db, key64(name), now),
        sources=listed[:_SOURCES_SHOWN],
        more_sources=max(0, len(listed) - _SOURCES_SHOWN),
        subscriptions=[one for one in subscriptions.list_all(db) if site_of(one.feed) == name],
        plan=partitions.plan_of(db, name),
        budget=settings.budget.pages_per_site,
        rules=rules_for(db, f"https://{name}/"),
        filters=filters.list_filters(db, name),
        asks_javascript=str(getattr(access, "javascript", "") or ""),
        known=site_knowledge(db, name) if settings.site.learn else None,
    )


def removal(db: Database, name: str) -> Removal | None:
    """What took a whole site out; None where nothing did."""
    return removal_of(db, f"https://{name}/") or removal_of(db, f"http://{name}/")


def robots_view(db: Database, settings: Settings, origin: str, now: float) -> RobotsView | None:
    """What is known of an origin's robots.txt; None where it was never asked for."""
    stored = stored_robots(db, origin)
    if stored is None:
        return None
    state = msgspec.msgpack.decode(stored, type=RobotsState)
    said = verdict(state, now, settings.robots)
    rules = Robots(state.body, AGENT)
    if said.answer is Answer.ASK_RULES:
        meaning = "its rules decide" if rules.has_rules else "no rule for Gossamer; allows everything"
        allowed = rules.decide(f"{origin}/").allowed
    else:
        meaning, allowed = _ANSWERS[said.answer], said.answer is Answer.ALLOW
    text = state.body.decode("utf-8", "replace")
    return RobotsView(
        origin=origin,
        verdict=f"{meaning} ({said.reason})",
        allowed=allowed,
        fetched_at=state.fetched_at,
        expires_at=state.expires_at,
        fresh=is_fresh(state, now),
        rules=lines_for(state.body, AGENT),
        text=text[:_TEXT_SHOWN],
        cut=len(text) > _TEXT_SHOWN,
        crawl_delay=rules.crawl_delay,
        sitemaps=rules.sitemaps,
    )


def delay_of(site: Site, config: PolitenessConfig) -> Delay:
    """How long a site's workers wait between two requests, and because of whom."""
    parts = max(1, len(site.parts))
    rules = for_part(config, parts)
    clock = SiteClock(crawl_delay=site.crawl_delay, least_delay=site.least_delay)
    calm = gap(clock, rules)
    asked = [("the settings (politeness.delay)", gap(SiteClock(), rules))]
    if site.crawl_delay:
        asked.append(("Crawl-delay of its robots.txt", min(site.crawl_delay, config.crawl_delay_cap) * parts))
    if site.least_delay:
        asked.append(("an operator's limit", site.least_delay * parts))
    troubled = gap(msgspec.structs.replace(clock, trouble=site.trouble), rules)
    return Delay(
        seconds=troubled,
        asked=[(who, seconds, seconds == calm) for who, seconds in asked],
        times=round(troubled / calm) if calm else 1,
        parts=parts,
    )


def newest_documents(crawl: Crawl, name: str) -> list[Hit]:
    """The newest documents of a site that can be searched; none where the index cannot be asked now."""
    try:
        request = Request(query=f"site:{name}", sort="date", size=_NEWEST_SHOWN)
        return list(crawl.services.search.search(request).hits)
    except GossamerError:
        return []
