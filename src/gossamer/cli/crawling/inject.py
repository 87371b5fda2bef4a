"""`gossamer inject`: more seeds, also into a running crawl."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from gossamer.cli.common import (
    DEFAULT_DATA,
    Data,
    Debug,
    Json,
    Seeds,
    check_seeds,
    operator_name,
    out,
    print_json,
)
from gossamer.clock import SystemClock
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.data.opening import open_frontier
from gossamer.discover.seeds import read_seeds
from gossamer.errors import UsageError
from gossamer.model.records import Kind
from gossamer.model.url import Canonicalizer
from gossamer.supervise.schemes import choose_schemes
from gossamer.supervise.seeding import add_seeds, check_addresses
from gossamer.tables.audit import note


def command(
    *seeds: Seeds,
    data: Data = DEFAULT_DATA,
    seeds_from: Annotated[list[Path] | None, Parameter(name="--seeds", negative="", consume_multiple=False)] = None,
    sitemap: Annotated[bool, Parameter(negative="")] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Add seeds to a crawl. Running workers see them within seconds.

    Parameters
    ----------
    seeds
        URLs or host names; `-` reads them from standard input.
    seeds_from
        A file with one seed per line.
    sitemap
        Treat the URLs as sitemaps.
    """
    check_seeds(seeds, "inject")
    settings = settings_of_crawl(data)
    named = read_seeds(seeds, seeds_from or [], sys.stdin, Canonicalizer(settings.urls))
    found, _ = choose_schemes(named, settings)
    if not found:
        raise UsageError("no seeds to inject: name a URL, or a file with --seeds")
    check_addresses(found, settings, data)
    folder = DataFolder(data)
    folder.create()
    frontier = open_frontier(folder, settings)
    try:
        now = SystemClock().now()
        added = add_seeds(frontier, settings, found, now, Kind.SITEMAP if sitemap else Kind.PAGE)
        words = " ".join([*seeds, *map(str, seeds_from or [])])
        note(frontier.db, now, operator_name(), "inject", words, f"{added.new} new, {added.refused} refused")
    finally:
        frontier.db.close()
    if json:
        print_json(added)
    else:
        again = f" The crawl fetches {added.again} of the known ones again now." if added.again else ""
        out.print(f"{added.new} new, {added.known} already known, {added.refused} refused.{again}")
