"""What automatic filters take out of the URL table of a simulated crawl, and what they would lose.

Filters are looked for at some moment of an unfiltered crawl and then held against the table and the links of the
complete one: which of its URLs would never have been known, and to which useful pages no way leads any more. The
proof is the live one (`scope.reachability`), on all links there are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from gossamer.data.stored_links import LinksOf
from gossamer.database.database import Database
from gossamer.database.schema import REFUSED, REMOVED
from gossamer.frontier.steering import filters
from gossamer.frontier.steering.filtered_queue import names
from gossamer.frontier.steering.filters import ACTIVE, WITHDRAWN, StoredFilter
from gossamer.lab.simulation.measures import first_useful
from gossamer.lab.simulation.simulator import Simulated, recorded_links, simulate
from gossamer.lab.webs.web import Floats, Ints, RecordedWeb
from gossamer.model.site import key64
from gossamer.parse.rules import RuleBook
from gossamer.scope.automatic import RULE, FilterConfig, FilterKind
from gossamer.scope.proposals import Groups
from gossamer.scope.reachability import Walk
from gossamer.tables.rulebook import load_rules
from gossamer.upkeep.filters.proposals import seed_proposals
from gossamer.upkeep.filters.run import all_sites, run_filters
from gossamer.upkeep.filters.site_table import SiteTable, read_table
from studies.one_pass import one_pass

STRATEGY = "fit * breadth"
LOOKS = 40
"""Times that filters are looked for in as much time as a crawl without filters takes."""

Pattern = tuple[str, FilterKind, str]
"""Site, kind and pattern of a filter."""

_ROWS = f"""SELECT site_id, found_at, CASE WHEN state = {REFUSED} AND outcome IS NULL THEN rule ELSE '' END, reason
    FROM urls WHERE state <> {REMOVED}"""


class SiteWhole(msgspec.Struct, frozen=True):
    """One site of the complete crawl: its URLs by groups, and its links."""

    useful: npt.NDArray[np.bool_]
    groups: Groups
    walk: Walk


class Found(msgspec.Struct, frozen=True):
    """The filters that the rules would make at one moment of a crawl."""

    known: int
    """URLs in the table."""
    useful: int
    seed: list[Pattern]
    """By the seed's rule alone: no look at ways."""
    ours: list[Pattern]
    """By all our rules, with their checks."""


class Course(msgspec.Struct, frozen=True):
    """A crawl from its beginning to its end."""

    requests: int
    seconds: float
    useful: set[str]
    """The texts of the useful pages that were found."""
    known_at: Ints
    """URLs known when each answer came."""
    known: int
    """At the end."""
    refused: int
    """URLs that filters kept out: rows that say no more than why."""
    live: list[Pattern]
    withdrawn: list[Pattern]


class Complete(msgspec.Struct, frozen=True):
    """An unfiltered crawl: what it did, and its table and filters at the end."""

    course: Course
    found: Found
    sites: dict[str, SiteWhole]


class Removal(msgspec.Struct, frozen=True):
    """What a set of filters does to the table of the complete crawl."""

    filters: int
    removed: int
    """URLs that would never have been known."""
    lost: int
    """Useful pages that are refused, or to which no way leads any more."""


def crawl_whole(web: RecordedWeb, seed: int) -> Complete:
    """Crawl a web without filters to its end."""
    ends: list[_Ending] = []
    found: list[Found] = []
    sites: dict[str, SiteWhole] = {}

    def look(db: Database) -> None:
        ends.append(_ending(db))
        for site, table in _tables(db):
            sites[site] = SiteWhole(table.useful, table.groups, _walk(recorded_links(web), db, table))
        found.append(_look_for_filters(db, recorded_links(web)))

    done = simulate(web, one_pass(web, STRATEGY), seed=seed, at_end=look)
    return Complete(_course(web, done, ends[0]), found[0], sites)


def crawl_part(web: RecordedWeb, pages: int, seed: int) -> Found:
    """The filters that would be made after so many pages of a crawl without filters."""
    found: list[Found] = []

    def look(db: Database) -> None:
        found.append(_look_for_filters(db, recorded_links(web)))

    simulate(web, one_pass(web, STRATEGY), pages=pages, seed=seed, at_end=look)
    return found[0]


