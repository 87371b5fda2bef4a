"""Renders pages with a Chromium whose every request goes through the crawler.

A page is rendered from the response that we have already. `fetch_sub` fetches everything its scripts load, so that
every
request has the guard, the politeness and the limits of the crawl; the browser itself has no network
(`browser_process`). It runs in a process of its own, started with the first page that needs it and again when it died,
hangs, has grown too large or has rendered many pages: a script can harm its own page, and nothing else.

`Renderer.render` never fails because of a page: its answer says what happened.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self

import msgspec

from gossamer.errors import OperationError
from gossamer.fetch.browser_config import BrowserConfig
from gossamer.fetch.browser_messages import Answer, Ask, Done, Page, Setup
from gossamer.fetch.browser_start import BrowserDied, BrowserProcess, find_chromium
from gossamer.model.records import Response

log = logging.getLogger(__name__)

_PAGES = 200
"""Pages after which a browser is replaced, to get rid of leaks."""
_ATTEMPTS = 2
"""Tries of a page whose browser died, perhaps for another reason than the page."""
_IDLE = 60.0
"""Seconds without a page after which the browser ends."""
_GRACE = 10.0
"""Seconds beyond its time-out after which a page counts as hanging the browser."""


class SubRequest(msgspec.Struct, frozen=True):
    """A resource that a page wants; GET only."""

    url: str
    kind: str
    """script, xhr, fetch, stylesheet, image, font or media."""
    requested_with: str = ""


FetchSub = Callable[[SubRequest], Awaitable[Response]]
"""Fetches a resource; status 0 means that there is none, and `reason` says why."""


class Rendered(msgspec.Struct):
    """The result of rendering."""

    html: bytes = b""
    """The document after its scripts have run, UTF-8; empty if there is none."""
    target: str = ""
    """Where a script wanted to go instead; then there is no document."""
    requests: int = 0
    bytes: int = 0
    seconds: float = 0.0
    reason: str = ""
    """Why it was given up, or returned incomplete."""
    refused: list[tuple[str, str]] = []
    """Refused requests, each with the reason; the first few."""


class _Visit:
    """A page while it is rendered, with its costs over all attempts."""

    def __init__(self, fetch_sub: FetchSub) -> None:
        self.fetch_sub = fetch_sub
        self.done: asyncio.Future[Done] = asyncio.get_running_loop().create_future()
        self.result = Rendered()


class Renderer:
    """Renders pages one after the other, or `tabs` at once."""

    def __init__(
        self, config: BrowserConfig, agent: str, most_html: int = 16 * 1024 * 1024, isolate: bool = True
    ) -> None:
        self._config = config
        self._setup = Setup(
            find_chromium(config.executable), agent, os.geteuid() != 0, config.timeout, config.settle,
            config.block, config.memory, most_html, isolate,
        )  # fmt: skip
        self._tabs = asyncio.Semaphore(max(1, config.tabs))
        self._starting = asyncio.Lock()
        self._process: BrowserProcess | None = None
        self._visits: dict[int, _Visit] = {}
        self._number = self._since_start = 0
        self._ever_started = False
        self._answering: set[asyncio.Task[None]] = set()
        self._resting: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End the browser."""
        if self._resting is not None:
            self._resting.cancel()
        for task in self._answering:
            task.cancel()
        await asyncio.gather(*self._answering, return_exceptions=True)
        if self._process is not None:
            process, self._process = self._process, None
            await process.close()

    @property
    def pid(self) -> int:
        """The process with the browser; 0 while there is none."""
        return self._process.pid if self._process is not None else 0

    async def render(self, url: str, response: Response, fetch_sub: FetchSub) -> Rendered:
        """The page that was answered with this response, after its scripts have run."""
        visit = _Visit(fetch_sub)
        async with self._tabs:
            began = asyncio.get_running_loop().time()
            for attempt in range(1, _ATTEMPTS + 1):
                try:
                    await self._attempt(url, response, visit)
                    break
                except BrowserDied as died:
                    visit.result.reason = str(died)
                    log.warning("the browser died while it rendered %s (attempt %d): %s", url, attempt, died)
            visit.result.seconds = asyncio.get_running_loop().time() - began
        self._rest_later()
        return visit.result

    def _rest_later(self) -> None:
        """A browser that has nothing to do for a while gives its memory back."""
        if self._resting is not None:
            self._resting.cancel()
        self._resting = asyncio.get_running_loop().call_later(_IDLE, self._rest)

    def _rest(self) -> None:
        if self._process is not None and not self._visits and not self._starting.locked():
            process, self._process = self._process, None
            task = asyncio.create_task(process.close())
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)

    async def _attempt(self, url: str, response: Response, visit: _Visit) -> None:
        process = await self._running()
        self._number += 1
        self._since_start += 1
        number = self._number
        visit.done = asyncio.get_running_loop().create_future()
        self._visits[number] = visit
        waiting: list[asyncio.Future[Any]] = [visit.done, process.ended]
        try:
            process.send(Page(number, url, response.headers, response.body))
            async with asyncio.timeout(self._config.timeout + _GRACE):
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if not visit.done.done():
                raise BrowserDied(f"the browser ended: {process.last_words}")
            done = visit.done.result()
        except TimeoutError:
            late = f"the browser did not answer within {self._config.timeout + _GRACE:g} s"
            done = Done(number, reason=late, stuck=True)
        finally:
            del self._visits[number]
        if done.stuck:
            await self._discard(process)
        result = visit.result
        result.html, result.target, result.reason = done.html.encode(), done.target, done.reason or result.reason
        result.refused = [*result.refused, *done.refused][:100]

    async def _running(self) -> BrowserProcess:
        """The browser, started if there is none that can be used."""
        async with self._starting:
            process = self._process
            if process is not None and self._since_start >= _PAGES and not self._visits:
                self._process = None
                await process.close()
            elif process is not None and not process.ended.done():
                return process
            return await self._start()

    async def _start(self) -> BrowserProcess:
        if self._process is not None:
            await self._discard(self._process)
        try:
            process = await self._started()
        except BrowserDied as died:
            if self._ever_started:
                raise
            raise OperationError(f"cannot start Chromium: {died} ({self._setup.executable})") from died
        if not self._ever_started and not self._setup.sandbox:
            log.warning("Chromium runs without its sandbox, because you are root: run the crawl as another user")
        self._ever_started, self._since_start = True, 0
        self._process = process
        return process

    async def _started(self) -> BrowserProcess:
        try:
            return await BrowserProcess(self._setup, self._asked, self._done).start()
        except BrowserDied as died:
            if self._ever_started or not self._setup.isolate:
                raise
            # A kernel may let a process leave the network, but not open a sandbox after that: then the flags do it.
            log.info("Chromium does not start without a network (%s): its flags block every connection instead", died)
            self._setup = msgspec.structs.replace(self._setup, isolate=False)
            return await BrowserProcess(self._setup, self._asked, self._done).start()

    async def _discard(self, process: BrowserProcess) -> None:
        if self._process is process:
            self._process = None
        await process.kill()

    # -- what the browser says ----------------------------------------------------------------

    def _done(self, done: Done) -> None:
        visit = self._visits.get(done.page)
        if visit is not None and not visit.done.done():
            visit.done.set_result(done)

    def _asked(self, ask: Ask, process: BrowserProcess) -> None:
        task = asyncio.create_task(self._answer(ask, process))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _answer(self, ask: Ask, process: BrowserProcess) -> None:
        answer = Answer(ask.number)
        visit = self._visits.get(ask.page)
        if visit is not None:
            with contextlib.suppress(Exception):  # the fetcher reports by itself what went wrong
                answer = await self._fetched(ask, visit)
        process.send(answer)

    async def _fetched(self, ask: Ask, visit: _Visit) -> Answer:
        result = visit.result
        if reason := self._over(result):
            return _refused(ask, result, reason)
        result.requests += 1
        response = await visit.fetch_sub(SubRequest(ask.url, ask.kind, ask.requested_with))
        if not response.status or response.location:
            return _refused(ask, result, response.reason)
        result.bytes += len(response.body)
        if result.bytes > self._config.bytes:
            return _refused(ask, result, f"the page loads more than {self._config.bytes} bytes (browser.bytes)")
        return Answer(ask.number, response.status, response.headers, response.body)

    def _over(self, result: Rendered) -> str:
        if result.requests >= self._config.requests:
            return f"the page makes more than {self._config.requests} requests (browser.requests)"
        if result.bytes > self._config.bytes:
            return f"the page loads more than {self._config.bytes} bytes (browser.bytes)"
        return ""


def _refused(ask: Ask, result: Rendered, reason: str) -> Answer:
    if len(result.refused) < 100:
        result.refused.append((ask.url[:500], reason))
    return Answer(ask.number)
