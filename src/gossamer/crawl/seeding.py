"""How seeds enter a crawl, at its start or while it runs."""

from __future__ import annotations

from collections.abc import Sequence

from gossamer.crawl.parser_config import full_chain
from gossamer.crawl.scope import scope_config
from gossamer.discover.seeds import Seed
from gossamer.errors import UsageError
from gossamer.fetch.guard import AddressPolicy
from gossamer.frontier.contract import Added
from gossamer.frontier.database import Database
from gossamer.frontier.inspect import find_url
from gossamer.frontier.sql import SqlFrontier
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered, Kind, Via
from gossamer.model.site import host_of, site_of
from gossamer.scope.automatic import RULE as AUTOMATIC
from gossamer.settings import Settings


def check_reachable(seeds: Sequence[Seed], settings: Settings) -> None:
    """A seed that names a private address outright, or has one by the settings, and may not be
    crawled is an error of the command, not of the page."""
    policy = AddressPolicy(settings.network.allow, settings.crawl.contact)
    for seed in seeds:
        host = host_of(site_of(seed.url)).strip("[]")
        address = settings.network.resolve.get(host, "127.0.0.1" if host == "localhost" else host)
        if ":" not in address and not address.replace(".", "").isdigit():
            if not settings.crawl.contact:
                raise UsageError(
                    f"{seed.url}: crawling beyond loopback needs --contact (or crawl.contact in gossamer.toml): "
                    "a mail address or URL that webmasters can reach you at"
                )
            continue
        verdict = policy.check(address)
        if not verdict.allowed:
            option = "--contact MAIL" if verdict.rule == "address.contact" else "--allow-network CIDR"
            raise UsageError(f"{seed.url}: {verdict.reason} ({option})")


def earlier_seeds(database: Database) -> list[Seed]:
    """The seeds of earlier commands that still count: a crawl that goes on with fewer permissions
    than it began with would refuse their sites for good."""
    found = []
    for (url,) in database.execute("SELECT url FROM seeds ORDER BY added_at, url"):
        record = find_url(database, url)
        if record is None or (record.state != "removed" and record.outcome != Outcome.ADDRESS_REFUSED.value):
            found.append(Seed(url, "an earlier seed"))
    return found


def add_seeds(
    frontier: SqlFrontier, settings: Settings, seeds: Sequence[Seed], now: float, kind: Kind = Kind.PAGE
) -> Added:
    """Make the seeds known, and their hosts part of the scope; those refused are remembered with the reason."""
    sites = [site_of(seed.url) for seed in seeds]
    chain = full_chain(scope_config(settings, frontier.db, sites), settings.scope.rules, frontier.guidance.fits)
    found = []
    for seed in seeds:
        verdict = chain.decide(seed.url, now)
        refusal = None if verdict.allowed or verdict.rule.startswith(AUTOMATIC) else verdict
        found.append(Discovered(seed.url, Via.SEED, kind, refusal=refusal))
    return frontier.add_seeds(found, now)
