"""Subscriptions at hubs: which hub promised to send which feed, until when, and the result.

A row is for a topic, that is a feed under the name its hub knows. Its states:

    wanted → asked → active → ended → asked …
                 ↘ refused: the hub said no, or nothing, too often; asked again once a day

A subscription that is being renewed stays active until its lease ends. Its id is the secret part of the address to
which hubs send: another hub, or another topic of the feed, gets another id, and deliveries to the old one are refused.
Every feed is polled as well; `active_feeds` says which need fewer polls.

Digests of deliveries are kept, so that a repeated one is not taken for news.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

import msgspec

from gossamer.database.database import Database, Row
from gossamer.model.site import site_of

WANTED, ASKED, ACTIVE, ENDED, REFUSED = "wanted", "asked", "active", "ended", "refused"
"""`subscriptions.state`."""
REMEMBERED = 35 * 86_400.0
"""Seconds a delivery is remembered; longer than any lease, so that it cannot be replayed within one."""

_COLUMNS = (
    "id, topic, feed, hub, secret, state, asked_at, attempts, expires_at, received, received_at, refused, problem"
)
_PROBLEM = 300


_LONGEST = 2048
"""Most bytes of a topic or feed: PostgreSQL keeps no longer text in an index."""


class Subscription(msgspec.Struct, frozen=True):
    """A row of `subscriptions`."""

    id: str
    topic: str
    feed: str
    hub: str
    secret: str
    state: str
    asked_at: float = 0.0
    """When it was wanted, the hub was asked, or confirmed, whichever came last."""
    attempts: int = 0
    """Requests since the hub last confirmed."""
    expires_at: float = 0.0
    received: int = 0
    received_at: float = 0.0
    refused: int = 0
    """Requests to its address that were refused."""
    problem: str = ""

    @property
    def is_active(self) -> bool:
        """Whether the hub confirmed it; the lease may have ended since."""
        return self.state == ACTIVE


def want(db: Database, feed: str, topic: str, hub: str, now: float) -> bool:
    """A feed names a hub and, as its topic, itself; returns whether that changed anything. Call it in a transaction. A
    feed that claims the name of another one does not get its subscription: only a feed on the topic's own site may take
    it over."""
    if max(len(text.encode("utf-8", "replace")) for text in (topic, feed)) > _LONGEST:
        return False
    rows = db.execute("SELECT feed, hub FROM subscriptions WHERE topic = ?", (topic,))
    if rows and (rows[0] == (feed, hub) or not _may_change(topic, rows[0][0], feed)):
        return False
    db.execute("DELETE FROM subscriptions WHERE topic = ? OR feed = ?", (topic, feed))
    db.execute(
        "INSERT INTO subscriptions (id, topic, feed, hub, secret, state, asked_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (secrets.token_urlsafe(24), topic, feed, hub, secrets.token_hex(32), WANTED, now),
    )
    return True


def _may_change(topic: str, before: str, feed: str) -> bool:
    own = site_of(topic)
    return before == feed or (site_of(feed) == own and site_of(before) != own)


def drop(db: Database, feed: str) -> int:
    """The feed names no hub any more; returns how many subscriptions end."""
    return db.change("DELETE FROM subscriptions WHERE feed = ?", (feed,))


def to_ask(
    db: Database, now: float, limit: int, due_at: Callable[[Subscription], float], per_hub: int
) -> list[Subscription]:
    """Subscriptions to request from hubs now, the longest due first, at most `per_hub` for each hub."""
    due = sorted((at, row.id, row) for row in list_all(db) if (at := due_at(row)) <= now)
    asked: dict[str, int] = {}
    chosen: list[Subscription] = []
    for _, _, row in due:
        asked[row.hub] = asked.get(row.hub, 0) + 1
        if asked[row.hub] <= per_hub and len(chosen) < limit:
            chosen.append(row)
    return chosen


def asked(db: Database, id: str, now: float) -> None:
    """Note the request before it is sent, because the hub may confirm before it has answered."""
    db.execute(
        "UPDATE subscriptions SET asked_at = ?, attempts = attempts + 1, "
        "state = CASE WHEN state = ? THEN state ELSE ? END WHERE id = ?",
        (now, ACTIVE, ASKED, id),
    )


def failed(db: Database, id: str, problem: str, most_attempts: int) -> None:
    """The hub refused the request; after that many in a row it is left alone. One that confirmed meanwhile counts as
    having answered."""
    db.execute(
        "UPDATE subscriptions SET problem = ?, "
        "state = CASE WHEN state = ? THEN state WHEN attempts >= ? THEN ? ELSE ? END WHERE id = ? AND attempts > 0",
        (problem[:_PROBLEM], ACTIVE, most_attempts, REFUSED, WANTED, id),
    )


def activate(db: Database, id: str, expires_at: float, now: float) -> bool:
    """The hub confirmed; False if the subscription is no longer wanted."""
    return bool(
        db.change(
            "UPDATE subscriptions SET state = ?, expires_at = ?, asked_at = ?, attempts = 0, problem = '' "
            "WHERE id = ? AND state IN (?, ?)",
            (ACTIVE, expires_at, now, id, ASKED, ACTIVE),
        )
    )


def denied(db: Database, id: str, reason: str, now: float, most_attempts: int) -> None:
    """The hub says no, even to a subscription that it confirmed before."""
    db.execute(
        "UPDATE subscriptions SET state = ?, asked_at = ?, attempts = ?, expires_at = 0, problem = ? WHERE id = ?",
        (REFUSED, now, most_attempts, f"the hub refused: {reason}"[:_PROBLEM], id),
    )


def expire(db: Database, now: float, most_attempts: int, patience: float) -> int:
    """End subscriptions that were not renewed in time, and give up those that a hub accepted but never confirmed,
    `patience` seconds after the last of that many requests; returns how many."""
    ended = db.change(
        "UPDATE subscriptions SET problem = CASE WHEN problem = '' THEN 'the lease ended' ELSE problem END, "
        "state = CASE WHEN attempts >= ? THEN ? ELSE ? END WHERE state = ? AND expires_at <= ?",
        (most_attempts, REFUSED, ENDED, ACTIVE, now),
    )
    return ended + db.change(
        "UPDATE subscriptions SET state = ?, problem = 'the hub never confirmed it' "
        "WHERE state = ? AND attempts >= ? AND asked_at <= ?",
        (REFUSED, ASKED, most_attempts, now - patience),
    )


def find(db: Database, id: str) -> Subscription | None:
    """The subscription with this address."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM subscriptions WHERE id = ?", (id,))
    return _row(rows[0]) if rows else None


