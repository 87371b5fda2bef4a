"""The simulator equals the live crawler: the same requests in the same order at the same times, on a small web.

The live side has real sockets, parser processes and segments; both sides have the same virtual clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace
from quiet_time import crawl_quietly

from gossamer.data.folder import DataFolder
from gossamer.data.opening import open_frontier
from gossamer.discover.seeds import Seed
from gossamer.lab.simulation.simulator import Simulated, simulate
from gossamer.lab.webs.recorder import record
from gossamer.lab.webs.web import RecordedWeb
from gossamer.model.site import site_of
from gossamer.parse.rules import DocumentRule
from gossamer.settings import Settings
from gossamer.supervise.seeding import add_seeds
from gossamer.tables.rulebook import save_rules
from gossamer.testing import FakeWeb, Site

START = 1_800_000_000.0


def prose(subject: str) -> str:
    return " ".join(f"Sentence {n} tells something about {subject} that stands nowhere else." for n in range(12))


def furnish(site: Site, other: Site) -> None:
    """Everything that sends a crawler another way."""
    site.robots("User-agent: *\nDisallow: /p/7.html\nCrawl-delay: 2\n" + f"Sitemap: {site.url('/sitemap.xml')}\n")
    site.sitemap(["/p/3.html", "/news/one", "/lonely"])
    news = [
        "/news/one",
        "/news/two",
        "/news/copy",
        "/gone",
        "/moved",
        "/away",
        "/hidden",
        "/canonical",
        "/p/7.html",
        other.url(),
    ]
    site.page("/p/1.html", prose("a list"), links=[*news, other.url()])
    site.page("/news/one", prose("the one story"), links=["/news/two"])
    site.page("/news/two", prose("the other story"), links=["/news/one", "/p/5.html"])
    site.page("/news/copy", prose("the one story"), links=["/news/one"])
    site.page("/lonely", prose("nobody"), links=["/news/three"])
    site.page("/news/three", prose("the third story"))
    site.redirect("/moved", "/news/three")
    site.redirect("/away", "http://outside.test/")
    site.page(
        "/hidden", '<html><head><meta name="robots" content="noindex"></head><body>Hidden <a href="/p/9.html">9</a>'
    )
    site.page("/canonical", f'<html><head><link rel="canonical" href="{site.url("/news/two")}"></head><body>Two</body>')


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    with_sites = FakeWeb()
    sites = [with_sites.site(f"{name}.test", pages=25, links=5, seed=n) for n, name in enumerate("abc")]
    for site, other in zip(sites, [*sites[1:], sites[0]], strict=True):
        furnish(site, other)
    with with_sites:
        yield with_sites


def settings_for(web: FakeWeb, strategy: str) -> Settings:
    usual = Settings()
    return replace(
        usual,
        network=replace(usual.network, allow=("127.0.0.0/8",), resolve=web.resolve),
        crawl=replace(usual.crawl, strategy=strategy, linger=60.0),
        politeness=replace(usual.politeness, delay=1.5),
    )


class Both(NamedTuple):
    """A live crawl, and the simulation of its recording."""

    served: list[str]
    """What the servers were asked for."""
    fetched: dict[str, tuple[str, float]]
    """What the live frontier says of each URL: outcome, and seconds since the start."""
    recorded: RecordedWeb
    done: Simulated


def live_crawl(web: FakeWeb, data: Path, settings: Settings, rules: list[DocumentRule]) -> Both:
    folder = DataFolder(data)
    folder.create()
    with closing(folder.open_database()) as db:
        save_rules(db, rules, START)
    frontier = open_frontier(folder, settings)
    with closing(frontier.db) as db:
        add_seeds(frontier, settings, [Seed(site.url(), "test") for site in web.sites.values()], START)
        seen = len(web.log())
        crawl_quietly(settings, folder, frontier, START)
        served = [request.url for request in web.log()[seen:]]
        rows = db.execute("SELECT url, outcome, fetched_at FROM urls WHERE fetched_at IS NOT NULL")
    recorded = record(folder)
    fetched = {url: (outcome, round(at - START, 3)) for url, outcome, at in rows}
    return Both(served, fetched, recorded, simulate(recorded, settings, parse_seconds=0.0))


@pytest.fixture(scope="module", params=["fit * breadth", "opic", "backlinks", "random", "fit * qrank-links"])
def both(request: pytest.FixtureRequest, web: FakeWeb, tmp_path_factory: pytest.TempPathFactory) -> Both:
    rules = [DocumentRule(f"{name}.test", ("/news/{slug}",)) for name in "abc"]
    return live_crawl(web, tmp_path_factory.mktemp("live") / "data", settings_for(web, request.param), rules)


def by_site(urls: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for url in urls:
        found.setdefault(site_of(url), []).append(url)
    return found


def test_a_simulated_crawl_makes_the_requests_of_the_live_one_in_their_order(both: Both) -> None:
    assert len(both.served) > 90
    # Of requests to two sites at the same moment, either may reach its server first.
    assert by_site([url for _, url in both.done.requests]) == by_site(both.served)


def test_a_simulated_crawl_has_the_times_and_outcomes_of_the_live_one(both: Both) -> None:
    done = both.done
    simulated = {
        both.recorded.urls[row]: (outcome.value, round(float(at) - done.started_at, 3))
        for row, outcome, at in zip(done.row.tolist(), done.outcome, done.at, strict=True)
    }
    assert simulated == both.fetched
    assert {"document", "duplicate", "alias", "noindex", "redirect", "gone", "resource"} <= {
        outcome for outcome, _ in simulated.values()
    }
