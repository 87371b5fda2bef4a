"""What a worker has its parsers know about sites, while several of its tasks ask for it at once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

from gossamer.crawl.live_rules import LiveRules
from gossamer.frontier.contract import KnownFacts
from gossamer.settings import Settings


class Frontier:
    """A frontier that knows something of every site, and is as slow as a database."""

    async def facts_since(self, known: Mapping[str, int]) -> dict[str, KnownFacts]:
        await asyncio.sleep(0)
        return {site: KnownFacts(1, b"") for site, version in known.items() if version < 1}

    async def prefer(self, news: Mapping[str, KnownFacts]) -> list[str]:
        await asyncio.sleep(0)
        return []


class Parsers:
    """Keeps what the parsers know."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def know(self, site: str, known: KnownFacts) -> None:
        self.known.pop(site, None)
        if known.version:
            self.known[site] = known.version


def test_two_tasks_may_forget_the_same_site_at_once() -> None:
    async def crawl() -> dict[str, int]:
        held, parsers = SimpleNamespace(names=["a.test", "b.test"]), Parsers()
        others = cast(Any, SimpleNamespace(clock=None))
        rules = LiveRules(
            Settings(), others, others, others, cast(Any, Frontier()), cast(Any, parsers), cast(Any, held), others,
            others,
        )  # fmt: skip
        await rules.know(["a.test", "b.test"])
        assert parsers.known == {"a.test": 1, "b.test": 1}
        held.names = ["b.test"]
        await asyncio.gather(rules.know(["b.test"]), rules.know(["c.test"]), rules.know(["b.test"]))
        return parsers.known

    known = asyncio.run(crawl())
    assert "a.test" not in known and known["b.test"] == 1
