"""Who was shown what today, and what they opened: in memory, for a day, without a name.

A click says something about a page only together with the place where the reader saw it, so the server remembers for
each reader and query what it showed where. A reader is the address of a request; what is remembered is a hash of
address and query, under a key that is made when the day begins (UTC), is written nowhere, and is thrown away with
everything else when the day ends. So nobody can tell what an address asked, or which days belong to one reader.

A reader counts once for a query, a page and a day, however often they search or click, and a click counts only if this
reader was shown this page for this query. Nothing about a query leaves this module before `LEAST` different readers
have asked it on the day. One reader has `MOST_QUERIES` queries a day, and there are `MOST_LOOKS` pairs of reader and
query: who comes later does not count, so that nobody makes room for their own second click.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import secrets
from array import array
from collections.abc import Iterable
from threading import Lock
from typing import Protocol

import msgspec
from starlette.requests import Request as HttpRequest

from gossamer.model.site import key64, site_of
from gossamer.search.clicks.drafting import Team
from gossamer.search.clicks.evidence import LEAST, PLACES
from gossamer.search.results import Hit, Request, Results
from gossamer.web.clicks.telling import does_not_want
from gossamer.web.gate.clients import Clients

DAY = 86_400.0
MOST_LOOKS = 50_000
"""Pairs of reader and query that are remembered; each takes some 500 bytes."""
MOST_QUERIES = 200
"""Queries of one reader that count on one day."""
MOST_TOLD = 5_000
"""Queries of one day of which anything is written down."""

log = logging.getLogger(__name__)

Page = tuple[int, int]
"""The keys of a page's site and of its URL."""
Outcome = str
"""Which order a reader preferred in a trial: `with`, `without` or `tie`."""


class ChoiceService(Protocol):
    """Counts what readers were shown and opened; no call may wait for anything."""

    share: float
    """Share of the searches in which a trial compares the orders with and without clicks."""

    def name(self, query: str) -> int:
        """The query as it is counted: the same number however it is spaced and capitalised."""
        ...

    def shown(self, day: int, query: int, page: Page, place: int) -> None:
        """One more reader was shown a page at a place."""
        ...

    def opened(self, day: int, query: int, page: Page, place: int) -> None:
        """One more reader opened it there."""
        ...

    def preferred(self, day: int, outcome: Outcome, times: int) -> None:
        """Readers (or one less, if they went on reading) preferred one of two orders."""
        ...

    def close(self) -> None:
        """The server ends; this call may take a while."""
        ...


class _Look:
    """What one reader was shown for one query."""

    __slots__ = ("opened", "outcome", "pages", "query", "sites", "teams")

    def __init__(self, query: int) -> None:
        self.query = query
        self.sites, self.pages = array("q", [0] * PLACES), array("q", [0] * PLACES)
        """By place; 0: nothing."""
        self.opened = 0
        """A bit for each place."""
        self.teams: dict[Team, int] = {}
        """The same for each order of a trial."""
        self.outcome: Outcome = ""

    def put(self, place: int, page: Page, team: Team) -> bool:
        """Note what stands at a place; what was shown first counts."""
        at = place - 1
        if self.pages[at] or page[1] in self.pages:
            return False
        self.sites[at], self.pages[at] = page
        if team:
            self.teams[team] = self.teams.get(team, 0) | 1 << at
        return True

    def open(self, page: int) -> int:
        """The place of a page that is opened for the first time; 0 for any other."""
        place = self.pages.index(page) + 1 if page and page in self.pages else 0
        bit = 1 << place >> 1
        if not place or self.opened & bit:
            return 0
        self.opened |= bit
        return place

    def at(self, place: int) -> Page:
        """What stands at a place."""
        return self.sites[place - 1], self.pages[place - 1]

    def places(self) -> Iterable[int]:
        """The places that are known."""
        return (place for place in range(1, PLACES + 1) if self.pages[place - 1])

    def preference(self) -> Outcome:
        """The order whose pages the reader opened more often; empty where none of a trial was opened."""
        one, other = ((self.opened & self.teams.get(team, 0)).bit_count() for team in ("with", "without"))
        if not one and not other:
            return ""
        return "tie" if one == other else "with" if one > other else "without"


