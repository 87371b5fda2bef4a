"""What hubs send to our server: confirmations, refusals and news (`discover.websub` has the protocol).

`StoredPush` is the server's `PushService`. Whatever is not believed is counted with its subscription and logged. News
are entries of a feed like those of a poll: they pass the scope and enter the frontier, which knows what it has. They
are noted as received only after that, so that a delivery which an accident cut short may be sent again.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from threading import Lock
from urllib.parse import urljoin

from gossamer.clock import Clock
from gossamer.crawl.scope import LiveScope
from gossamer.data.folder import DataFolder
from gossamer.database.database import identity, require_crawl
from gossamer.discover import websub
from gossamer.discover.feed_values import FeedLimits
from gossamer.discover.feeds import parse_feed
from gossamer.discover.websub import Denied, PushConfig, Verified
from gossamer.frontier import subscriptions
from gossamer.frontier.contract import CrawlFrontier
from gossamer.frontier.subscriptions import Subscription
from gossamer.model.records import Discovered, Kind, Via
from gossamer.model.url import Base
from gossamer.settings import Settings

log = logging.getLogger(__name__)

_LIMITS = FeedLimits(entries=1000, unpacked_bytes=10 * 1024 * 1024, mended_bytes=2 * 1024 * 1024)
"""A delivery is read by the server itself: what is beyond, the next poll brings."""


class StoredPush:
    """The subscriptions of a data folder, for the server; calls of several threads take turns."""

    def __init__(self, folder: DataFolder, settings: Settings, config: PushConfig, clock: Clock) -> None:
        self._folder, self._settings, self._config, self._clock = folder, settings, config, clock
        self._lock = Lock()
        self._frontier: CrawlFrontier | None = None
        self._scope: LiveScope | None = None
        self._file = 0

    def knows(self, id: str) -> bool:
        """Whether this is the address of a subscription."""
        with self._lock:
            return subscriptions.find(self._opened().db, id) is not None

    def verify(self, id: str, query: Mapping[str, str]) -> str | None:
        """What to answer a hub that asks whether we subscribed, or says that it will not have us; None: not found."""
        with self._lock:
            db = self._opened().db
            row = subscriptions.find(db, id)
            if row is None:
                return None
            now = self._clock.now()
            awaited = row.state in (subscriptions.ASKED, subscriptions.ACTIVE)
            found = websub.check_verification(query, row.topic, awaited, now, self._config.lease)
            if isinstance(found, Verified) and subscriptions.activate(db, id, found.expires_at, now):
                return found.challenge
            if isinstance(found, Denied):
                log.warning("the hub %s refuses %s: %s", row.hub, row.topic, found.reason)
                subscriptions.denied(db, id, found.reason, now, self._config.attempts)
                return ""
            self._refuse(row, "the subscription no longer exists" if isinstance(found, Verified) else found.reason)
            return None

    def deliver(self, id: str, signature: str, body: bytes) -> bool:
        """Take in what a hub sent; False where it is not believed, which the sender need not know."""
        with self._lock:
            frontier = self._opened()
            row = subscriptions.find(frontier.db, id)
            if row is None:
                return False
            now, digest = self._clock.now(), hashlib.sha256(body).hexdigest()
            problem = websub.check_signature(signature, body, row.secret) or subscriptions.why_not(
                frontier.db, row, digest, now
            )
            if problem:
                self._refuse(row, problem)
                return False
            frontier.add(self._entries(row, body, now), now)
            subscriptions.delivered(frontier.db, id, digest, now)
            return True

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._close()

    def _entries(self, row: Subscription, body: bytes, now: float) -> list[Discovered]:
        assert self._scope is not None
        self._scope.refresh()
        canonicalizer, chain, base = self._scope.canonicalizer(), self._scope.chain, Base.parse(row.feed)
        found = []
        for entry in parse_feed(body, _LIMITS).entries:
            url = canonicalizer.resolve(base, _joined(entry.base, entry.url))
            if isinstance(url, str) and chain.decide(url, now).allowed:
                found.append(
                    Discovered(url, Via.FEED, Kind.PAGE, 1, referrer=row.feed, announced_at=entry.published_at)
                )
        return found

    def _refuse(self, row: Subscription, problem: str) -> None:
        log.warning("refused a delivery for the subscription to %s: %s", row.topic, problem)
        assert self._frontier is not None
        subscriptions.note_refused(self._frontier.db, row.id, problem)

    def _opened(self) -> CrawlFrontier:
        """The frontier; opened when it is first asked, and again when another file lies in its place."""
        from gossamer.data.opening import open_frontier  # Arrow: a server that no hub calls goes without

        require_crawl(self._folder.database)
        file = identity(self._folder.database)
        if self._frontier is None or file != self._file:
            self._close()
            frontier = open_frontier(self._folder, self._settings)
            try:
                self._scope = LiveScope(self._settings, frontier.db)
            except BaseException:
                frontier.db.close()
                raise
            self._frontier, self._file = frontier, file
        return self._frontier

    def _close(self) -> None:
        if self._frontier is not None:
            self._frontier.db.close()
            self._frontier = self._scope = None


def _joined(base: str, reference: str) -> str:
    """A reference with the base its entry names."""
    try:
        return urljoin(base, reference) if base else reference
    except ValueError:
        return reference
