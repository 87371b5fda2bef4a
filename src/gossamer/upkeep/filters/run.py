"""Makes, tries and withdraws automatic filters: a chore.

For each site whose turn it is: count its URLs in columns, let the rules propose, and check proposals and filters
against the stored links (`filters.look`). A filter starts in the shadow: it refuses nothing until enough URLs have
come up that it would have refused, none of them useful. Links take longest to read, so they are read only if a decision
depends on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gossamer.data.stored_links import LinksOf
from gossamer.database.database import Database
from gossamer.frontier.steering import filters
from gossamer.frontier.steering.filters import ACTIVE, OFF, PROPOSED, SHADOW, StoredFilter
from gossamer.frontier.views.sites import sites_with
from gossamer.parse.rules import RuleBook
from gossamer.scope.automatic import FilterConfig
from gossamer.scope.proposals import Proposal, useful_of
from gossamer.scope.reachability import Walk
from gossamer.tables.rulebook import load_rules
from gossamer.upkeep.filters.look import Look, Report
from gossamer.upkeep.filters.proposals import propose
from gossamer.upkeep.filters.site_table import SiteTable, read_table
from gossamer.upkeep.filters.turns import Turns


def run_filters(
    links_of: LinksOf, db: Database, config: FilterConfig, now: float, sites: Sequence[str] | None = None,
    propose_only: bool = False,
) -> Report:  # fmt: skip
    """Check the named sites, or those whose turn it is as far as the allowance lasts; `propose_only` makes filters
    without trying or activating any."""
    report = Report()
    if config.mode == "off" and sites is None:
        return report
    fits = RuleBook(load_rules(db)).fits
    turns: Iterable[str] = Turns(db, config, now).sites() if sites is None else sites
    for site in turns:
        report.sites += 1
        table = read_table(db, site, fits)
        proposals = propose(table, config)
        rows = filters.list_filters(db, site)
        asked_for = sites is not None and (rows or proposals)  # the person wants to know why there is no filter
        if asked_for or _is_worth_it(table, rows, proposals, config):
            links = links_of(db, site, table.keys, table.segments, config.links)
            walk = Walk(links.graph(table.leads, table.first_found), table.roots, table.useful)
            Look(db, table, walk, rows, config, fits, report, now).run(proposals, propose_only)
    return report


def all_sites(db: Database, config: FilterConfig) -> list[str]:
    """Sites with enough URLs for filters."""
    return [name for name, _ in sites_with(db, config.useful + config.known)]


def _is_worth_it(
    table: SiteTable, rows: Sequence[StoredFilter], proposals: Sequence[Proposal], config: FilterConfig
) -> bool:
    """Whether the links must be read: a filter is in the shadow, an active one may be wrong, or a new one possible."""
    made = {(row.kind, row.pattern) for row in rows}
    for row in rows:
        group = table.groups.find(row.kind, row.pattern)
        if row.state in (PROPOSED, SHADOW):
            return True
        if row.state == ACTIVE and group is not None:
            useful = useful_of(table.groups.counts_of(group), table.ruled)
            if useful or table.brought_news(group, row.changed_at):
                return True
    return any(
        (one.kind, one.pattern) not in made and table.seen_enough(one.kind, one.pattern, config) for one in proposals
    )


def switch(db: Database, row: StoredFilter, on: bool, config: FilterConfig, now: float) -> int:
    """Switch a filter on or off for the operator; returns how many URLs left the queue or came back."""
    if on:
        fits = RuleBook(load_rules(db)).fits
        return filters.activate(db, row, fits, config.probe, now, "switched on by the operator", by_operator=True)
    return filters.end(db, row, OFF, now, "switched off by the operator")
