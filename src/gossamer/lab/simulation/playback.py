"""The recorded web in place of the network, and recorded pages in place of the parsers."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

import numpy as np

from gossamer.clock import Clock
from gossamer.crawl.parser_config import ParserConfig, full_chain
from gossamer.crawl.pending import Reporter, Result
from gossamer.crawl.reading import notable
from gossamer.dedup.near.registry import DEFAULT, near_method
from gossamer.fetch.limits import Trouble
from gossamer.fetch.request import Request
from gossamer.frontier.contract import Batch, Frontier, KnownFacts, Verdict
from gossamer.lab.webs.web import NOWHERE, RecordedWeb
from gossamer.model.outcome import VALIDATED, Outcome
from gossamer.model.records import Entry, Parsed, ParseJob, Response
from gossamer.model.site import host_of, key64, origin_of, packed_keys
from gossamer.parse.rules import RuleBook

P = ParamSpec("P")
T = TypeVar("T")

SITEMAP, FEED = 1, 2
_PAGE = struct.Struct("<qd")
"""A body of a recorded page: its number, and when it was sent."""
_ELSEWHERE = "http://elsewhere.invalid/"
"""The target of a redirect that led out of the recorded crawl."""


class AtOnce:
    """`crawl.seams.Runs`: calls take no virtual time."""

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The call's result."""
        return function(*args, **kwargs)


class NoHeart:
    """`crawl.seams.Beats`: a simulated worker is alive."""

    def __init__(self, renew: Callable[[str, float], None], clock: Clock) -> None:
        self._renew, self._clock = renew, clock

    async def beat(self, worker: str) -> float:
        """A sign of life."""
        now = self._clock.now()
        self._renew(worker, now)
        return now


class RecordedNetwork:
    """`crawl.seams.Fetches` and `Resolves`: the answers of the recorded servers, after as long as they took."""

    def __init__(self, web: RecordedWeb, clock: Clock) -> None:
        self._web, self._clock = web, clock
        self._addresses = {host_of(site): address for site, address in web.facts.addresses.items()}
        # URLs that were not recorded take as long as most pages.
        self._usual_seconds = float(np.median(web.duration[web.fetched])) if web.fetched.any() else 0.0
        self.requests: list[tuple[float, str]] = []
        """When which URL was requested, robots.txt included."""

    async def address_of(self, host: str) -> str:
        """The recorded address, or one that no other host has."""
        return self._addresses.setdefault(host, f"host-{len(self._addresses)}")

    def drop(self, slot: str) -> None:
        """There are no connections."""

    def failed(self, url: str, trouble: Trouble) -> Response:
        """The response to a request that got none."""
        now = self._clock.now()
        return Response(url, trouble.outcome, now, now, now, reason=trouble.reason)

    async def fetch(self, request: Request) -> Response:
        """The recorded answer of the server."""
        started = self._clock.now()
        self.requests.append((started, request.url))
        if request.url.endswith("/robots.txt") and origin_of(request.url) + "/robots.txt" == request.url:
            return await self._robots(request, started)
        row = self._web.number.get(request.url, NOWHERE)
        if row == NOWHERE or not self._web.answer[row] or self._web.born[row] > started:
            await asyncio.sleep(self._usual_seconds)
            return self._response(request, Outcome.GONE, started, 404, "not in the recording")
        await asyncio.sleep(float(self._web.duration[row]))
        return self._recorded(request, row, started)

    async def _robots(self, request: Request, started: float) -> Response:
        await asyncio.sleep(self._usual_seconds)
        body = self._web.facts.robots.get(origin_of(request.url))
        if body is None:
            return self._response(request, Outcome.GONE, started, 404)
        return self._response(request, Outcome.DOCUMENT, started, 200, body=body)

    def _recorded(self, request: Request, row: int, started: float) -> Response:
        web, answer = self._web, self._web.answer[row]
        status = int(web.status[row])
        if answer in VALIDATED:
            tag = f'"{web.version(row, started)}"' if web.validates[row] else ""
            if tag and request.etag == tag:
                return self._response(request, Outcome.NOT_MODIFIED, started, 304, etag=tag)
            return self._response(request, Outcome.DOCUMENT, started, 200, body=_PAGE.pack(row, started), etag=tag)
        if answer == Outcome.REDIRECT.value:
            target = web.urls[web.redirect[row]] if web.redirect[row] != NOWHERE else _ELSEWHERE
            if status == 200:  # the page itself said so
                return self._response(request, Outcome.DOCUMENT, started, 200, body=_PAGE.pack(row, started))
            return self._response(request, Outcome.REDIRECT, started, status, location=target)
        return self._response(request, Outcome(answer), started, status)

    def _response(
        self, request: Request, outcome: Outcome, started: float, status: int, reason: str = "", *, body: bytes = b"",
        etag: str = "", location: str = "",
    ) -> Response:  # fmt: skip
        now = self._clock.now()
        headers = [("etag", etag)] if etag else []
        return Response(
            request.url, outcome, started, now, now, status, reason, headers, body=body, address=request.address,
            location=location,
        )  # fmt: skip


