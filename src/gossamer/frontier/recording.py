"""Writes a batch into the tables, all inside one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.database.schema import DONE, QUEUED, REFUSED, REMOVED, SCHEDULED
from gossamer.dedup.near.contract import NearMethod
from gossamer.frontier.contract import Batch, Verdict, Visit
from gossamer.frontier.copies.canonicals import strangers
from gossamer.frontier.copies.duplicates import lost_its_text, stands
from gossamer.frontier.freshness import Planned
from gossamer.frontier.queueing import Queue, count_levels, enqueue, queue_of
from gossamer.frontier.steering import removals
from gossamer.model.outcome import RETRIED, VALIDATED, Outcome
from gossamer.model.records import Task
from gossamer.model.site import key64, site_of

_UPDATE_URL = """UPDATE urls SET state = ?, attempts = ?, due_at = ?, outcome = ?, reason = ?, rule = ?, status = ?,
    fetched_at = COALESCE(?, fetched_at), target = ?, etag = ?, last_modified = ?, content_hash = ?, cluster = ?,
    joined = ?, keep_alias = ?, segment = COALESCE(?, segment), segment_row = COALESCE(?, segment_row),
    checked_at = COALESCE(?, checked_at), change_a = COALESCE(?, change_a), change_b = COALESCE(?, change_b),
    bucket = COALESCE(?, bucket), site_version = ? WHERE site_id = ? AND key = ?"""
_KEEP_URL = """UPDATE urls SET state = ?, attempts = ?, due_at = ?, reason = CASE WHEN ? = 1 AND
    status BETWEEN 200 AND 399 AND reason <> '' AND substr(reason, 1, 10) <> 'status 304' THEN reason ELSE ? END,
    status = ?, fetched_at = COALESCE(?, fetched_at), checked_at = COALESCE(?, checked_at),
    change_a = COALESCE(?, change_a), change_b = COALESCE(?, change_b), bucket = COALESCE(?, bucket)
    WHERE site_id = ? AND key = ?"""
_UNPLANNED = Planned(None, None, None, None, None)


def removed(db: Database, visits: Sequence[Visit]) -> set[int]:
    """Keys of visited URLs that an operator removed, or a new filter refused, while they were fetched."""
    if not db.execute("SELECT 1 FROM removals UNION ALL SELECT 1 FROM filters WHERE state = 'active' LIMIT 1"):
        return set()
    sites: dict[int, list[int]] = {}
    for visit in visits:
        sites.setdefault(key64(visit.site), []).append(visit.task.key)
    keys: set[int] = set()
    for site_id, visited in sorted(sites.items()):
        for chunk in chunks(sorted(visited)):
            sql = f"SELECT key FROM urls WHERE state IN (?, ?) AND site_id = ? AND key IN ({marks(chunk)})"
            keys.update(row[0] for row in db.execute(sql, (REMOVED, REFUSED, site_id, *chunk)))
    _refuse_removed(db, [visit for visit in visits if visit.task.key not in keys])
    return keys


def _refuse_removed(db: Database, visits: Sequence[Visit]) -> None:
    """Visits to URLs that were taken down meanwhile and are still in the table, because they have not left yet or a
    worker that did not know of it added them: they end in a refusal, and nothing of them is kept."""
    out = removals.covered(db)
    for visit in visits if out else ():
        what = out.by(visit.task.url)
        if what is not None and visit.outcome is not Outcome.REFUSED:
            visit.outcome, visit.rule, visit.retry_at = Outcome.REFUSED, f"{removals.RULE}{what}", None
            visit.reason = f"taken down: {removals.words_of(what)}"


def judged_visits(
    visits: Sequence[Visit], verdicts: Sequence[Verdict], gone: Collection[int]
) -> list[tuple[Visit, Verdict, int]]:
    """Visits with their verdicts and the keys of their sites, without URLs that are `gone` from the table."""
    return [
        (visit, verdict, key64(visit.site))
        for visit, verdict in zip(visits, verdicts, strict=True)
        if visit.task.key not in gone
    ]


def record_visits(
    db: Database, judged: Sequence[tuple[Visit, Verdict, int]], segment: str,
    planned: Mapping[tuple[int, int], Planned], now: float,
) -> list[tuple[int, int]]:  # fmt: skip
    """Record outcomes, queue, schedule and next visits, tallies, aliases. Returns site and key of URLs that are no
    documents any more."""
    judged_by_key = sorted(judged, key=lambda one: (one[2], one[0].task.key))
    changed, kept, departed = [], [], []
    for visit, verdict, site_id in judged_by_key:
        plan = planned.get((site_id, visit.task.key), _UNPLANNED)
        if keeps_outcome(visit, verdict):
            kept.append(_kept_values(visit, site_id, plan))
            continue
        changed.append(_url_values(visit, verdict, site_id, segment, plan))
        if visit.task.previous == Outcome.DOCUMENT.value and verdict.outcome is not Outcome.DOCUMENT:
            departed.append((site_id, visit.task.key))
    db.many(_UPDATE_URL, changed)
    db.many(_KEEP_URL, kept)
    db.many(
        "INSERT INTO revisits (site_id, part, due_at, key) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [
            (site_id, visit.place.part, due_at, visit.task.key)
            for visit, _, site_id in judged_by_key
            if (due_at := planned.get((site_id, visit.task.key), _UNPLANNED).due_at) is not None
        ],
    )
    db.many(
        "DELETE FROM queue WHERE site_id = ? AND part = ? AND level = ? AND seq = ?",
        sorted((site_id, visit.place.part, visit.task.level, visit.task.seq) for visit, _, site_id in judged),
    )
    count_levels(db, {level: -n for level, n in Counter(visit.task.level for visit, _, _ in judged).items()})
    db.many(
        "INSERT INTO schedule (site_id, part, due_at, key) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(site_id, v.place.part, v.retry_at, v.task.key) for v, _, site_id in judged_by_key if v.retry_at is not None],
    )
    _pass_depth_on(db, judged_by_key)
    join(db, [one for one in judged_by_key if one[1].outcome.meaning.joined and one[1].target])
    _tally(db, judged)
    _wake_aliases(db, judged, now)
    return departed


def left_clusters(
    visits: Sequence[Visit],
    verdicts: Sequence[Verdict],
    gone: Collection[int],
    before: Mapping[tuple[int, int], tuple[int, bool]],
) -> list[tuple[tuple[int, int], int]]:
    """Visited pages that have left their cluster, with its number."""
    left = []
    for visit, verdict in zip(visits, verdicts, strict=True):
        place = (key64(visit.site), visit.task.key)
        cluster, _ = before.get(place, (None, False))
        stays = visit.task.key in gone or keeps_outcome(visit, verdict)
        if cluster is not None and cluster != verdict.cluster and not stays:
            left.append((place, cluster))
    return left


def keeps_outcome(visit: Visit, verdict: Verdict) -> bool:
    """Whether the URL keeps its outcome: an unchanged page, or one that is tried again soon."""
    if verdict.outcome is Outcome.NOT_MODIFIED:
        return visit.task.previous in VALIDATED
    return visit.retry_at is not None and visit.task.previous != "" and visit.task.previous not in RETRIED


def _kept_values(visit: Visit, site_id: int, plan: Planned) -> tuple[Any, ...]:
    # The reason of a page that its server calls unchanged still holds; that of a failure since then does not.
    unchanged = visit.retry_at is None
    return (
        DONE if unchanged else SCHEDULED, _attempts(visit), visit.retry_at or plan.due_at,
        int(unchanged and visit.status == 304), visit.reason, visit.status or None,
        visit.at if visit.fetched else None, *plan[1:], site_id, visit.task.key,
    )  # fmt: skip


def _url_values(visit: Visit, verdict: Verdict, site_id: int, segment: str, plan: Planned) -> tuple[Any, ...]:
    retry = visit.retry_at is not None
    outcome = verdict.outcome
    state = SCHEDULED if retry else REFUSED if outcome.meaning.refusal else DONE
    read = outcome.meaning.validated and not retry
    task: Task = visit.task
    return (
        state,
        _attempts(visit),
        visit.retry_at if retry else plan.due_at,
        outcome.value,
        visit.reason,
        (visit.rule or outcome.value) if state == REFUSED else None,
        visit.status or None,
        visit.at if visit.fetched else None,
        verdict.target or None,
        (visit.etag or None) if read else None,
        (visit.last_modified or None) if read else None,
        visit.content_hash if outcome is Outcome.DOCUMENT and read else None,
        verdict.cluster,
        None if verdict.joined is None else int(verdict.joined),
        int(task.keep_alias and retry),
        None if retry or visit.row is None else segment,
        None if retry else visit.row,
        *plan[1:],
        visit.site_version,
        site_id,
        task.key,
    )


def _attempts(visit: Visit) -> int:
    return 0 if visit.retry_at is None else visit.task.attempts + 1


def join(db: Database, joined: Sequence[tuple[Visit, Verdict, int]]) -> None:
    """Note which pages represent aliases, redirects and duplicates."""
    db.many(
        "INSERT INTO aliases (target_site, target_key, site_id, key, outcome) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (target_site, target_key, site_id, key) DO UPDATE SET outcome = excluded.outcome",
        sorted(
            (
                key64(site_of(verdict.target)),
                key64(verdict.target),
                site_id,
                visit.task.key,
                verdict.outcome.value,
            )
            for visit, verdict, site_id in joined
        ),
    )


def _pass_depth_on(db: Database, judged: Sequence[tuple[Visit, Verdict, int]]) -> None:
    """The page that represents a start page is one, too, even if links had led to it before."""
    db.many(
        "UPDATE urls SET depth = 0 WHERE site_id = ? AND key = ? AND depth > 0",
        sorted(
            (key64(site_of(verdict.target)), key64(verdict.target))
            for visit, verdict, _ in judged
            if visit.task.depth == 0 and verdict.outcome.meaning.named and verdict.target
        ),
    )


def _tally(db: Database, judged: Sequence[tuple[Visit, Verdict, int]]) -> None:
    """URLs per site and latest outcome, and pages fetched per site."""
    tally: Counter[tuple[int, str]] = Counter()
    fetched: Counter[int] = Counter()
    for visit, verdict, site_id in judged:
        fetched[site_id] += visit.fetched and visit.requested
        if keeps_outcome(visit, verdict):
            continue
        tally[site_id, verdict.outcome.value] += 1
        if visit.task.previous:
            tally[site_id, visit.task.previous] -= 1
    change_tally(db, tally)
    db.many(
        "UPDATE sites SET fetched = fetched + ? WHERE id = ?",
        [(n, site) for site, n in sorted(fetched.items())],
    )


def change_tally(db: Database, tally: Counter[tuple[int, str]]) -> None:
    """Add to the number of URLs per site and latest outcome."""
    db.many(
        "INSERT INTO outcomes (site_id, outcome, urls) VALUES (?, ?, ?) "
        "ON CONFLICT (site_id, outcome) DO UPDATE SET urls = outcomes.urls + excluded.urls",
        [(site_id, outcome, n) for (site_id, outcome), n in sorted(tally.items()) if n],
    )


def _wake_aliases(db: Database, judged: Sequence[tuple[Visit, Verdict, int]], now: float) -> None:
    """Fetch pages again that a page no longer represents."""
    for visit, verdict, site_id in judged:
        if visit.retry_at is not None or keeps_outcome(visit, verdict):
            continue
        task, outcome = visit.task, verdict.outcome
        if not outcome.meaning.leads_on or (outcome is Outcome.REDIRECT and not stands(db, verdict.target, task.url)):
            wake(db, site_id, task.key, Outcome.ALIAS.value, now)
        if lost_its_text(visit, verdict):
            wake(db, site_id, task.key, Outcome.DUPLICATE.value, now)


def wake_strangers(db: Database, method: NearMethod, judged: Sequence[tuple[Visit, Verdict, int]], now: float) -> None:
    """Fetch pages again that named a page before it was read, and whose text is another."""
    read = [
        visit for visit, verdict, _ in judged
        if visit.outcome is Outcome.DOCUMENT and verdict.outcome is not Outcome.ALIAS
        and not verdict.outcome.meaning.refusal and visit.task.previous != Outcome.DOCUMENT.value
    ]  # fmt: skip
    for (site_id, key), target in strangers(db, method, read):
        _let_go(db, *target, site_id, key)
        requeue(db, site_id, [key], now)


def wake(
    db: Database, target_site: int, target_key: int, outcome: str, now: float,
    walked: set[tuple[int, int]] | None = None,
) -> None:  # fmt: skip
    """Queue finished pages again that point to a target by this outcome; aliases also through redirects."""
    walked = walked or set()
    walked.add((target_site, target_key))
    rows = db.execute(
        "SELECT u.site_id, u.key, u.outcome, u.state FROM aliases a "
        "JOIN urls u ON u.site_id = a.site_id AND u.key = a.key "
        "JOIN urls t ON t.site_id = a.target_site AND t.key = a.target_key "
        "WHERE a.target_site = ? AND a.target_key = ? AND u.outcome = a.outcome AND u.target = t.url ORDER BY 1, 2",
        (target_site, target_key),
    )
    for site_id, key, joined_by, state in rows:
        if (site_id, key) in walked:
            continue
        if joined_by == outcome and state == DONE:
            _let_go(db, target_site, target_key, site_id, key)
            requeue(db, site_id, [key], now, keep_alias=outcome == Outcome.ALIAS.value)
        elif joined_by == Outcome.REDIRECT.value and outcome == Outcome.ALIAS.value:
            wake(db, site_id, key, outcome, now, walked)


def _let_go(db: Database, target_site: int, target_key: int, site_id: int, key: int) -> None:
    db.execute(
        "DELETE FROM aliases WHERE target_site = ? AND target_key = ? AND site_id = ? AND key = ?",
        (target_site, target_key, site_id, key),
    )
    db.execute("UPDATE urls SET target = NULL WHERE site_id = ? AND key = ?", (site_id, key))


def requeue(db: Database, site_id: int, keys: Sequence[int], now: float, keep_alias: bool = False) -> int:
    """Put finished URLs of a site back into the queue; those already waiting stay in their places."""
    ready: list[tuple[int, int, int]] = []
    unschedule(db, site_id, keys)
    for key in keys:
        rows = db.execute(
            "UPDATE urls SET state = ?, attempts = 0, due_at = NULL, "
            "keep_alias = CASE WHEN ? = 1 THEN 1 ELSE keep_alias END "
            "WHERE site_id = ? AND key = ? AND state IN (?, ?) RETURNING level, part",
            (QUEUED, keep_alias, site_id, key, DONE, REFUSED),
        )
        ready.extend((part, level, key) for level, part in rows)
    not_before = db.execute("SELECT not_before FROM sites WHERE id = ?", (site_id,))[0][0] if ready else 0.0
    for part in sorted({part for part, _, _ in ready}):
        enqueue(db, Queue(site_id, part), [(level, key) for p, level, key in ready if p == part], now, not_before)
    return len(ready)


def unschedule(db: Database, site_id: int, keys: Sequence[int]) -> None:
    """Plan no further visits of finished URLs."""
    for chunk in chunks(sorted(keys)) if keys else ():
        rows = db.execute(
            "SELECT part, due_at, key FROM urls WHERE due_at IS NOT NULL AND state <> ? AND site_id = ? "
            f"AND key IN ({marks(chunk)})",
            (SCHEDULED, site_id, *chunk),
        )
        db.many(
            "DELETE FROM revisits WHERE site_id = ? AND part = ? AND due_at = ? AND key = ?",
            [(site_id, *row) for row in rows],
        )


def clean_texts(batch: Batch) -> None:
    """Make texts of servers and pages storable in every database: no NUL, no half characters."""
    for visit in batch.visits:
        for name in ("reason", "etag", "last_modified", "published"):
            if not (text := getattr(visit, name)).isprintable():
                setattr(visit, name, _storable(text))
    for site in batch.sites:
        if not site.clock.reason.isprintable():
            site.clock = msgspec.structs.replace(site.clock, reason=_storable(site.clock.reason))


def _storable(text: str) -> str:
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


_NEVER = 1e18
"""Later than any time."""


def record_sites(db: Database, batch: Batch) -> None:
    """Politeness clocks of sites and addresses, robots.txt states. A part's ordinary pauses are its own; trouble is the
    whole site's."""
    db.many(
        "UPDATE parts SET not_before = ? WHERE site_id = ? AND part = ?",
        [(s.clock.not_before, *queue_of(s.place)) for s in batch.sites if s.parts > 1],
    )
    db.many(
        # A later time than the worker's comes from somebody who blocked the site meanwhile.
        "UPDATE sites SET crawl_delay = ?, trouble = CASE WHEN not_before > ? THEN trouble ELSE ? END, "
        "wait_reason = CASE WHEN not_before > ? THEN wait_reason ELSE ? END, "
        "not_before = CASE WHEN not_before > ? THEN not_before ELSE ? END, "
        "address = CASE WHEN ? = '' THEN address ELSE ? END WHERE id = ?",
        [
            (
                s.clock.crawl_delay,
                # A part of a site that met no trouble does not forgive that of another while it lasts.
                s.clock.not_before if s.parts > 1 else _NEVER,
                s.clock.trouble,
                s.clock.not_before,
                s.clock.reason,
                (until := s.clock.not_before if s.parts == 1 or s.clock.reason else 0.0),
                until,
                s.address,
                s.address,
                key64(s.site),
            )
            for s in batch.sites
        ],
    )
    db.many(
        "UPDATE addresses SET not_before = ? WHERE address = ? AND not_before < ?",
        [(not_before, address, not_before) for address, not_before in batch.addresses],
    )
    db.many(
        "INSERT INTO robots (origin, state) VALUES (?, ?) ON CONFLICT (origin) DO UPDATE SET state = excluded.state",
        batch.robots,
    )
