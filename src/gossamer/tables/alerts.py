"""Saved queries and their hits.

Documents are matched as they come (`alerts.alerting`), in the order of changes. The position is kept here, for each
part
of a divided index by itself (`matched`), and is written in one transaction with the hits and the messages about them.
While no query is active nothing follows, so the first that becomes active sets the start: earlier documents are never
reported.

`request` and the messages' bodies are opaque here: search and notify know their meaning.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence

import msgspec

from gossamer.database.database import Database, Row
from gossamer.database.lists import chunks, marks
from gossamer.database.schema import REMOVED
from gossamer.errors import UsageError
from gossamer.frontier.changes import last_change
from gossamer.model.site import key64, site_of

_COLUMNS = "id, name, request, channels, made_by, made_at, since, again, paused"
_START = "alerts.start"
_MATCHED = "alerts.matched "
"""Keys of `meta`; the second is followed by the part of the index."""
MOST = 1_000
"""Most saved queries of a crawl: each runs on every batch of documents."""
KEPT = 10_000
"""Hits of a query that are kept, the newest."""
_LONGEST_NAME = 200


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """A saved query."""

    id: str
    """Unguessable: anyone who knows it can read its feed."""
    name: str
    request: str
    """A `search.results.Request` as JSON."""
    channels: tuple[str, ...]
    """Mail addresses and webhooks; the feed is always there."""
    made_by: str
    made_at: float
    since: int
    """The last change before it was made: documents of that change, or earlier, are not reported."""
    again: bool
    """Whether a page is reported again when a changed version of it matches."""
    paused: bool


class AlertHit(msgspec.Struct, frozen=True):
    """A page that a saved query found."""

    alert: str
    key: int
    at: float
    url: str
    title: str
    excerpt: str
    published: str


class Found(msgspec.Struct, frozen=True):
    """The number of hits of a saved query so far."""

    pages: int = 0
    last_at: float = 0.0


def add(
    db: Database, name: str, request: str, channels: Sequence[str], made_by: str, now: float, again: bool = False
) -> Alert:
    """Save a query; documents from now on are matched."""
    name = " ".join(name.split())
    if not name or len(name) > _LONGEST_NAME:
        raise UsageError(f"an alert needs a name of 1 to {_LONGEST_NAME} characters")
    with db.transaction():
        if db.execute("SELECT 1 FROM alerts WHERE name = ?", (name,)):
            raise UsageError(f"there is an alert {name!r} already: choose another name, or remove that one")
        if db.execute("SELECT COUNT(*) FROM alerts")[0][0] >= MOST:
            raise UsageError(f"there are {MOST} alerts already: remove one that you do not need")
        _begin(db)
        alert = Alert(
            id=secrets.token_hex(16), name=name, request=request, channels=tuple(dict.fromkeys(channels)),
            made_by=made_by, made_at=now, since=last_change(db), again=again, paused=False,
        )  # fmt: skip
        db.execute(
            f"INSERT INTO alerts ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)",
            (
                alert.id, name, request, msgspec.json.encode(alert.channels).decode(), made_by, now, alert.since,
                int(again),
            ),
        )  # fmt: skip
    return alert


def are_saved(db: Database) -> bool:
    """Whether there is any saved query."""
    return bool(db.execute("SELECT 1 FROM alerts LIMIT 1"))


def remove(db: Database, id: str) -> None:
    """Delete a query, its hits and unsent messages; the caller has checked that it exists."""
    with db.transaction():
        db.execute("DELETE FROM alerts WHERE id = ?", (id,))
        db.execute("DELETE FROM alert_hits WHERE alert = ?", (id,))
        db.execute("DELETE FROM messages WHERE about = ?", (id,))


def pause(db: Database, id: str) -> None:
    """Pause a query; documents that come meanwhile are never reported."""
    with db.transaction():
        db.execute("UPDATE alerts SET paused = 1 WHERE id = ?", (id,))


def resume(db: Database, id: str) -> None:
    """Match a query again, with what comes from now on."""
    with db.transaction():
        _begin(db)
        db.execute("UPDATE alerts SET paused = 0, since = ? WHERE id = ? AND paused = 1", (last_change(db), id))


def list_alerts(db: Database) -> list[Alert]:
    """All saved queries, by name."""
    return [_alert(row) for row in db.execute(f"SELECT {_COLUMNS} FROM alerts ORDER BY name")]


def active(db: Database) -> list[Alert]:
    """Those that are matched."""
    return [_alert(row) for row in db.execute(f"SELECT {_COLUMNS} FROM alerts WHERE paused = 0 ORDER BY name")]


def find(db: Database, id: str) -> Alert | None:
    """The query with an id."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM alerts WHERE id = ?", (id,))
    return _alert(rows[0]) if rows else None


