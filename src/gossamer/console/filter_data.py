"""What the filters page tells: what was filtered automatically, on what evidence, and whether that was right.

Whether a filter is right is seen twice. On trial it refuses nothing, and what it would have refused is counted, with
what turned out to be useful. In force, one in `filters.probe` of its URLs is fetched all the same: these probes are
found in the table by the same arithmetic that lets them pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from gossamer.database.database import Database
from gossamer.frontier.steering import filters
from gossamer.frontier.steering.filtered_queue import names
from gossamer.frontier.steering.filters import ACTIVE, OFF, PROPOSED, SHADOW, WITHDRAWN, StoredFilter
from gossamer.frontier.views.site_urls import pages_fetched_after, refused_by, some_pages
from gossamer.model.counts import counted, noun
from gossamer.model.outcome import Outcome
from gossamer.scope.automatic import RULE, SiteFilters, is_probe
from gossamer.scope.proposals import useful_of
from gossamer.scope.shape import path_shape
from gossamer.scope.statistics import Counts

EXAMPLES = 10
_LOOKED_AT = 20_000
"""Rows of a site that are gone through for examples and probes."""

STATES = {
    PROPOSED: ("plain", "new; its trial starts with the next check"),
    SHADOW: ("warn", "on trial: refuses nothing, only counts matches"),
    ACTIVE: ("good", "the crawl does not fetch matching URLs"),
    OFF: ("plain", "switched off by an operator; Gossamer never creates it again"),
    WITHDRAWN: ("bad", "it matched a useful URL or cut off useful pages"),
}
"""How each state looks, and what it means."""


class Row(msgspec.Struct, frozen=True):
    """One filter in the list."""

    stored: StoredFilter
    what: str
    """Which URLs it matches, in words."""
    evidence: str
    """What was known when it was proposed."""
    refused: int
    """URLs of the table that it refuses now."""
    tried: int
    """URLs that it would have refused while on trial."""
    useful: int
    """Of those, the ones that turned out to be useful."""

    @property
    def look(self) -> tuple[str, str]:
        """Kind of badge and meaning of the state."""
        return STATES.get(self.stored.state, ("plain", ""))

    @property
    def trial(self) -> str:
        """Whether it was right on trial."""
        if not self.tried:
            return "no match yet" if self.stored.state in (SHADOW, PROPOSED) else "no trial"
        return f"would have refused {self.tried}, {self.useful} of them useful"


class Example(msgspec.Struct, frozen=True):
    """A URL that a filter matches."""

    url: str
    outcome: str
    """What its last visit came to; empty before the first."""


class Detail(msgspec.Struct, frozen=True):
    """What is told of one filter."""

    row: Row
    sentences: list[str]
    """The evidence, and what was seen since."""
    examples: list[Example]
    probes: list[Example]
    """URLs that were fetched all the same since it is in force."""
    useful_probes: int


class Summary(msgspec.Struct, frozen=True):
    """All filters in a few numbers."""

    states: dict[str, int]
    refused: int
    tried: int
    useful: int


def rows(db: Database, site: str = "") -> list[Row]:
    """All filters, those in force first, then those on trial."""
    refused = filters.refused(db, site)
    found = [_row(one, refused[one.site, one.kind, one.pattern]) for one in filters.list_filters(db, site)]
    order = [ACTIVE, SHADOW, PROPOSED, WITHDRAWN, OFF]
    return sorted(found, key=lambda row: (order.index(row.stored.state), -row.refused, row.stored.site))


def summary(found: Sequence[Row]) -> Summary:
    """What the list comes to."""
    states = Counter(row.stored.state for row in found)
    return Summary(
        {state: states[state] for state in STATES if states[state]},
        sum(row.refused for row in found if row.stored.state == ACTIVE),
        sum(row.tried for row in found),
        sum(row.useful for row in found),
    )


def detail(db: Database, row: Row, probe: int) -> Detail:
    """Everything about one filter."""
    stored = row.stored
    probes, useful = _probes(db, stored, probe) if stored.state == ACTIVE else ([], 0)
    return Detail(row, _sentences(stored), _examples(db, stored), probes, useful)


def _row(stored: StoredFilter, refused: int) -> Row:
    since = stored.evidence.since
    tried = max(since.known, since.visited)
    return Row(
        stored, _what(stored), stored.evidence.sentence(), refused, tried, useful_of(since, stored.evidence.ruled)
    )


def _what(stored: StoredFilter) -> str:
    if stored.kind == "prefix":
        return f"URLs that begin with {stored.pattern}"
    if stored.kind == "shape":
        return f"URLs of the shape {stored.pattern}"
    return f"URLs with the parameter {stored.pattern}"


def _sentences(stored: StoredFilter) -> list[str]:
    evidence = stored.evidence
    useful = "it fits a document rule" if evidence.ruled else "it is a document and not a near-duplicate"
    said = [f"When proposed: {evidence.sentence()}. A URL is useful if {useful}.", _counts(evidence.counts)]
    if evidence.chance:
        said.append(f"Probability that so many URLs of this site are useless by chance: {evidence.chance:.2g}.")
    if evidence.reachable:
        before, after = evidence.steps
        said.append(
            f"All {counted(evidence.reachable, 'useful page')} stay reachable without it "
            f"({counted(evidence.links, 'stored link')} checked), "
            f"on average in {after:g} {'click' if after == 1 else 'clicks'} instead of {before:g}."
        )
    if evidence.note:
        said.append(f"Reason for its state: {evidence.note}.")
    return [sentence for sentence in said if sentence]


def _counts(counts: Counts) -> str:
    if not counts.known:
        return ""
    return (
        f"The crawl had visited {counts.visited} of {counted(counts.known, 'URL')}: "
        f"{counts.documents} {noun(counts.documents, 'was a document', 'were documents')} "
        f"({counts.near} of them {noun(counts.near, 'a near-duplicate', 'near-duplicates')}), "
        f"{counts.duplicates} {noun(counts.duplicates, 'was a duplicate', 'were duplicates')}, "
        f"{counts.failed} failed."
    )


def _examples(db: Database, stored: StoredFilter) -> list[Example]:
    """URLs that it refuses, or would."""
    if stored.state == ACTIVE:
        found = refused_by(db, stored.site, f"{RULE}.{stored.kind}", _LOOKED_AT)
        refused = [Example(url, outcome or "") for url, outcome, reason in found if names(reason, stored.filter)]
        return refused[:EXAMPLES]
    matching = SiteFilters([stored.filter])
    found = some_pages(db, stored.site, _LOOKED_AT)
    return [Example(url, outcome or "") for url, outcome in found if matching.match(path_shape(url))][:EXAMPLES]


def _probes(db: Database, stored: StoredFilter, probe: int) -> tuple[list[Example], int]:
    """What was fetched all the same since the filter is in force, and how much of it was useful."""
    matching = SiteFilters([stored.filter])
    probes, useful = [], 0
    for url, outcome, joined, fit in pages_fetched_after(db, stored.site, stored.changed_at, _LOOKED_AT):
        if is_probe(url, probe) and matching.match(path_shape(url)) is not None:
            probes.append(Example(url, outcome or ""))
            useful += bool(fit) if stored.evidence.ruled else outcome == Outcome.DOCUMENT.value and not joined
    return probes[:EXAMPLES], useful
