"""What must be true of the frontier's tables between two crawls, however the last one ended."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from gossamer.data.folder import DataFolder
from gossamer.database.schema import DONE, QUEUED, SCHEDULED
from gossamer.frontier.views import table_statistics
from gossamer.model.records import LEVELS
from gossamer.scope.shape import path_shape


def problems(data: Path, unfinished: bool = False) -> list[str]:
    """What does not fit together, one sentence each; in the queue of an unfinished crawl there may be rows of
    URLs that have moved to another level."""
    db = DataFolder(data).read()
    try:
        return [*_queue(db, unfinished), *_later(db), *_counters(db)]
    finally:
        db.close()


def _queue(db: Any, unfinished: bool) -> list[str]:
    """Who waits stands in the queue once, where the URL says; the counters of the levels count the rows."""
    rows = db.execute(
        "SELECT u.url, q.level, u.level, u.state FROM queue q "
        "LEFT JOIN urls u ON u.site_id = q.site_id AND u.key = q.key"
    )
    valid = [url for url, row, own, state in rows if state == QUEUED and (row >= LEVELS or row == own)]
    found = [f"{url} waits {times} times" for url, times in Counter(valid).items() if times > 1]
    waiting = {url for (url,) in db.execute("SELECT url FROM urls WHERE state = ?", (QUEUED,))}
    found += [f"{url} is to wait and does not" for url in waiting - set(valid)]
    if len(valid) < len(rows) and not unfinished:
        found.append(f"{len(rows) - len(valid)} rows of the queue mean nothing")
    counted = {level: n for level, n in db.execute("SELECT level, queued FROM levels") if n}
    true = Counter(level for _, level, _, _ in rows)
    return found + ([] if counted == true else [f"levels are counted as {counted}, but are {dict(true)}"])


def _later(db: Any) -> list[str]:
    """What is due later stands in the table of its state, at the time that the URL says."""
    found = []
    for table, state in (("schedule", SCHEDULED), ("revisits", DONE)):
        sql = f"SELECT s.key, s.due_at, u.due_at, u.state FROM {table} s LEFT JOIN urls u " \
              "ON u.site_id = s.site_id AND u.key = s.key"  # fmt: skip
        rows = db.execute(sql)
        found += [f"{table}: {row} does not fit its URL" for row in rows if row[1:] != (row[1], row[1], state)]
        planned = db.execute("SELECT COUNT(*) FROM urls WHERE state = ? AND due_at IS NOT NULL", (state,))[0][0]
        if planned != len(rows):
            found.append(f"{table} has {len(rows)} rows for {planned} URLs")
    return found


def _counters(db: Any) -> list[str]:
    """Kept sums are what counting gives."""
    found = []
    documents = db.execute("SELECT COUNT(*) FROM urls WHERE outcome = 'document'")[0][0]
    fresh = db.execute("SELECT COALESCE(SUM(pages), 0), COALESCE(MIN(pages), 1) FROM freshness")[0]
    if fresh[0] != documents or fresh[1] < 1:
        found.append(f"freshness counts {fresh[0]} of {documents} documents")
    tallied = {(site, name): n for site, name, n in db.execute("SELECT site_id, outcome, urls FROM outcomes") if n}
    rows = db.execute("SELECT site_id, outcome, COUNT(*) FROM urls WHERE outcome IS NOT NULL GROUP BY site_id, outcome")
    if tallied != {(site, name): n for site, name, n in rows}:
        found.append(f"outcomes are {rows}, but are counted as {tallied}")
    for (site,) in db.execute("SELECT name FROM sites"):
        leaves = table_statistics.leaves(db, site)
        kept = {text: tuple(getattr(counts, name) for name in _NAMES) for text, counts in leaves.items()}
        true = table_statistics.recount(db, site, path_shape)
        counted = {text: tuple(getattr(counts, name) for name in _NAMES) for text, counts in true.items()}
        if {text: numbers for text, numbers in kept.items() if any(numbers)} != counted:
            found.append(f"{site}: prefixes are {counted}, but are kept as {kept}")
    return found


_NAMES = ("known", "fit", "visited", "documents", "failed", "duplicates")
