"""What a batch changes in the tables, all inside one transaction."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from gossamer.frontier.contract import Batch, Verdict, Visit
from gossamer.frontier.database import Database
from gossamer.frontier.duplicates import lost_its_text
from gossamer.frontier.intake import count_levels, enqueue
from gossamer.frontier.schema import DONE, QUEUED, REFUSED, REMOVED, SCHEDULED
from gossamer.model.outcome import Outcome
from gossamer.model.site import key64, site_of

_UPDATE_URL = """UPDATE urls SET state = ?, attempts = ?, due_at = ?, outcome = ?, reason = ?, rule = ?, status = ?,
    fetched_at = COALESCE(?, fetched_at), target = ?, etag = ?, last_modified = ?, content_hash = ?,
    segment = COALESCE(?, segment), segment_row = COALESCE(?, segment_row)
    WHERE site_id = ? AND key = ? AND state <> ?"""

_JOINED = {Outcome.ALIAS, Outcome.DUPLICATE, Outcome.REDIRECT}
_REFUSALS = {Outcome.REFUSED, Outcome.ROBOTS_DENIED}
_STANDS = {Outcome.DOCUMENT, Outcome.NOT_MODIFIED, Outcome.NOINDEX} | _JOINED


def record_visits(db: Database, batch: Batch, verdicts: Sequence[Verdict], now: float) -> None:
    """Outcomes, queue and schedule, tallies, aliases."""
    rows, leaving, later, aliases = [], [], [], []
    levels: dict[int, int] = defaultdict(int)
    for visit, verdict in zip(batch.visits, verdicts, strict=True):
        site_id = key64(visit.site)
        rows.append(_url_values(visit, verdict, site_id, batch.segment))
        leaving.append((site_id, visit.part, visit.task.level, visit.task.seq))
        levels[visit.task.level] -= 1
        if visit.retry_at is not None:
            later.append((site_id, visit.part, visit.retry_at, visit.task.key))
        if verdict.outcome in _JOINED and verdict.target:
            target_site = key64(site_of(verdict.target))
            aliases.append((target_site, key64(verdict.target), site_id, visit.task.key, verdict.outcome.value))
    db.many(_UPDATE_URL, sorted(rows, key=lambda row: row[-3:-1]))
    db.many("DELETE FROM queue WHERE site_id = ? AND part = ? AND level = ? AND seq = ?", sorted(leaving))
    db.many("INSERT INTO schedule (site_id, part, due_at, key) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", later)
    _join(db, aliases)
    count_levels(db, levels)
    _tally(db, batch.visits, verdicts)
    _wake_aliases(db, batch.visits, verdicts, now)


def _url_values(visit: Visit, verdict: Verdict, site_id: int, segment: str) -> tuple[Any, ...]:
    retry = visit.retry_at is not None
    outcome = verdict.outcome
    state = SCHEDULED if retry else REFUSED if outcome in _REFUSALS else DONE
    kept = outcome is Outcome.NOT_MODIFIED or retry
    task = visit.task
    return (
        state,
        task.attempts + 1 if retry else 0,
        visit.retry_at,
        # An unchanged page is what it was: a document stays one.
        task.previous if outcome is Outcome.NOT_MODIFIED and task.previous else outcome.value,
        visit.reason,
        (visit.rule or outcome.value) if state == REFUSED else None,
        visit.status or None,
        visit.at if visit.fetched else None,
        verdict.target or None,
        task.etag if kept else visit.etag or None,
        task.last_modified if kept else visit.last_modified or None,
        task.content_hash if kept else visit.content_hash if outcome is Outcome.DOCUMENT else None,
        None if kept or visit.row is None else segment,
        None if kept else visit.row,
        site_id,
        task.key,
        REMOVED,
    )


def _join(db: Database, aliases: list[tuple[Any, ...]]) -> None:
    db.many(
        "INSERT INTO aliases (target_site, target_key, site_id, key, outcome) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (target_site, target_key, site_id, key) DO UPDATE SET outcome = excluded.outcome",
        sorted(aliases),
    )


def _tally(db: Database, visits: Sequence[Visit], verdicts: Sequence[Verdict]) -> None:
    """URLs per site and latest outcome, and pages fetched per site."""
    tally: Counter[tuple[int, str]] = Counter()
    fetched: Counter[int] = Counter()
    for visit, verdict in zip(visits, verdicts, strict=True):
        site_id = key64(visit.site)
        fetched[site_id] += visit.fetched
        if verdict.outcome is Outcome.NOT_MODIFIED and visit.task.previous:
            continue
        tally[site_id, verdict.outcome.value] += 1
        if visit.task.previous:
            tally[site_id, visit.task.previous] -= 1
    change_tally(db, tally)
    db.many("UPDATE sites SET fetched = fetched + ? WHERE id = ?", [(n, site) for site, n in sorted(fetched.items())])


def change_tally(db: Database, tally: Counter[tuple[int, str]]) -> None:
    """Add to the number of URLs per site and latest outcome."""
    db.many(
        "INSERT INTO outcomes (site_id, outcome, urls) VALUES (?, ?, ?) "
        "ON CONFLICT (site_id, outcome) DO UPDATE SET urls = outcomes.urls + excluded.urls",
        [(site_id, outcome, n) for (site_id, outcome), n in sorted(tally.items()) if n],
    )


def _wake_aliases(db: Database, visits: Sequence[Visit], verdicts: Sequence[Verdict], now: float) -> None:
    """Pages that leaned on a page which no longer carries them are fetched again."""
    for visit, verdict in zip(visits, verdicts, strict=True):
        if visit.retry_at is not None:
            continue
        woken: list[str] = []
        if verdict.outcome not in _STANDS:
            woken.append(Outcome.ALIAS.value)
        if lost_its_text(visit, verdict):
            woken.append(Outcome.DUPLICATE.value)
        for outcome in woken:
            wake(db, key64(visit.site), visit.task.key, outcome, now)


def wake(db: Database, target_site: int, target_key: int, outcome: str, now: float) -> None:
    """Queue again the pages that were joined to a target by this outcome."""
    rows = db.execute(
        "DELETE FROM aliases WHERE target_site = ? AND target_key = ? AND outcome = ? RETURNING site_id, key",
        (target_site, target_key, outcome),
    )
    for site_id, key in sorted(rows):
        requeue(db, site_id, [key], now, keep_alias=outcome == Outcome.ALIAS.value)


def requeue(db: Database, site_id: int, keys: Sequence[int], now: float, keep_alias: bool = False) -> int:
    """Put finished URLs of a site back into the queue; those already waiting stay where they are."""
    ready = []
    for key in keys:
        rows = db.execute(
            "UPDATE urls SET state = ?, attempts = 0, due_at = NULL, keep_alias = CASE WHEN ? THEN 1 ELSE keep_alias END "
            "WHERE site_id = ? AND key = ? AND state IN (?, ?) RETURNING level, part",
            (QUEUED, keep_alias, site_id, key, DONE, REFUSED),
        )
        ready.extend((part, level, key) for level, part in rows)
    not_before = db.execute("SELECT not_before FROM sites WHERE id = ?", (site_id,))[0][0] if ready else 0.0
    for part in sorted({part for part, _, _ in ready}):
        enqueue(db, site_id, part, [(level, key) for p, level, key in ready if p == part], now, not_before)
    return len(ready)


def record_sites(db: Database, batch: Batch) -> None:
    """Politeness clocks of sites and addresses, robots.txt states."""
    db.many(
        "UPDATE sites SET crawl_delay = ?, trouble = ?, not_before = ?, wait_reason = ?, "
        "address = CASE WHEN ? = '' THEN address ELSE ? END WHERE id = ?",
        [
            (s.clock.crawl_delay, s.clock.trouble, s.clock.not_before, s.clock.reason, s.address, s.address, key64(s.site))
            for s in batch.sites
        ],
    )
    db.many(
        "UPDATE addresses SET not_before = ? WHERE address = ?",
        [(not_before, address) for address, not_before in batch.addresses],
    )
    db.many(
        "INSERT INTO robots (origin, state) VALUES (?, ?) ON CONFLICT (origin) DO UPDATE SET state = excluded.state",
        batch.robots,
    )
