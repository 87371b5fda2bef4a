"""Why is this page not found? Each fate has its sentence; and what is typed leads to what was meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from gossamer.console.context import Crawl
from gossamer.console.url_data import as_url, life, matches, ranked
from gossamer.data.folder import DataFolder
from gossamer.data.locks import indexer_lock
from gossamer.data.opening import open_frontier
from gossamer.frontier.changes import last_change
from gossamer.frontier.contract import Batch, Place, SiteReport, Visit
from gossamer.frontier.copies import mirror_table
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.steering import controls
from gossamer.index.document import IndexPage, build
from gossamer.index.folder import IndexFolder
from gossamer.index.writer import IndexWriter
from gossamer.model.decision import refuse
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered, Via
from gossamer.model.url import Canonicalizer
from gossamer.operate.takedown import take_down
from gossamer.robots.verdict import RobotsState
from gossamer.search.searcher import Searcher
from gossamer.settings import Settings
from gossamer.testing import FakeClock
from gossamer.web.service import Services

NOW = 1_790_000_000.0
SITE = "a.org"
HOME = "https://a.org/"
NEAR = " ".join(f"word{number}" for number in range(80))


class World:
    """A crawl of one site, its index, and the console's view of both."""

    def __init__(self, data: Path) -> None:
        self.clock = FakeClock(NOW)
        self.settings = Settings()
        self.folder = DataFolder(data)
        self.folder.create()
        self.frontier: SqlFrontier = open_frontier(self.folder, self.settings)
        self.db = self.frontier.db
        self.db.execute("PRAGMA synchronous = OFF")
        self.frontier.add_seeds([Discovered(HOME, Via.SEED)], NOW)
        self.crawl = Crawl(data, lambda: self.settings, Services(Searcher(IndexFolder(self.folder.index))), self.clock)

    def found(self, *paths: str, **fields: object) -> None:
        """Links of the start page."""
        self.frontier.add([Discovered(HOME + path, referrer=HOME, **fields) for path in paths], NOW)

    def visited(self, path: str, outcome: Outcome, **fields: object) -> None:
        """A URL of the site was fetched."""
        self.found(path)
        self.frontier.register("w", NOW)
        [lease] = self.frontier.take("w", NOW, 1, 100)
        task = next(task for task in lease.tasks if task.url == HOME + path)
        visit = Visit(Place(SITE), task, outcome, NOW, **fields)
        report = SiteReport(Place(SITE), lease.token, lease.clock)
        self.frontier.report("w", Batch(f"s{last_change(self.db)}", [visit], sites=[report]), NOW)
        self.frontier.retire("w", NOW - 1000)

    def index(self, *paths: str, position: int | None = None) -> None:
        """An index that holds these pages."""
        folder = IndexFolder(self.folder.index)
        generation = folder.create()
        writer = IndexWriter(folder.tantivy(generation), folder.scratch(generation))
        pages = [IndexPage(url=HOME + path, title=path, text=f"The text of {path}.") for path in paths]
        at = last_change(self.db) if position is None else position
        writer.apply({page.key: build(page) for page in pages}, (), at, NOW)
        writer.close()
        folder.switch(generation)

    def why(self, path: str) -> str:
        """The sentence."""
        return life(self.crawl, path if "//" in path else HOME + path).answer.verdict


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.db.close()


def robots_forbid(world: World) -> None:
    state = RobotsState("rules", "fetched", NOW, NOW + 86_400, body=b"User-agent: *\nDisallow: /p\n", good_at=NOW)
    world.db.execute(
        "INSERT INTO robots (origin, state) VALUES (?, ?)", ("https://a.org", msgspec.msgpack.encode(state))
    )
    world.visited("p", Outcome.ROBOTS_DENIED, fetched=False)


