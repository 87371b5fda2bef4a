"""`gossamer crawl uni.edu`: https, or http where https does not answer.

Only a connection is made, by the rules of the crawl (allowed addresses, certificates), and no request: whoever answers
https is crawled by https, whatever it then says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from gossamer.clock import SystemClock
from gossamer.discover.seeds import Seed
from gossamer.fetch.connect import Connector
from gossamer.fetch.dns import DnsConfig, Resolver
from gossamer.fetch.guard import AddressPolicy
from gossamer.fetch.limits import Trouble
from gossamer.fetch.request import target_of
from gossamer.model.outcome import Outcome
from gossamer.settings import Settings

_AT_ONCE = 32
"""Hosts that are tried at the same time."""
_LONGEST = 60.0
"""Seconds for all of them."""


def choose_schemes(
    seeds: Sequence[Seed], settings: Settings, longest: float = _LONGEST
) -> tuple[list[Seed], list[str]]:  # fmt: skip
    """The seeds, those without a scheme by the one that answers; and a sentence about each that is http now. What was
    not tried after `longest` seconds stays https."""
    guessed = [seed for seed in seeds if seed.guessed]
    if not guessed or settings.fetch.proxy:  # a proxy answers for everybody
        return list(seeds), []
    plain = asyncio.run(_plain_ones(guessed, settings, longest))
    chosen = [
        msgspec.structs.replace(seed, url=_by_http(seed.url)) if seed.guessed and seed.url in plain else seed
        for seed in seeds
    ]
    said = [f"Crawling {_by_http(url)}, because https failed: {why}." for url, why in plain.items()]
    return chosen, said


async def _plain_ones(seeds: Sequence[Seed], settings: Settings, longest: float) -> dict[str, str]:
    """URLs that answer by http only, each with what https ended in."""
    clock, guard = SystemClock(), AddressPolicy(settings.network.allow, settings.crawl.contact)
    resolver = Resolver(DnsConfig(overrides=settings.network.resolve), guard, clock)
    connector = Connector(settings.fetch, guard, clock)
    room, plain = asyncio.Semaphore(_AT_ONCE), dict[str, str]()

    async def answer(url: str) -> Trouble | None:
        """None where the server takes the connection, else why it does not."""
        target = target_of(url)
        try:
            (await connector.connect(target, await resolver.address_of(target.host))).abort()
        except Trouble as trouble:
            return trouble
        return None

    async def look(url: str) -> None:
        async with room:
            trouble = await answer(url)
            if trouble is not None and _is_silent(trouble.outcome) and await answer(_by_http(url)) is None:
                plain[url] = trouble.reason

    looks = [asyncio.create_task(look(seed.url)) for seed in seeds]
    _, late = await asyncio.wait(looks, timeout=longest)
    for task in late:
        task.cancel()
    await asyncio.gather(*looks, return_exceptions=True)
    return plain


def _is_silent(outcome: Outcome) -> bool:
    """Whether a server may answer by http; a name without an address has none there, either."""
    return outcome.meaning.unreached and outcome is not Outcome.DNS_FAILED


def _by_http(url: str) -> str:
    return "http://" + url.removeprefix("https://")