def named(db: Database, name: str) -> Alert:
    """The query with a name or an id; raises a `UsageError` if there is none."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM alerts WHERE id = ? OR name = ?", (name, " ".join(name.split())))
    if not rows:
        raise UsageError(f"there is no alert {name!r}: `gossamer alerts list` shows all alerts")
    return _alert(rows[0])


def found(db: Database) -> dict[str, Found]:
    """How many pages each query found, and when last."""
    rows = db.execute("SELECT alert, COUNT(*), MAX(at) FROM alert_hits GROUP BY alert")
    return {alert: Found(pages, last_at) for alert, pages, last_at in rows}


def hits(db: Database, id: str, limit: int) -> list[AlertHit]:
    """Hits of a query, the newest first, without removed pages."""
    sql = (
        "SELECT alert, key, at, url, title, excerpt, published FROM alert_hits WHERE alert = ? "
        "ORDER BY at DESC, key LIMIT ?"
    )
    rows = [AlertHit(*row) for row in db.execute(sql, (id, limit))]
    gone = _removed(db, rows)
    return [row for row in rows if row.key not in gone]


def told(db: Database, id: str, keys: Sequence[int]) -> set[int]:
    """Those of the pages that a query found before."""
    known: set[int] = set()
    for chunk in chunks(list(keys)):
        sql = f"SELECT key FROM alert_hits WHERE alert = ? AND key IN ({marks(chunk)})"
        known.update(row[0] for row in db.execute(sql, (id, *chunk)))
    return known


def note_hits(db: Database, new: Iterable[AlertHit]) -> None:
    """Store hits; a hit of a page found before replaces it. Call it in a transaction."""
    db.many(
        "INSERT INTO alert_hits (alert, key, at, url, title, excerpt, published) VALUES (?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (alert, key) DO UPDATE SET at = excluded.at, title = excluded.title, "
        "excerpt = excluded.excerpt, published = excluded.published",
        [msgspec.structs.astuple(hit) for hit in new],
    )


def forget(db: Database, keys: Sequence[int]) -> int:
    """Delete all hits of these pages, which were taken down; returns how many. Call it in a transaction. If such a page
    comes back, it is reported anew."""
    gone = 0
    for chunk in chunks(list(keys)):
        gone += db.change(f"DELETE FROM alert_hits WHERE key IN ({marks(chunk)})", chunk)
    return gone


def prune(db: Database, kept: int = KEPT) -> int:
    """Delete the oldest hits of queries that found more than is kept; how many."""
    gone = 0
    for id in [id for id, one in found(db).items() if one.pages > kept]:
        oldest = "SELECT at FROM alert_hits WHERE alert = ? ORDER BY at DESC LIMIT 1 OFFSET ?"
        with db.transaction():
            rows = db.execute(oldest, (id, kept - 1))
            gone += db.change("DELETE FROM alert_hits WHERE alert = ? AND at < ?", (id, rows[0][0])) if rows else 0
    return gone


def matched(db: Database, part: str) -> int:
    """The last change whose documents were matched, in a part of the index."""
    found: dict[str, str] = dict(
        db.execute("SELECT key, value FROM meta WHERE key IN (?, ?)", (_START, _MATCHED + part))
    )
    return int(found.get(_MATCHED + part) or found.get(_START) or 0)


def note_matched(db: Database, part: str, position: int) -> None:
    """Documents up to this change were matched; call it in the transaction of their hits."""
    db.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (_MATCHED + part, str(position)),
    )


def _begin(db: Database) -> None:
    """A query becomes active: if it is the only one, following begins here."""
    if db.execute("SELECT 1 FROM alerts WHERE paused = 0 LIMIT 1"):
        return
    db.execute("DELETE FROM meta WHERE key LIKE ?", (f"{_MATCHED}%",))
    db.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (_START, str(last_change(db))),
    )


def _removed(db: Database, rows: Sequence[AlertHit]) -> set[int]:
    places = [(key64(site_of(row.url)), row.key) for row in rows if "//" in row.url]
    found = db.find("key, state", "urls", ("site_id", "key"), places)
    return {key for key, state in found if state == REMOVED}


def _alert(row: Row) -> Alert:
    id, name, request, channels, made_by, made_at, since, again, paused = row
    return Alert(
        id=id, name=name, request=request, channels=msgspec.json.decode(channels, type=tuple[str, ...]),
        made_by=made_by, made_at=made_at, since=since, again=bool(again), paused=bool(paused),
    )  # fmt: skip