def list_all(db: Database) -> list[Subscription]:
    """All subscriptions, by topic."""
    return [_row(row) for row in db.execute(f"SELECT {_COLUMNS} FROM subscriptions ORDER BY topic")]


def active_feeds(db: Database, now: float) -> set[str]:
    """Feeds whose news hubs send us at this time."""
    return {feed for (feed,) in db.execute(
        "SELECT feed FROM subscriptions WHERE state = ? AND expires_at > ?", (ACTIVE, now)
    )}  # fmt: skip


def why_not(db: Database, subscription: Subscription, digest: str, now: float) -> str:
    """Why a signed delivery is refused; `""` if it is not."""
    if not subscription.is_active or subscription.expires_at <= now:
        return "the lease has ended"
    known = "SELECT 1 FROM deliveries WHERE subscription = ? AND digest = ?"
    return "it was delivered before" if db.execute(known, (subscription.id, digest)) else ""


def delivered(db: Database, id: str, digest: str, now: float) -> None:
    """Record a delivery only after it was processed, so that one that an accident cut short may be sent again."""
    with db.transaction():
        db.execute("INSERT INTO deliveries VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (id, digest, now))
        db.execute("UPDATE subscriptions SET received = received + 1, received_at = ? WHERE id = ?", (now, id))


def note_refused(db: Database, id: str, problem: str) -> None:
    """Count a refused request to the subscription's address."""
    db.execute("UPDATE subscriptions SET refused = refused + 1, problem = ? WHERE id = ?", (problem[:_PROBLEM], id))


def prune(db: Database, now: float) -> int:
    """Forget old deliveries, and those of deleted subscriptions; returns how many."""
    return db.change(
        "DELETE FROM deliveries WHERE received_at < ? OR subscription NOT IN (SELECT id FROM subscriptions)",
        (now - REMEMBERED,),
    )


def _row(row: Row) -> Subscription:
    return Subscription(*row)