def crawl_filtered(web: RecordedWeb, seconds: float, seed: int) -> Course:
    """Crawl a web with filters made on the way; `seconds`: what it takes without."""
    ends: list[_Ending] = []
    usual = one_pass(web, STRATEGY, filters=True)
    settings = replace(usual, filters=replace(usual.filters, every=seconds / LOOKS))
    done = simulate(web, settings, seed=seed, at_end=lambda db: ends.append(_ending(db)))
    return _course(web, done, ends[0])


def removal(whole: Complete, patterns: Sequence[Pattern]) -> Removal:
    """What filters, found whenever, do to the table of the complete crawl."""
    removed = lost = 0
    for site, one in whole.sites.items():
        cut = np.zeros(len(one.useful), bool)
        for _, kind, pattern in (found for found in patterns if found[0] == site):
            group = one.groups.find(kind, pattern)
            if group is not None:
                cut[one.groups.members(group)] = True
        removed += int((cut & ~one.useful).sum())
        lost += len(one.walk.without(cut).lost) + int((cut & one.useful).sum())
    return Removal(len(patterns), removed, lost)


def _tables(db: Database) -> Iterable[tuple[str, SiteTable]]:
    fits = RuleBook(load_rules(db)).fits
    for (site,) in db.execute("SELECT name FROM sites ORDER BY name"):
        yield site, read_table(db, site, fits)


def _walk(links_of: LinksOf, db: Database, table: SiteTable) -> Walk:
    links = links_of(db, table.site, table.keys, table.segments, FilterConfig().links)
    return Walk(links.graph(table.leads, table.first_found), table.roots, table.useful)


def _look_for_filters(db: Database, links_of: LinksOf) -> Found:
    config = FilterConfig()
    known = useful = 0
    seed: list[Pattern] = []
    for site, table in _tables(db):
        known += len(table.keys)
        useful += int(table.useful.sum())
        seed += [(site, one.kind, one.pattern) for one in seed_proposals(table, config)]
    run_filters(links_of, db, config, 0.0, all_sites(db, config), propose_only=True)
    ours = _patterns(row for row in filters.list_filters(db) if row.state != WITHDRAWN)
    return Found(known, useful, seed, ours)


class _Ending(msgspec.Struct, frozen=True):
    """The table when a crawl is over."""

    entered: Floats
    """When URLs became known."""
    left: Floats
    """When filters took some of them out again."""
    refused: int
    live: list[Pattern]
    withdrawn: list[Pattern]


def _ending(db: Database) -> _Ending:
    made = filters.list_filters(db)
    of_site: dict[int, list[StoredFilter]] = defaultdict(list)
    for row in made:
        of_site[key64(row.site)].append(row)

    def live_since(site_id: int, reason: str) -> float:
        return next((row.changed_at for row in of_site[site_id] if names(reason, row.filter)), 0.0)

    entered, left, refused = [], [], 0
    for site_id, found_at, rule, reason in db.execute(_ROWS):
        if not rule:
            entered.append(found_at)
        elif rule.startswith(f"{RULE}."):
            refused += 1
            since = live_since(site_id, reason)
            if found_at < since:  # it waited in the queue when the filter went live
                entered.append(found_at)
                left.append(since)
    return _Ending(
        np.sort(np.array(entered)), np.sort(np.array(left)), refused,
        _patterns(row for row in made if row.state == ACTIVE),
        _patterns(row for row in made if row.state == WITHDRAWN),
    )  # fmt: skip


def _patterns(rows: Iterable[StoredFilter]) -> list[Pattern]:
    return [(row.site, row.kind, row.pattern) for row in rows]


def _course(web: RecordedWeb, done: Simulated, end: _Ending) -> Course:
    rows = done.row[first_useful(web, done.row)].tolist()
    known_at = np.searchsorted(end.entered, done.at, "right") - np.searchsorted(end.left, done.at, "right")
    return Course(
        len(done.row), done.ended_at - done.started_at, {web.text_hash[row] or web.urls[row] for row in rows},
        known_at, len(end.entered) - len(end.left), end.refused, end.live, end.withdrawn,
    )  # fmt: skip
