"""What the page of a URL shows: its whole life with reasons, and how a page is looked for.

The reasons are those of `gossamer explain`; the index is asked through the server's own searcher, so that the page
tells what readers see, also where the index is divided.
"""

from __future__ import annotations

import msgspec

from gossamer.console.context import Crawl
from gossamer.console.url_visits import Extracted, Fetches, counting_segments, extracted, fetches
from gossamer.database.database import Database
from gossamer.discover.seeds import parse_seed
from gossamer.errors import GossamerError, UsageError
from gossamer.frontier.changes import last_change
from gossamer.frontier.steering.removals import Removal, removal_of
from gossamer.frontier.views import url_search
from gossamer.frontier.views.inspect import UrlRecord, find_url
from gossamer.frontier.views.stories import Story
from gossamer.frontier.views.url_search import KnownUrl
from gossamer.model.records import Via
from gossamer.model.site import site_of
from gossamer.model.url import Canonicalizer
from gossamer.operate.explain.explanation import Explanation
from gossamer.operate.explain.findable import Indexed
from gossamer.operate.explain.url import add_shy_links, conclude, explain, values_of
from gossamer.search.results import Request, ScoreExplanation, StoredPage

PATIENCE = 2.0
"""Seconds for which segments are looked through for visits."""
LONG_PATIENCE = 20.0
_COPIES_SHOWN = 20
_MATCHES = 20
_PAGE = 100
"""Results that are asked for at once."""
_PAGES = 3

_HOW = {
    Via.SEED.value: "as a seed",
    Via.LINK.value: "by a link",
    Via.SITEMAP.value: "in a sitemap",
    Via.FEED.value: "in a feed",
    Via.REDIRECT.value: "as the target of a redirect",
    Via.CANONICAL.value: "by the canonical link of another page",
    Via.REFRESH.value: "by a refresh of another page",
    Via.ROBOTS.value: "in robots.txt",
    Via.ARCHIVE.value: "in an imported archive",
}


class Life(msgspec.Struct, frozen=True):
    """Everything about a URL."""

    answer: Explanation
    how: str
    """How it was found, in words."""
    fetches: Fetches
    extracted: Extracted | None
    story: Story | None
    indexed: StoredPage | None
    removal: Removal | None
    mirror_of: str
    """The URL of the main site, where its site is a mirror."""

    @property
    def record(self) -> UrlRecord | None:
        """The row of the table."""
        return self.answer.record


def life(crawl: Crawl, text: str, patience: float = PATIENCE) -> Life:
    """The life of a URL, known or not; a `UsageError` where it is none."""
    settings, now = crawl.settings(), crawl.clock.now()
    answer = crawl.ask(lambda db: explain(db, settings, text, now))
    record, url = answer.record, answer.url
    removal = crawl.ask(lambda db: removal_of(db, url))
    ids = crawl.ask(counting_segments)
    add_shy_links(crawl.folder, ids, answer)
    indexed = add_index(crawl, answer)
    until = now + patience
    known = Fetches([], True)
    if record is not None:
        known = fetches(crawl.folder, ids, url, record, lambda: crawl.clock.now() < until)
    brought = None
    if record is not None and removal is None and record.state != "removed":
        brought = crawl.ask(lambda db: extracted(crawl.folder, db, record, settings.parse))
    how = _HOW.get(record.via, record.via) if record is not None else ""
    return Life(answer, how, known, brought, _story(crawl, url), indexed, removal, answer.maps_to)


def add_index(crawl: Crawl, answer: Explanation) -> StoredPage | None:
    """Ask the index, and conclude whether the page can be found."""
    search = crawl.services.search
    found: StoredPage | None = None
    try:
        found = search.page(answer.url)
        target = answer.record.target if answer.record else None
        behind = crawl.ask(last_change) - search.state().position
        index = Indexed(
            found is not None, "", max(0, behind), bool(target) and search.page(str(target)) is not None
        )  # fmt: skip
        answer.index = "in the index" if found is not None else "not in the index"
        answer.fields = values_of(found, crawl.settings()) if found is not None else []
    except GossamerError as error:
        index = Indexed(problem=str(error))
        answer.index = str(error)
    conclude(answer, index)
    return found


def _story(crawl: Crawl, url: str) -> Story | None:
    stories = crawl.services.stories
    try:
        return stories.story(url, _COPIES_SHOWN) if stories is not None else None
    except GossamerError:
        return None


class Ranked(msgspec.Struct, frozen=True):
    """Why a page stands where it stands in the results of a query."""

    query: str
    why: ScoreExplanation
    place: int | None
    """From 1; None where it is not among the first results."""
    total: int
    looked_at: int
    """Results that were looked through."""
    instead: str
    """The near copy that is shown in its place."""


def ranked(crawl: Crawl, url: str, query: str, story: Story | None) -> Ranked:
    """Ask for a query, and look for the page in its results."""
    search = crawl.services.search
    copies = {page.url for page in story.pages} - {url} if story is not None else set()
    place, instead, seen, total = None, "", 0, 0
    for number in range(1, _PAGES + 1):
        results = search.search(Request(query=query, page=number, size=_PAGE, facets=False, literal=True))
        total = results.total
        for hit in results.hits:
            seen += 1
            if hit.url == url:
                place = seen
            elif hit.url in copies and not instead:
                instead, standing = hit.url, seen
        if place is not None or instead or len(results.hits) < _PAGE:
            break
    if place is None and instead:
        place = standing
    explained = search.explain(Request(query=query, literal=True), url)
    return Ranked(query, explained, place, total, seen, instead if instead else "")


class Match(msgspec.Struct, frozen=True):
    """A page that somebody may have meant."""

    url: str
    state: str
    outcome: str
    title: str = ""


class Matches(msgspec.Struct, frozen=True):
    """What was found for a text that somebody typed."""

    exact: str
    """The canonical URL that it is, where it is one that is known."""
    known: list[Match]
    """URLs that contain it."""
    sites: list[str]
    pages: list[Match]
    """Pages whose text answers it."""


def matches(crawl: Crawl, text: str) -> Matches:
    """Known URLs, sites and pages for a URL, a part of one, or words."""
    text = text.strip()[:2000]
    url = as_url(text, Canonicalizer(crawl.settings().urls))

    def ask(db: Database) -> tuple[str, list[KnownUrl], list[str]]:
        if url and find_url(db, url) is not None:
            return url, [], []
        beginning = _of_site(db, url) if url else []
        return "", beginning or url_search.urls_like(db, text, _MATCHES), url_search.sites_like(db, text, 5)

    exact, known, sites = crawl.ask(ask)
    if exact:
        return Matches(exact, [], [], [])
    return Matches("", [Match(one.url, one.state, one.outcome) for one in known], sites, _answers(crawl, text))


def _of_site(db: Database, url: str) -> list[KnownUrl]:
    site = site_of(url)
    return url_search.urls_of(db, site, url[url.index(site) + len(site) :], _MATCHES)


def as_url(text: str, canonical: Canonicalizer) -> str:
    """The URL that a text is, empty where it is none: a word is no host."""
    if not text or any(character.isspace() for character in text):
        return ""
    if "//" not in text and "." not in text and ":" not in text:
        return ""
    try:
        return parse_seed(text, "URL", canonical)
    except UsageError:
        return ""


def _answers(crawl: Crawl, text: str) -> list[Match]:
    try:
        hits = crawl.services.search.search(Request(query=text, size=_MATCHES, facets=False)).hits
    except GossamerError:
        return []
    return [Match(hit.url, "done", "document", hit.title.text) for hit in hits]
