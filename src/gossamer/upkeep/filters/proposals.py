"""Proposals of filters for a site: by the rule of the papers, by a stronger one, and for parameters that change
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gossamer.scope.automatic import FilterConfig, FilterKind
from gossamer.scope.proposals import Proposal, propose_prefix, propose_yield, tried_of, useful_of
from gossamer.scope.statistics import Counts
from gossamer.upkeep.filters.site_table import SiteTable


def propose(table: SiteTable, config: FilterConfig) -> list[Proposal]:
    """All proposals for a site, each pattern once, the largest first; none that matches a sitemap or feed."""
    found: dict[tuple[str, str], Proposal] = {}
    for one in (*seed_proposals(table, config), *_useless(table, config), *silent_parameters(table, config)):
        group = table.groups.find(one.kind, one.pattern)
        if group is not None and not table.resource[table.groups.members(group)].any():
            found.setdefault((one.kind, one.pattern), one)
    return sorted(found.values(), key=lambda one: -one.counts.known)


def seed_proposals(table: SiteTable, config: FilterConfig) -> list[Proposal]:
    """Proposals by the rule of the papers alone."""
    groups, sums = table.groups, {"/": table.total}
    for group in np.flatnonzero(groups.counts[:, 0] > useful_of(table.total, table.ruled)):
        kind, pattern = table.name_of(int(group))
        if kind == "prefix":
            sums[pattern] = groups.counts_of(int(group))
    return propose_prefix(sums, config, table.ruled)


def _useless(table: SiteTable, config: FilterConfig) -> list[Proposal]:
    return propose_yield(_named_groups(table, config), table.total, config, table.ruled)


def _named_groups(table: SiteTable, config: FilterConfig) -> Iterator[tuple[FilterKind, str, Counts]]:
    """Groups that are large enough and have no useful URL; names cost most, so they come last."""
    for group in np.flatnonzero(table.groups.counts[:, 0] >= config.known).tolist():
        counts = table.groups.counts_of(group)
        useless = not useful_of(counts, table.ruled) and tried_of(counts, table.ruled) >= config.known
        if useless:
            yield (*table.name_of(group), counts)


def silent_parameters(table: SiteTable, config: FilterConfig) -> Iterator[Proposal]:
    """Parameters that never changed the text."""
    for parameter in table.parameters():
        group = table.groups.find("parameter", parameter.name)
        if group is not None and parameter.says_nothing(config.groups):
            yield Proposal("parameter", parameter.name, "parameter", table.groups.counts_of(group), same=parameter.same)
