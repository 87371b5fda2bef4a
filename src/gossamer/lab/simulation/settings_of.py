"""Settings of simulated crawls: the defaults, with what a study or an operator wants to compare."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from gossamer.lab.webs.web import RecordedWeb
from gossamer.model.site import site_of
from gossamer.settings import Settings


def sites_of(web: RecordedWeb) -> tuple[str, ...]:
    """The sites that belong to a recording: those of the seeds, and all that were asked for anything."""
    rows = [*web.facts.seeds, *np.flatnonzero(web.fetched).tolist()]
    return tuple(sorted({site_of(web.urls[row]) for row in rows}))


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
