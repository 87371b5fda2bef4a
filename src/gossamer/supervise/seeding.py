"""How seeds enter a crawl, at its start or while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from gossamer.crawl.parser_config import full_chain
from gossamer.crawl.scope import scope_config
from gossamer.database import meta
from gossamer.database.database import Database
from gossamer.discover.seeds import Seed
from gossamer.errors import UsageError
from gossamer.fetch.guard import WAY_IN, AddressPolicy
from gossamer.fetch.identity import AGENT
from gossamer.frontier.contract import Added, CrawlFrontier
from gossamer.frontier.politeness import is_servers_wish
from gossamer.frontier.steering.seed_redirects import chain_from, redirected_sites
from gossamer.frontier.views.inspect import find_url, stored_robots
from gossamer.frontier.views.seed_view import seed_urls
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered, Kind, Via
from gossamer.model.site import host_of, origin_of, site_of
from gossamer.robots.rules import Robots
from gossamer.robots.verdict import Kind as RobotsKind
from gossamer.robots.verdict import RobotsState, asked_again
from gossamer.scope.automatic import RULE as AUTOMATIC
from gossamer.scope.hosts import HostScope
from gossamer.scope.reach import Reach
from gossamer.settings import FILE_NAME, ScopeSettings, Settings
from gossamer.tables import configured


def check_reachable(seeds: Sequence[Seed], settings: Settings, way_in: str = WAY_IN) -> None:
    """A seed that names a private address outright, or has one by the settings, and may not be
    crawled is an error of the command, not of the page. `way_in`: how its network is allowed."""
    policy = AddressPolicy(settings.network.allow, settings.crawl.contact, way_in)
    for seed in seeds:
        host = host_of(site_of(seed.url)).strip("[]")
        address = settings.network.resolve.get(host, "127.0.0.1" if host == "localhost" else host)
        if ":" not in address and not address.replace(".", "").isdigit():
            if not settings.crawl.contact:
                raise UsageError(
                    f"{seed.url}: crawling other machines needs --contact (or crawl.contact in gossamer.toml): "
                    "a mail address or URL by which webmasters can reach you"
                )
            continue
        verdict = policy.check(address)
        if verdict.rule == "address.contact":
            # Both at once: nobody should have to correct the same command twice.
            further = AddressPolicy(settings.network.allow, "somebody", way_in).check(address)
            more = "" if further.allowed else f"; {further.reason}"
            raise UsageError(f"{seed.url}: {verdict.reason}: name one with --contact you@example.org{more}")
        if not verdict.allowed:
            raise UsageError(f"{seed.url}: {verdict.reason}")


def check_addresses(seeds: Sequence[Seed], settings: Settings, data: Path) -> None:
    """Seeds for a later crawl, whose command names the contact: their addresses may be crawled, or this is an error."""
    contact = settings.crawl.contact or "named later"
    named = msgspec.structs.replace(settings, crawl=msgspec.structs.replace(settings.crawl, contact=contact))
    try:
        check_reachable(seeds, named, way_by_file(data, settings))
    except UsageError as error:
        raise UsageError(f"{error}. If a crawl is running, restart it then") from error


def way_by_file(data: Path, settings: Settings) -> str:
    """How a network is allowed where no option can be given: the line of the settings file."""
    path = str(data.absolute() / FILE_NAME).replace("{", "{{").replace("}", "}}")
    allowed = "".join(f'"{network}", ' for network in settings.network.allow)
    return f'to crawl it, write allow = [{allowed}"{{}}"] under [network] in {path}'


def earlier_seeds(database: Database) -> list[Seed]:
    """The seeds of earlier commands that still count: a crawl that goes on with fewer permissions
    than it began with would refuse their sites for good."""
    found = []
    for url in seed_urls(database):
        record = find_url(database, url)
        if record is None or (record.state != "removed" and record.outcome != Outcome.ADDRESS_REFUSED.value):
            found.append(Seed(url, "an earlier seed"))
    return found


class _Noted(msgspec.Struct):
    """What is of interest here in the settings that the last crawl wrote down."""

    scope: ScopeSettings = ScopeSettings()


def readmit(frontier: CrawlFrontier, settings: Settings, now: float) -> None:
    """Where the crawl goes farther than the last one in its folder: queue what only that one's limit refused. To be
    called while the last one's settings are still noted."""
    noted = meta.noted(frontier.db, meta.SETTINGS)
    try:
        last = msgspec.json.decode(noted, type=_Noted).scope if noted else settings.scope
    except msgspec.DecodeError:  # of another version
        return
    before = Reach(last.depth, last.sitemaps)
    if before != settings.reach:
        frontier.readmit(before, now)


def add_seeds(
    frontier: CrawlFrontier, settings: Settings, seeds: Sequence[Seed], now: float, kind: Kind = Kind.PAGE
) -> Added:
    """Make the seeds known, and their hosts part of the scope; those refused are remembered with the reason."""
    sites = [site_of(seed.url) for seed in seeds]
    chain = full_chain(scope_config(settings, frontier.db, sites), settings.scope.rules, frontier.guidance.fits)
    found = []
    for seed in seeds:
        verdict = chain.decide(seed.url, now)
        refusal = None if verdict.allowed or verdict.rule.startswith(AUTOMATIC) else verdict
        found.append(Discovered(seed.url, Via.SEED, _kind_of(seed.url, kind), refusal=refusal))
    return frontier.add_seeds(found, now, _stale_robots(frontier.db, seeds, now))


def _kind_of(url: str, kind: Kind) -> Kind:
    """No page is packed by its author: what ends so is a sitemap."""
    return Kind.SITEMAP if kind is Kind.PAGE and url.endswith(".xml.gz") else kind


def drop_seeds(db: Database, settings: Settings, urls: Sequence[str], now: float) -> None:
    """Take seeds out; what waits of hosts that belong to the crawl only by them is refused at once."""
    sites = {site_of(url) for url in urls} | {site for site, _ in redirected_sites(db)}
    configured.forget_seeds(db, urls)
    config = scope_config(settings, db)
    scope = HostScope(config.mode, config.hosts, config.redirected)
    for site in sorted(sites):
        if not scope.decide(f"http://{site}/", now).allowed:
            configured.ask_now(db, site, now)


def _stale_robots(database: Database, seeds: Sequence[Seed], now: float) -> list[tuple[str, bytes]]:
    """The stored robots.txt files that keep us from a seed, or from where it redirects to, as states that make us ask
    for them anew; not those whose server told us when to come back."""
    stale: dict[str, bytes] = {}
    for url in (url for seed in seeds for url in (seed.url, *chain_from(database, seed.url))):
        origin = origin_of(url)
        stored = stored_robots(database, origin)
        if stored is None or origin in stale:
            continue
        state = msgspec.msgpack.decode(stored, type=RobotsState)
        if not is_servers_wish(state.reason) and _keeps_out(state, url):
            stale[origin] = msgspec.msgpack.encode(asked_again(state, now))
    return list(stale.items())


def _keeps_out(state: RobotsState, url: str) -> bool:
    if state.kind is RobotsKind.RULES:
        return not Robots(state.body, AGENT).decide(url).allowed
    return state.kind is not RobotsKind.ALLOW_ALL