class Today:
    """The memory of a day; safe to share between threads."""

    def __init__(self, service: ChoiceService, most: int = MOST_LOOKS) -> None:
        self._service, self._most = service, most
        self._lock = Lock()
        self._day, self._is_full = -1, False
        self._forget()

    def __len__(self) -> int:
        return len(self._looks)

    def token(self, query: str, now: float) -> str:
        """What stands for a query in an address, for today: nobody can read it."""
        name = self._service.name(query)
        with self._lock:
            self._turn(now)
            return self._token(name)

    def coins(self, reader: str, query: str, now: float) -> int:
        """Chance for the trial of a reader's query, the same all day; 0 where there is no trial."""
        if self._service.share <= 0:
            return 0
        name = self._service.name(query)
        with self._lock:
            self._turn(now)
            token = self._token(name)
            if self._trials.get(self._hash(reader), token) != token:
                return 0
            if self._hash("drawn", reader, token) >= self._service.share * 2**64:
                return 0
            return self._hash("coins", reader, token) or 1

    def shown(self, reader: str, results: Results, now: float) -> None:
        """A reader gets a page of results."""
        asked = results.request
        query = self._service.name(searched(results))
        typed = self._service.name(asked.query)
        with self._lock:
            self._turn(now)
            known = self._look(reader, query)
            if known is None:
                return
            look, is_new = known
            fresh = []
            for place, hit in enumerate(results.hits, (asked.page - 1) * asked.size + 1):
                page = page_of(hit)
                if place <= PLACES and page is not None and look.put(place, page, hit.team):
                    fresh.append(place)
            if look.teams:
                self._trials.setdefault(self._hash(reader), self._token(typed))
            self._tell(look, fresh, is_new)

    def opened(self, reader: str, token: str, url: str, now: float) -> bool:
        """A reader opened a result; whether that counts."""
        with self._lock:
            self._turn(now)
            look = self._looks.get(self._hash(reader, token))
            place = look.open(key64(url)) if look is not None else 0
            if look is None or not place:
                return False
            if self._waiting.get(look.query, ()) is None:
                self._service.opened(self._day, look.query, look.at(place), place)
            outcome = look.preference()
            if outcome != look.outcome:
                if look.outcome:
                    self._service.preferred(self._day, look.outcome, -1)
                self._service.preferred(self._day, outcome, 1)
                look.outcome = outcome
            return True

    def _look(self, reader: str, query: int) -> tuple[_Look, bool] | None:
        """What is remembered of a reader's query, and whether that begins now; None where there is no room."""
        name = self._hash(reader, self._token(query))
        look = self._looks.get(name)
        if look is not None:
            return look, False
        who = self._hash(reader)
        if self._asked.get(who, 0) >= MOST_QUERIES:
            return None
        if len(self._looks) >= self._most:
            if not self._is_full:
                log.warning("more than %d readers' queries today: further ones do not count as clicks", self._most)
            self._is_full = True
            return None
        self._asked[who] = self._asked.get(who, 0) + 1
        look = self._looks[name] = _Look(query)
        return look, True

    def _tell(self, look: _Look, fresh: list[int], is_new: bool) -> None:
        waiting = self._waiting.setdefault(look.query, [])
        if waiting is None:
            for place in fresh:
                self._service.shown(self._day, look.query, look.at(place), place)
            return
        if is_new and len(waiting) < LEAST:
            waiting.append(look)
        if len(waiting) < LEAST or self._told >= MOST_TOLD:
            return
        self._told += 1
        self._waiting[look.query] = None
        for one in waiting:
            for place in one.places():
                self._service.shown(self._day, one.query, one.at(place), place)
                if one.opened >> (place - 1) & 1:
                    self._service.opened(self._day, one.query, one.at(place), place)

    def _turn(self, now: float) -> None:
        """Forget everything when a day is over."""
        if int(now // DAY) != self._day:
            self._day = int(now // DAY)
            self._forget()

    def _forget(self) -> None:
        self._key = secrets.token_bytes(32)
        self._looks: dict[int, _Look] = {}
        self._asked: dict[int, int] = {}
        """How many queries each reader has."""
        self._trials: dict[int, str] = {}
        """The query of each reader that takes part in a trial."""
        self._waiting: dict[int, list[_Look] | None] = {}
        """Of queries that too few readers have asked: what these were shown. None: what comes is told at once."""
        self._told = 0
        self._is_full = False

    def _token(self, query: int) -> str:
        return base64.urlsafe_b64encode(self._hash("query", str(query)).to_bytes(8, "big")).decode().rstrip("=")

    def _hash(self, *parts: str) -> int:
        name = hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), key=self._key, digest_size=8)
        return int.from_bytes(name.digest(), "big")


class Watch:
    """What the page of results asks of clicks."""

    def __init__(self, today: Today | None, clients: Clients, address: str) -> None:
        """`today`: None where only clicks are counted; `address`: where browsers tell of clicks."""
        self._today, self._clients, self._address = today, clients, address

    def reader(self, http: HttpRequest) -> str:
        """Who asks, as far as that counts; empty for those who do not want to be followed."""
        if http.method != "GET" or does_not_want(http.headers):
            return ""
        peer = http.client.host if http.client else ""
        return self._clients.key(peer, http.headers.getlist("x-forwarded-for"))

    def drawn(self, reader: str, request: Request, now: float) -> Request:
        """The request, as a part of a trial where chance says so."""
        coins = self._today.coins(reader, request.query, now) if self._today is not None and reader else 0
        return msgspec.structs.replace(request, trial=coins) if coins else request

    def shown(self, reader: str, results: Results, now: float, is_typing: bool) -> str:
        """Remember what a reader is shown; returns where their browser tells of clicks, empty: nowhere."""
        if not reader or self._today is None:
            return self._address if reader else ""
        if not is_typing and counts(results.request):
            self._today.shown(reader, results, now)
        return f"{self._address}?c={self._today.token(searched(results), now)}"


def counts(request: Request) -> bool:
    """Whether places mean what they usually mean: the order is that of relevance, and the page is the first."""
    return request.page == 1 and request.sort == "relevance" and not request.similar and not request.ranking


def searched(results: Results) -> str:
    """The query that the results are for."""
    return results.attempt.query if results.attempt is not None else results.request.query


def page_of(hit: Hit) -> Page | None:
    """The keys of a result; None where it is no page of the web."""
    return (key64(site_of(hit.url)), key64(hit.url)) if hit.url.startswith(("http://", "https://")) else None
