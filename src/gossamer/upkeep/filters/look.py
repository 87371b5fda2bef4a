"""Checks the filters of one site: active ones, those in the shadow, and new proposals.

A filter is made only if every useful page that was reachable stays so, around this and all existing filters, by paths
that are not much longer; and if enough of its own pages were visited since the last one that led to something useful,
because a path may lead through pages that nobody has seen yet. Active filters come first, then those in the shadow,
then new ones: the first to come has the first claim to a path.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from gossamer.database.database import Database
from gossamer.frontier.steering import filters
from gossamer.frontier.steering.filters import ACTIVE, OFF, PROPOSED, SHADOW, WITHDRAWN, StoredFilter
from gossamer.model.counts import counted, noun
from gossamer.scope.automatic import Evidence, FilterConfig, FilterKind, Fits
from gossamer.scope.proposals import Proposal, useful_of
from gossamer.scope.reachability import Reach, Walk
from gossamer.scope.statistics import Counts
from gossamer.upkeep.filters.proposals import silent_parameters
from gossamer.upkeep.filters.site_table import SiteTable

Flags = npt.NDArray[np.bool_]

_AGAIN = 2
"""A withdrawn filter is proposed again when it covers this many times as many URLs."""


class Report(msgspec.Struct):
    """The result of a run."""

    sites: int = 0
    """Sites that were checked."""
    proposed: list[StoredFilter] = []
    activated: list[StoredFilter] = []
    withdrawn: list[StoredFilter] = []
    rejected: list[StoredFilter] = []
    """Proposals that were rejected, with the reason as note."""
    left: int = 0
    """URLs that left the queue."""
    back: int = 0
    """URLs that returned to the queue."""


class Look:
    """A check of one site."""

    def __init__(
        self, db: Database, table: SiteTable, walk: Walk, rows: Sequence[StoredFilter], config: FilterConfig,
        fits: Fits, report: Report, now: float,
    ) -> None:  # fmt: skip
        self._db, self._table, self._walk, self._config = db, table, walk, config
        self._fits, self._report, self._now = fits, report, now
        self._rows = {(row.kind, row.pattern): row for row in rows}
        self._cut: Flags = np.zeros(len(table.keys), bool)
        self._wanted: Flags = np.zeros(len(table.keys), bool)
        """Patterns of filters that the operator switched off: the same URLs by another name are wanted as well."""
        for row in rows:
            if row.state == OFF:
                self._wanted |= self._mask(row.kind, row.pattern)

    def run(self, proposals: Iterable[Proposal], propose_only: bool) -> None:
        """Check existing filters, then proposals."""
        self._recheck([row for row in self._rows.values() if row.state == ACTIVE])
        waiting = [row for row in self._rows.values() if row.state in (PROPOSED, SHADOW)]
        for row in sorted(waiting, key=lambda row: -row.evidence.counts.known):
            self._try(row, propose_only)
        for proposal in proposals:
            self._consider(proposal, propose_only)

    def _recheck(self, active: list[StoredFilter]) -> None:
        """Withdraw active filters that match something useful now, then, until all useful pages are reachable again,
        those that block most paths. Filters that the operator switched on stay."""
        for row in [row for row in active if not row.evidence.kept]:
            if useful := self._useful(row):
                active.remove(row)
                self._end(row, f"{useful} of its URLs turned out to be useful")
        lost = self._lost(active)
        while lost and (own := [row for row in active if not row.evidence.kept]):
            rests = [(self._lost([row for row in active if row is not one]), one) for one in own]
            lost, worst = min(rests, key=lambda rest: rest[0])
            active.remove(worst)
            self._end(worst, "a path to useful pages leads through it now")
        for row in active:
            self._cut |= self._mask(row.kind, row.pattern)

    def _useful(self, row: StoredFilter) -> int:
        """Useful URLs that a filter matches. With a silent parameter they count as useful without it, too."""
        if row.made_by == "parameter":
            return int(row.pattern not in {one.pattern for one in silent_parameters(self._table, self._config)})
        return useful_of(self._counts(row.kind, row.pattern), self._table.ruled)

    def _lost(self, active: Iterable[StoredFilter]) -> int:
        cut = np.zeros(len(self._cut), bool)
        for row in active:
            cut |= self._mask(row.kind, row.pattern)
        return len(self._walk.without(cut).lost)

    def _try(self, row: StoredFilter, propose_only: bool) -> None:
        """Activate a filter in the shadow, keep it there, or withdraw it."""
        since = self._counts(row.kind, row.pattern) - row.evidence.counts
        row = msgspec.structs.replace(row, evidence=msgspec.structs.replace(row.evidence, since=since))
        useful = self._useful(row)
        if useful:
            self._end(row, f"would have refused {_refusals(since)}, {useful} of them useful")
        elif problem := self._cut_ways(self._reach(row.kind, row.pattern)):
            self._end(row, problem)
        elif not self._seen_enough(row.kind, row.pattern):
            note = "in the shadow until more visits to its pages lead to no useful URL"
            self._keep(row, note)
        else:
            self._cut |= self._mask(row.kind, row.pattern)
            if not propose_only:
                self._promote(row)

    def _promote(self, row: StoredFilter) -> None:
        since, age = row.evidence.since, self._now - row.proposed_at
        note = f"would have refused {_refusals(since)}, none of them useful"
        tried = _refusals(since) if self._table.ruled else since.visited
        enough = tried >= self._config.shadow_urls or age >= self._config.shadow
        if self._config.mode == "on" and row.state == SHADOW and enough:
            self._report.left += filters.activate(self._db, row, self._fits, self._config.probe, self._now, note)
            self._report.activated.append(msgspec.structs.replace(row, state=ACTIVE))
        else:
            self._keep(msgspec.structs.replace(row, state=SHADOW), note)

    def _keep(self, row: StoredFilter, note: str) -> None:
        filters.save(
            self._db, [msgspec.structs.replace(row, evidence=msgspec.structs.replace(row.evidence, note=note))]
        )

    def _consider(self, proposal: Proposal, propose_only: bool) -> None:
        """Turn a proposal into a filter, unless it was made before, adds little, or cuts a path."""
        before = self._rows.get((proposal.kind, proposal.pattern))
        if before is not None and (
            before.state != WITHDRAWN or proposal.counts.known < _AGAIN * before.evidence.counts.known
        ):
            return
        mask = self._mask(proposal.kind, proposal.pattern)
        if int((mask & ~self._cut & ~self._wanted).sum()) < self._config.known:
            return
        reach = self._reach(proposal.kind, proposal.pattern)
        row = self._stored(proposal, reach, SHADOW if not propose_only else PROPOSED)
        if not self._seen_enough(proposal.kind, proposal.pattern):
            problem = (
                f"{row.evidence.dry} of its pages {noun(row.evidence.dry, 'was')} "
                f"visited since the last one that led to a useful URL: too few"
            )
        else:
            problem = self._cut_ways(reach)
        if problem:
            evidence = msgspec.structs.replace(row.evidence, note=problem)
            self._report.rejected.append(msgspec.structs.replace(row, evidence=evidence))
            return
        self._cut |= mask
        filters.save(self._db, [row])
        self._report.proposed.append(row)

    def _cut_ways(self, reach: Reach) -> str:
        """Why a filter must not be made: a path would be cut, or become much longer."""
        if reach.lost:
            return f"{len(reach.lost)} of {counted(reach.useful, 'useful page')} would be out of reach"
        if reach.mean_after > self._config.detour * max(reach.mean_before, 1.0):
            return f"useful pages would be {reach.mean_after:.1f} links away, not {reach.mean_before:.1f}"
        return ""

    def _seen_enough(self, kind: FilterKind, pattern: str) -> bool:
        return self._table.seen_enough(kind, pattern, self._config)

    def _stored(self, one: Proposal, reach: Reach, state: str) -> StoredFilter:
        evidence = Evidence(
            counts=one.counts,
            site=self._table.total,
            ruled=self._table.ruled,
            chance=one.chance,
            same=one.same,
            dry=self._table.dry(one.kind, one.pattern),
            reachable=reach.useful,
            links=self._walk.links,
            steps=(round(reach.mean_before, 2), round(reach.mean_after, 2)),
        )
        made = (one.kind, one.pattern, state, one.made_by)
        return StoredFilter(self._table.site, *made, evidence, self._now, self._now)

    def _end(self, row: StoredFilter, why: str) -> None:
        self._report.back += filters.end(self._db, row, WITHDRAWN, self._now, why)
        self._report.withdrawn.append(row)

    def _counts(self, kind: FilterKind, pattern: str) -> Counts:
        group = self._table.groups.find(kind, pattern)
        return Counts() if group is None else self._table.groups.counts_of(group)

    def _mask(self, kind: FilterKind, pattern: str) -> Flags:
        mask: Flags = np.zeros(len(self._cut), bool)
        group = self._table.groups.find(kind, pattern)
        if group is not None:
            mask[self._table.groups.members(group)] = True
        return mask

    def _reach(self, kind: FilterKind, pattern: str) -> Reach:
        return self._walk.without(self._cut | self._mask(kind, pattern))


def _refusals(since: Counts) -> int:
    """URLs that a filter would have refused since it was proposed: new ones, and waiting ones that were fetched."""
    return max(since.known, since.visited)
