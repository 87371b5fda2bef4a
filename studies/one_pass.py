"""Settings of simulated crawls: the defaults, with what a study compares."""

from __future__ import annotations

from msgspec.structs import replace

from gossamer.lab.simulation.settings_of import sites_of
from gossamer.lab.webs.web import RecordedWeb
from gossamer.settings import Settings


def one_pass(web: RecordedWeb, strategy: str, *, filters: bool = False, delay: float = 1.0) -> Settings:
    """A crawl that visits each page of a web once: nothing is fetched again, nothing is refused for its number."""
    usual = Settings()
    return replace(
        usual,
        crawl=replace(usual.crawl, strategy=strategy, linger=0.0),
        scope=replace(usual.scope, hosts=sites_of(web)),
        politeness=replace(usual.politeness, delay=delay),
        filters=replace(usual.filters, mode="on" if filters else "off"),
        revisit=replace(usual.revisit, policy="none"),
        feeds=replace(usual.feeds, poll=False),
    )
