"""Asking hubs for subscriptions, and for their renewal (`discover.websub` has the protocol).

A hub is an address that a stranger's feed names. It is asked through the same fetcher as pages are, so the guard
keeps us from private networks, and time and size have limits; where it sends us on to is judged again. Hubs are asked
side by side, each one request at a time, and one that is down is told so by one request: whatever else was due there
waits as if it had been asked.

The database is used from the event loop: nothing else runs on it but the requests of the round.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import closing
from threading import Thread

import msgspec

from gossamer import __version__
from gossamer.clock import Clock
from gossamer.database.database import Database, Where, open_database
from gossamer.discover import websub
from gossamer.discover.websub import PushConfig
from gossamer.errors import GossamerError
from gossamer.fetch.dns import DnsConfig, Resolver
from gossamer.fetch.guard import AddressPolicy
from gossamer.fetch.http import Fetcher
from gossamer.fetch.identity import user_agent
from gossamer.fetch.request import Request
from gossamer.frontier import subscriptions
from gossamer.frontier.steering.controls import directions, paused
from gossamer.frontier.subscriptions import Subscription
from gossamer.model.records import Response
from gossamer.model.site import site_of
from gossamer.settings import Settings

log = logging.getLogger(__name__)

_EVERY = 60.0
"""Seconds between two rounds."""
_PRUNE_EVERY = 3600.0
_ROUND = 200
"""Requests of one round."""
_PER_HUB = 20
"""Of them to one hub."""
_AT_ONCE = 16
"""Hubs asked at the same time."""
_ROUND_SECONDS = 120.0
"""A round ends after this time; what is not answered then counts as not answered."""
_PATIENCE = 3600.0
"""Seconds a hub has to confirm the last request before it is given up."""
_HOPS = 3
_ANSWER_BYTES = 16 * 1024
_HUB_SECONDS = 20.0
"""Seconds for one answer of a hub."""


async def ask_hubs(db: Database, config: PushConfig, clock: Clock, fetcher: Fetcher) -> int:
    """Ask for what is due; how many requests were taken by their hubs."""
    now = clock.now()
    subscriptions.expire(db, now, config.attempts, _PATIENCE)
    if not config.callback or paused(db) is not None:
        return 0

    def due_at(row: Subscription) -> float:
        return websub.due_at(row.asked_at, row.attempts, row.expires_at if row.is_active else None, config)

    hubs: dict[str, list[Subscription]] = {}
    due = subscriptions.to_ask(db, now, _ROUND, due_at, _PER_HUB)
    resting = directions(db, {site_of(row.hub) for row in due}).leave
    for row in due:
        if site_of(row.hub) not in resting:
            hubs.setdefault(row.hub, []).append(row)
    asking = _Round(db, config, clock, fetcher)
    try:
        async with asyncio.timeout(_ROUND_SECONDS):
            await asyncio.gather(*(asking.ask(rows) for rows in hubs.values()))
    except TimeoutError:
        log.warning("hubs took longer than %d s to answer", _ROUND_SECONDS)
    return asking.taken


def run_once(where: Where, settings: Settings, config: PushConfig, clock: Clock) -> int:
    """`ask_hubs` for a database file, with connections of its own: for a thread of its own."""
    guard = AddressPolicy(settings.network.allow, settings.crawl.contact)
    agent = user_agent(__version__, settings.crawl.contact)
    fetch = msgspec.structs.replace(
        settings.fetch, user_agent=agent, access=settings.sites, keepalive=0.0, keep_cookies=False,
        total_timeout=min(settings.fetch.total_timeout, _HUB_SECONDS),
    )  # fmt: skip

    async def ask(db: Database) -> int:
        resolver = Resolver(DnsConfig(overrides=settings.network.resolve), guard, clock)
        async with Fetcher(fetch, guard, resolver, clock) as fetcher:
            return await ask_hubs(db, config, clock, fetcher)

    with closing(open_database(where, cache_mb=4)) as db:
        return asyncio.run(ask(db))


class HubCaller:
    """Asks hubs once a minute beside a crawl that calls `tick` now and then."""

    def __init__(self, where: Where, settings: Settings, config: PushConfig, clock: Clock) -> None:
        self._where, self._settings, self._config, self._clock = where, settings, config, clock
        self._next = self._next_prune = 0.0
        self._thread: Thread | None = None

    def tick(self) -> None:
        """Start a round where one is due and none is under way."""
        now = self._clock.now()
        if not self._config.callback or now < self._next or (self._thread is not None and self._thread.is_alive()):
            return
        self._next = now + _EVERY
        self._thread = Thread(target=self._run, name="hubs", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Until the round under way is over."""
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            self._prune()
            run_once(self._where, self._settings, self._config, self._clock)
        except GossamerError as error:  # the crawl goes on, and the next round tries again
            log.warning("cannot ask the hubs: %s", error)

    def _prune(self) -> None:
        now = self._clock.now()
        if now < self._next_prune:
            return
        self._next_prune = now + _PRUNE_EVERY
        with closing(open_database(self._where, cache_mb=4)) as db:
            subscriptions.prune(db, now)


class _Round:
    """The requests of one round."""

    def __init__(self, db: Database, config: PushConfig, clock: Clock, fetcher: Fetcher) -> None:
        self._db, self._config, self._clock, self._fetcher = db, config, clock, fetcher
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self.taken = 0

    async def ask(self, rows: Sequence[Subscription]) -> None:
        """Ask one hub for what is due there."""
        async with self._slots:
            down = ""
            for row in rows:
                subscriptions.asked(self._db, row.id, self._clock.now())
                problem, is_down = (down, True) if down else await self._post(row)
                if not problem:
                    self.taken += 1
                    continue
                log.info("asked the hub %s for %s: %s", row.hub, row.topic, problem)
                subscriptions.failed(self._db, row.id, problem, self._config.attempts)
                down = problem if is_down else ""

    async def _post(self, row: Subscription) -> tuple[str, bool]:
        """What went wrong, `""` where nothing did, and whether the hub as a whole is to blame."""
        form = websub.subscribe_form(self._config, row.id, row.topic, row.secret)
        url = row.hub
        for _ in range(_HOPS + 1):
            response = await self._fetcher.fetch(
                Request(url, form=form, accept_types=(), max_bytes=_ANSWER_BYTES, truncate=True)
            )
            if 200 <= response.status < 300:
                return "", False
            if response.status not in (307, 308):  # another redirect would turn the form into a GET
                return _words(response), response.status in (0, 429) or response.status >= 500
            url = websub.next_hub(url, response.location)
            if not url:
                return "the hub redirects to an address that is not allowed", True
        return f"the hub redirects more than {_HOPS} times", True


def _words(response: Response) -> str:
    """A hub's error: our sentence and the beginning of its own."""
    said = websub.one_line(response.body[:1000].decode("utf-8", "replace"))
    return f"{response.reason} ({said})" if said else response.reason