class RecordedPages:
    """`crawl.seams.Parses`: the content of the recorded pages, by the scope and the filters in force."""

    def __init__(self, web: RecordedWeb, clock: Clock, config: ParserConfig, seconds: float) -> None:
        """`seconds`: how long a page keeps its parser busy."""
        self._web, self._clock, self._seconds = web, clock, seconds
        self._near = near_method(DEFAULT)
        self._keys: dict[int, int] = {}
        self._has_births = bool(np.isfinite(web.born).any())
        self.configure(config)

    def configure(self, config: ParserConfig) -> None:
        """Use another scope from the next page on."""
        self._chain = full_chain(config.scope, config.rules, RuleBook(config.documents).fits)
        self._has_near = config.near != "none"

    def know(self, site: str, known: KnownFacts) -> None:
        """Nothing: a recorded page has been read."""

    async def parse(self, job: ParseJob) -> Parsed:
        """The recorded content of a page."""
        row, at = _PAGE.unpack(job.body)
        await asyncio.sleep(self._seconds)
        return self._read(job.url, row, at)

    def _read(self, url: str, row: int, at: float) -> Parsed:
        web = self._web
        parsed = Parsed(url, media_type=web.media_type[row])
        kind = int(web.kind[row])
        if web.answer[row] == Outcome.REDIRECT.value:
            parsed.refresh = web.urls[web.redirect[row]] if web.redirect[row] != NOWHERE else _ELSEWHERE
        if kind in (SITEMAP, FEED):
            self._list(parsed, row, at, kind)
        else:
            self._page(parsed, row, at)
        parsed.follow_keys = packed_keys([self._key(web.number[target]) for target in parsed.follow])
        return parsed

    def _page(self, parsed: Parsed, row: int, at: float) -> None:
        web = self._web
        parsed.method, parsed.page_type, parsed.noindex = "recorded", web.page_type[row], bool(web.noindex[row])
        parsed.content_hash = _hash_at(web, row, at)
        if self._has_near:
            parsed.fingerprint = web.fingerprint[row]
            parsed.near_keys = self._near.keys(parsed.fingerprint)
        if web.canonical[row] != NOWHERE:
            parsed.canonical = web.urls[web.canonical[row]]
        parsed.feeds = [web.urls[target] for target in self._existing(web.feeds.of(row), at)]
        targets = [web.urls[target] for target in self._existing(web.links.of(row), at)]
        parsed.follow, refused = self._chain.split(targets, at)
        parsed.refused = notable(refused)

    def _list(self, parsed: Parsed, row: int, at: float, kind: int) -> None:
        web = self._web
        listed = self._existing(web.links.of(row), at)
        if kind == FEED and web.facts.feed_entries:
            listed = listed[: web.facts.feed_entries]
        parsed.method = "feed" if kind == FEED else "sitemap"
        entries = {web.urls[target]: float(web.born[target]) for target in listed if web.kind[target] != SITEMAP}
        parsed.follow, refused = self._chain.split(list(entries), at)
        parsed.refused = notable(refused)
        parsed.entries = [Entry(url, entries[url] if np.isfinite(entries[url]) else None) for url in parsed.follow]
        nested = [web.urls[target] for target in listed if web.kind[target] == SITEMAP]
        parsed.nested, _ = self._chain.split(nested, at)

    def _existing(self, targets: np.ndarray, at: float) -> list[int]:
        if self._has_births and len(targets):
            targets = targets[self._web.born[targets] <= at]
        found: list[int] = targets.tolist()
        return found

    def _key(self, row: int) -> int:
        key = self._keys.get(row)
        if key is None:
            key = self._keys[row] = key64(self._web.urls[row])
        return key


def _hash_at(web: RecordedWeb, row: int, at: float) -> str:
    """The hash of the text as it was then; only that of the last version was recorded."""
    text, changes = web.text_hash[row], len(web.changes.of(row))
    if not text or not changes:
        return text
    version = web.version(row, at)
    return text if version == changes else f"{text}-{version}"


class Visited:
    """What was fetched, in the order of commits: the simulated crawl's log."""

    def __init__(self) -> None:
        self.at: list[float] = []
        self.url: list[str] = []
        self.outcome: list[Outcome] = []
        self.again: list[bool] = []


class LoggingReporter(Reporter):
    """Reports to the frontier like the live one; writes no segment, only the log."""

    def __init__(self, frontier: Frontier, worker: str, log: Visited) -> None:
        super().__init__(frontier, worker)
        self._log = log

    def store(self, batch: Batch, results: list[Result], stored: list[Result], now: float) -> list[Verdict]:
        """Report without writing."""
        verdicts = self._frontier.report(self._worker, batch, now)
        self._note(results, verdicts)
        return verdicts

    def _note(self, results: Sequence[Result], verdicts: Sequence[Verdict]) -> None:
        log = self._log
        for result, verdict in zip(results, verdicts, strict=True):
            visit = result.visit
            if visit.fetched:
                log.at.append(visit.at)
                log.url.append(visit.task.url)
                log.outcome.append(verdict.outcome)
                log.again.append(bool(visit.task.previous))
