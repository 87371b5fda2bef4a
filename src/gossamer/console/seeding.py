"""Sites that an operator adds on the console: seeds, as `gossamer inject` takes them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from gossamer.console import changing
from gossamer.console.context import Crawl
from gossamer.console.words import counted
from gossamer.data.opening import open_frontier
from gossamer.discover.seeds import Seed, named_seed
from gossamer.errors import UsageError
from gossamer.frontier.contract import Added
from gossamer.model.records import Kind
from gossamer.model.url import Canonicalizer
from gossamer.settings import Settings, load
from gossamer.supervise.schemes import choose_schemes
from gossamer.supervise.seeding import add_seeds, check_reachable, way_by_file

_MOST = 1000
"""Seeds that are taken at once; a file of more goes to `gossamer inject`."""
_LONGEST = 10.0
"""Seconds for which is tried who answers https: a browser waits."""
_NO_CONTACT = (
    "enter your mail address or web page: webmasters must be able to contact you. Nothing was added"
)  # fmt: skip


class Named(msgspec.Struct, frozen=True):
    """What was added."""

    seeds: list[Seed]
    added: Added
    by_http: list[str] = []
    """A sentence about each that is crawled by http, because https does not answer there."""
    in_force: str = ""
    """When the contact counts, where it is new."""
    contact: str = ""
    """The contact that was written into the settings, where it is new."""


def add(crawl: Crawl, text: str, contact: str, is_sitemap: bool) -> Named:
    """Add what was typed, one URL or host name a line; the contact is kept where the settings have none."""
    settings = crawl.settings()
    seeds = read(text, settings)
    new_contact = contact if not settings.crawl.contact else ""
    # What is refused must leave no trace in the settings.
    _check(seeds, _with_contact(settings, new_contact), crawl.folder.root)
    if new_contact:
        changing.change(crawl, lambda tables: changing.table_of(tables, "crawl").update(contact=new_contact))
        settings = load(crawl.folder.root)
    seeds, by_http = choose_schemes(seeds, settings, _LONGEST)
    seeds = _each_once(seeds)
    frontier = open_frontier(crawl.folder, settings)
    try:
        kind = Kind.SITEMAP if is_sitemap else Kind.PAGE
        added = add_seeds(frontier, settings, seeds, crawl.clock.now(), kind)
    finally:
        frontier.db.close()
    return Named(seeds, added, by_http, changing.bring_into_force(crawl) if new_contact else "", new_contact)


def _with_contact(settings: Settings, contact: str) -> Settings:
    named = msgspec.structs.replace(settings.crawl, contact=contact or settings.crawl.contact)
    return msgspec.structs.replace(settings, crawl=named)


def read(text: str, settings: Settings) -> list[Seed]:
    """The seeds of a text; unlike on the command line, no line ever names a file."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise UsageError("enter a site, such as www.example.org. Nothing was added")
    if len(lines) > _MOST:
        raise UsageError(f"more than {_MOST} seeds at once: use `gossamer inject --seeds FILE`. Nothing was added")
    canonical = Canonicalizer(settings.urls)
    seeds = [named_seed(line, f"line {number}", canonical) for number, line in enumerate(lines, 1)]
    return _each_once(seeds)


def _each_once(seeds: Iterable[Seed]) -> list[Seed]:
    found: dict[str, Seed] = {}
    for seed in seeds:
        found.setdefault(seed.url, seed)
    return list(found.values())


def _check(seeds: list[Seed], settings: Settings, root: Path) -> None:
    """A seed that may not be asked would end every crawl at its start."""
    try:
        check_reachable(seeds, settings, way_by_file(root, settings))
    except UsageError as error:
        if "--contact" in str(error):
            raise UsageError(_NO_CONTACT) from error
        raise UsageError(f"{error}. Then restart the crawl and add the site again. Nothing was added") from error


def told(crawl: Crawl, named: Named) -> str:
    """What was done, and what happens next."""
    added, first = named.added, named.seeds[0].url
    what = first if len(named.seeds) == 1 else counted(len(named.seeds), "seed")
    if added.refused == len(named.seeds):
        return f"Not added: the crawl refuses {what}. Look it up on the URL page to see why."
    known = len(named.seeds) - added.new - added.refused
    sentence = f"Added: {what}." if added.new else f"Already known: {what}."
    if added.new and known > 0:
        sentence = f"Added: {counted(added.new, 'seed')}. Already known: {counted(known, 'seed')}."
    if added.refused:
        sentence += f" {counted(added.refused, 'seed')} refused."
    if named.by_http:
        sentence += f" {_said(named.by_http)}"
    plan = crawl.ask(lambda db: changing.plan_now(crawl, db))
    if plan.working:
        return f"{sentence} {named.in_force or _when(crawl, plan)}"
    if plan.keeper == "always" and plan.entry is not None and plan.entry.paused_at is None:
        return f"{sentence} The crawl starts."
    if plan.entry is not None:
        return f"{sentence} Start the crawl on the overview."
    return f"{sentence} No crawl is running: {changing.how_to_start(crawl)}."


def _said(by_http: list[str]) -> str:
    return by_http[0] if len(by_http) == 1 else f"{len(by_http)} of them do not answer https: crawled by http."


def _when(crawl: Crawl, plan: changing.Plan) -> str:
    """When the crawl that is running asks the new sites: it may have to know changed settings first."""
    changed = changing.waiting_for_restart(crawl)
    if not changed:
        return "The crawl starts fetching it within seconds."
    way = "Restart the crawl" if plan.keeper == "always" else "Stop the running `gossamer crawl` and start it again"
    return f"The running crawl does not use the new values of {', '.join(changed)} yet. {way} to apply them."
