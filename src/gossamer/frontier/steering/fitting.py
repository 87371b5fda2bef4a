"""Checks known URLs against changed document rules, and against what was learned of how documents' URLs look.

New URLs are checked once, as they enter. This goes through the rows of one domain or site: it marks and counts those
that fit a rule, and moves waiting first visits to their new level.
"""

from __future__ import annotations

from typing import NamedTuple

from gossamer.database.database import Database, Row
from gossamer.database.schema import QUEUED, REFUSED, REMOVED
from gossamer.frontier.guidance import Guidance
from gossamer.frontier.knowledge import facts_of
from gossamer.frontier.prefixes import PrefixTally
from gossamer.frontier.queueing import Queue, enqueue
from gossamer.frontier.standing import link_values
from gossamer.model.records import LEVELS, Discovered, Via
from gossamer.priority.levels import levels_of
from gossamer.scope.shape import path_shape

_STEP = 2000
"""Rows changed in one transaction."""


def refit(db: Database, domain: str, guidance: Guidance, now: float) -> tuple[int, int]:
    """Check the known URLs of a domain, or of one host, against the rules; returns how many there are, and how many
    fit."""
    seen = fitting = 0
    sites = db.execute(
        "SELECT id, not_before, name FROM sites WHERE domain = ? OR name = ? OR name LIKE ? ORDER BY id",
        (domain, domain, f"{domain}:%"),
    )
    for site_id, not_before, name in sites:
        guidance.documents.know(name, facts_of(db, name).templates)
        step = Step(None)
        while (step := refit_some(db, SitePlace(site_id, not_before), step.last, guidance, now)).last is not None:
            seen, fitting = seen + step.seen, fitting + step.fitting
    return seen, fitting


class SitePlace(NamedTuple):
    """A site, and when it may be asked again."""

    site_id: int
    not_before: float


class Step(NamedTuple):
    """Some URLs that were checked."""

    last: int | None
    """The key of the last one; None if there were none."""
    seen: int = 0
    fitting: int = 0


def refit_some(db: Database, site: SitePlace, after: int | None, guidance: Guidance, now: float) -> Step:
    """Check the next URLs of a site, by key, in one transaction."""
    rows = db.execute(
        "SELECT key, url, fit, state, outcome, level, lowered, via, depth, part FROM urls "
        "WHERE site_id = ? AND key > ? AND kind = 'page' ORDER BY key LIMIT ?",
        (site.site_id, -(1 << 63) if after is None else after, _STEP),
    )
    if not rows:
        return Step(None)
    verdicts = [bool(guidance.fits(row[1])) for row in rows]
    changed = [(row, fits) for row, fits in zip(rows, verdicts, strict=True) if bool(row[2]) != fits]
    waiting = [row for row in rows if row[3] == QUEUED and row[4] is None and row[7] != Via.SEED.value]
    with db.transaction():
        _note(db, site.site_id, changed)
        _move(db, site.site_id, site.not_before, waiting, guidance, now)
    return Step(rows[-1][0], len(rows), sum(verdicts))


def _note(db: Database, site_id: int, changed: list[tuple[Row, bool]]) -> None:
    tally = PrefixTally()
    for (_, url, _, state, outcome, *_), fits in changed:
        if state not in (REFUSED, REMOVED) or outcome is not None:
            tally.fitted(site_id, path_shape(url), 1 if fits else -1)
    tally.flush(db)
    db.many(
        "UPDATE urls SET fit = ? WHERE site_id = ? AND key = ?", [(int(fits), site_id, row[0]) for row, fits in changed]
    )


def _move(db: Database, site_id: int, not_before: float, waiting: list[Row], guidance: Guidance, now: float) -> None:
    found = [Discovered(row[1], Via(row[7]), depth=row[8]) for row in waiting]
    if not found:
        return
    scores = guidance.strategy.scores(found)
    links = guidance.strategy.links
    if links is not None:
        scores = scores * link_values(db, links, [(site_id, row[0]) for row in waiting])
    moves: dict[int, list[tuple[int, int]]] = {}
    for row, level in zip(waiting, levels_of(scores).tolist(), strict=True):
        key, old, lowered, part = row[0], row[5], row[6], row[9]
        level = min(level + lowered, LEVELS - 1)
        if level != old:
            moves.setdefault(part, []).append((level, key))
    for part, moved in sorted(moves.items()):
        db.many("UPDATE urls SET level = ? WHERE site_id = ? AND key = ?", [(lv, site_id, key) for lv, key in moved])
        enqueue(db, Queue(site_id, part), moved, now, not_before)