def near_copies(world: World) -> None:
    from gossamer.dedup.near.registry import DEFAULT, near_method

    near = near_method(DEFAULT)
    for path, text in (("p0", NEAR), ("p", f"{NEAR} more")):
        fingerprint = near.fingerprint(text)
        prints = {"fingerprint": fingerprint, "near_keys": near.keys(fingerprint)}
        world.visited(path, Outcome.DOCUMENT, content_hash=path, row=0, **prints)
    world.index("p0", "p")


def mirror(world: World) -> None:
    world.frontier.add([Discovered("https://mirror.org/")], NOW)
    mirror_table.accept(world.db, "mirror.org", "a.org", "https", NOW)


def do(*_done: object) -> None:
    """One thing after the other."""


Make = Callable[[World], None]
FATES: dict[str, tuple[Make, str, str]] = {
    "found": (lambda w: do(w.visited("p", Outcome.DOCUMENT, row=0), w.index("p")), "p", "Readers can find this page."),
    "unknown": (lambda w: w.index(), "p", "no seed, link, sitemap or feed points to it"),
    "unknown, and refused": (lambda w: w.index(), "https://b.org/", "points to it, and scope.host would refuse it"),
    "mirror": (mirror, "https://mirror.org/p", "its site is a mirror, and https://a.org/p represents it"),
    "refused": (
        lambda w: w.found("p.jpg", refusal=refuse("filter.not_document", "no document")), "p.jpg",
        "filter.not_document refused it: no document",
    ),
    "refused no longer": (
        lambda w: w.found("p", refusal=refuse("filter.old", "an old rule")), "p", "no rule refuses it any more",
    ),
    "robots": (robots_forbid, "p", "a.org forbids it: robots.txt forbids /p (Disallow: /p)"),
    "waiting": (lambda w: w.found("p"), "p", "it has not been fetched yet: in the queue; level"),
    "resting": (
        lambda w: do(w.found("p"), w.frontier.block_until(SITE, NOW + 7200, "status 503")), "p",
        "the site waits for 2 h (status 503)",
    ),
    "paused site": (
        lambda w: do(w.found("p"), controls.pause_site(w.db, SITE, "they asked", NOW)), "p",
        "a.org is paused: they asked",
    ),
    "paused crawl": (
        lambda w: do(w.found("p"), controls.pause_crawl(w.db, "holidays", NOW)), "p", "the crawl is paused: holidays",
    ),
    "tried again": (
        lambda w: w.visited("p", Outcome.TIMEOUT, retry_at=NOW + 600), "p", "tried once, next try in 10 min",
    ),
    "failed": (lambda w: w.visited("p", Outcome.GONE, status=404), "p", "its last visit failed: gone: "),
    "redirect": (
        lambda w: do(w.visited("p", Outcome.REDIRECT, target=HOME + "q"), w.index("q")), "p",
        "it redirects to https://a.org/q; readers can find that page",
    ),
    "redirect to nowhere": (
        lambda w: do(w.visited("p", Outcome.REDIRECT, target=HOME + "q"), w.index()), "p",
        "it redirects to https://a.org/q; readers cannot find that page, either",
    ),
    "duplicate": (
        lambda w: do(*[w.visited(path, Outcome.DOCUMENT, content_hash="t", row=0) for path in ("p0", "p")]), "p",
        "it has the same text as https://a.org/p0",
    ),
    "alias": (
        lambda w: do(w.found("q"), w.visited("p", Outcome.DOCUMENT, canonical=HOME + "q", row=0)), "p",
        "it names https://a.org/q as the page that represents it",
    ),
    "noindex": (lambda w: w.visited("p", Outcome.NOINDEX, row=0), "p", "the page itself asks not to be indexed"),
    "feed": (lambda w: w.visited("p", Outcome.RESOURCE, row=0), "p", "it is a sitemap or feed"),
    "no document": (lambda w: w.visited("p", Outcome.UNSUPPORTED_TYPE), "p", "Gossamer has no parser for its type"),
    "removed": (
        lambda w: do(w.found("p"), take_down(w.folder, w.db, w.settings, f"={HOME}p", "a court", NOW)), "p",
        "it was taken down: a court (https://a.org/p, ",
    ),
    "removed before it was seen": (
        lambda w: do(take_down(w.folder, w.db, w.settings, "a.org", "spam", NOW)), "p",
        "it was taken down: spam (the host a.org, ",
    ),
    "no index": (
        lambda w: w.visited("p", Outcome.DOCUMENT, row=0), "p", "it is stored, but the index cannot be searched: ",
    ),
    "index behind": (
        lambda w: do(w.visited("p", Outcome.DOCUMENT, row=0), w.index(position=0)), "p",
        "it is stored, but the index is 1 change behind the crawl: run `gossamer index` to update it",
    ),
    "lost": (
        lambda w: do(w.visited("p", Outcome.DOCUMENT, row=0), w.index()), "p", "the index has lost it: run `gossamer",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fate", FATES)
def test_every_fate_has_its_sentence(world: World, fate: str) -> None:
    make, path, sentence = FATES[fate]
    make(world)
    said = world.why(path)
    assert sentence in said
    beginnings = {"found": "Readers can find this page", "unknown": "Not in this crawl: "}
    assert said.startswith(beginnings.get(fate, "Readers cannot find this page: "))
    assert said.endswith(".") and "\n" not in said


def test_one_of_several_near_copies_is_found_but_not_shown(world: World) -> None:
    near_copies(world)
    assert "results show https://a.org/p in its place" in world.why("p0")
    assert world.why("p") == "Readers can find this page."


def test_a_page_that_was_taken_down_while_the_index_still_holds_it(world: World) -> None:
    world.visited("p", Outcome.DOCUMENT, row=0)
    world.index("p")
    with indexer_lock(world.folder):  # as an indexer that is about to follow
        take_down(world.folder, world.db, world.settings, f"={HOME}p", "a court", NOW)
        assert "can find it for another moment" in world.why("p")
    take_down(world.folder, world.db, world.settings, f"={HOME}p", "a court", NOW)
    assert "it was taken down" in world.why("p")


def test_the_last_visit_is_told_where_nothing_was_stored(world: World) -> None:
    world.visited("p", Outcome.CONNECT_FAILED, retry_at=NOW + 60, reason="refused")
    [visit] = life(world.crawl, HOME + "p").fetches.visits
    assert (visit.outcome, visit.at, visit.segment, visit.is_error) == ("connect_failed", NOW, "", True)
    assert visit.sentence == "no connection to the server: refused"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("https://a.org/p", "https://a.org/p"),
        ("a.org/p", "https://a.org/p"),
        ("a.org", "https://a.org/"),
        ("http://a.org/p#x", "http://a.org/p"),
        ("words of a page", ""),
        ("word", ""),
        ("mailto:x@a.org", ""),
        ("", ""),
    ],
)
def test_a_url_is_told_from_words(typed: str, meant: str) -> None:
    assert as_url(typed, Canonicalizer()) == meant


def test_what_is_typed_leads_to_urls_sites_and_pages(world: World) -> None:
    world.visited("news/one", Outcome.DOCUMENT, row=0)
    world.found("news/two")
    world.index("news/one")
    assert matches(world.crawl, "https://a.org/news/one").exact == HOME + "news/one"
    assert {one.url for one in matches(world.crawl, "a.org/news/").known} == {HOME + "news/one", HOME + "news/two"}
    assert [one.url for one in matches(world.crawl, "WS/TWO").known] == [HOME + "news/two"]
    assert matches(world.crawl, "a.o").sites == [SITE]
    assert [one.url for one in matches(world.crawl, "text").pages] == [HOME + "news/one"]
    assert matches(world.crawl, "100%_!").known == []


def test_a_query_tells_the_place_of_a_page(world: World) -> None:
    world.index("one", "two")
    found = ranked(world.crawl, HOME + "two", "text", None)
    assert found.place in (1, 2) and found.total == 2 and found.why.matches
    missing = ranked(world.crawl, HOME + "two", "nothing-has-this", None)
    assert missing.place is None and not missing.why.matches
