"""One page in Chromium, with a network that is made of messages.

Chromium opens no connection. Every request of a page is stopped here, and either refused or sent to the worker as an
`Ask`, which applies the guard, the politeness and the limits of any other request. Refused here:

- all but GET, and types of resources that no text comes from, or that never end;
- frames, because the crawl visits their pages by themselves;
- other documents in place of the page: the target of a script is reported, like a redirect;
- windows, downloads, sockets, service workers.

A page is complete when it has loaded and requested nothing for a while. Refused requests do not count: a page that
repeats them for ever is complete, too.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from playwright.async_api import Browser, BrowserContext, CDPSession, Error, Request, Route, WebSocketRoute
from playwright.async_api import Page as Tab

from gossamer.fetch.browser_messages import Answer, Ask, Done, Headers, Page, Setup, plain

LOADED = frozenset(("script", "xhr", "fetch", "stylesheet", "image", "font", "media"))
"""Types that may be loaded unless blocked; all others are refused."""
_UNSAYABLE = frozenset("\0\r\n")
_OURS = frozenset(
    ("content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive", "content-disposition",
     "location", "refresh", "alt-svc", "report-to", "reporting-endpoints", "nel", "strict-transport-security",
     "clear-site-data", "speculation-rules", "supports-loading-mode")
)  # fmt: skip
"""Headers that describe the transfer, or that make a browser go somewhere by itself."""
_MOST_REFUSED = 50
_LEAST_TIME = 1.0
"""Seconds that returning a document may take, even if the page's time is used up."""
_CLOSING = 5.0

# Without these objects there is nothing to try; the flags and the kernel refuse it, too.
_NO_SOCKETS = """
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport", "WebSocketStream", "SharedWorker"])
    delete globalThis[name];
"""

# The page's life is over when this runs, so its tree may be changed: the content of shadow trees moves into the
# document, and hints for browsers without scripts go.
_DOCUMENT = """(url, most) => {
    const roots = [document];
    for (const root of roots)
        for (const host of root.querySelectorAll("*"))
            if (host.shadowRoot && roots.length < 10000) {
                roots.push(host.shadowRoot);
            }
    for (const root of roots.slice(1).reverse()) {
        const light = document.createElement("div");
        light.append(...root.childNodes);
        root.host.append(light);
    }
    for (const hint of document.querySelectorAll("noscript")) hint.remove();
    if (document.baseURI.split("#")[0] !== url && !document.querySelector("base[href]") && document.head) {
        const base = document.createElement("base");
        base.href = document.baseURI;
        document.head.prepend(base);
    }
    return document.documentElement ? "<!DOCTYPE html>" + document.documentElement.outerHTML.slice(0, most) : "";
}"""

AskWorker = Callable[[Ask], Awaitable[Answer]]


class _World:
    """A world beside the page's scripts, which sees the same tree and which they cannot reach."""

    def __init__(self, session: CDPSession, context: int) -> None:
        self._session, self._context = session, context

    @classmethod
    async def beside(cls, context: BrowserContext, tab: Tab) -> _World:
        """The one of a tab."""
        session = await context.new_cdp_session(tab)
        frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        world = await session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "reader"})
        return cls(session, world["executionContextId"])

    async def call(self, function: str, *arguments: str | int) -> Any:
        """The result of a function, or of its promise, in that world."""
        given = {
            "functionDeclaration": function, "executionContextId": self._context, "returnByValue": True,
            "awaitPromise": True, "arguments": [{"value": argument} for argument in arguments],
        }  # fmt: skip
        found: dict[str, Any] = await self._session.send("Runtime.callFunctionOn", given)
        return found.get("result", {}).get("value")


class PageRun:
    """A page from its document to its text."""

    def __init__(self, setup: Setup, page: Page, numbers: Callable[[], int], ask: AskWorker) -> None:
        self._setup, self._page, self._numbers, self._ask = setup, page, numbers, ask
        self._loop = asyncio.get_running_loop()
        self._ends_at = self._loop.time() + setup.timeout
        self._tab: Tab | None = None
        self._world: _World | None = None
        self._given = False
        self._loaded = False
        self._waiting = 0
        self._active_at = self._loop.time()
        self._target = ""
        self._crashed = False
        self._changed = asyncio.Event()
        self._refused: list[tuple[str, str]] = []
        self._reason = ""

    async def run(self, browser: Browser) -> Done:
        """Render the page in a context of its own, of which nothing remains."""
        context = await browser.new_context(
            user_agent=self._setup.agent, service_workers="block", accept_downloads=False,
            viewport={"width": 1280, "height": 2000},
        )  # fmt: skip
        stuck = False
        try:
            html = await self._rendered(context)
        except TimeoutError:
            html, stuck = "", True
            self._reason = f"its scripts did not end within {self._setup.timeout:g} s (browser.timeout)"
        except Error as error:
            html, self._reason = "", self._reason or plain(str(error).partition("\n")[0])[:200]
        finally:
            if not stuck:
                stuck = not await _closed(context)
        if self._crashed:
            html, self._reason = "", "the page crashed the browser's process"
        return Done(self._page.number, plain(html), plain(self._target), self._reason, self._refused, stuck)

    async def _rendered(self, context: BrowserContext) -> str:
        await context.add_init_script(_NO_SOCKETS)
        await context.route("**/*", self._routed)
        await context.route_web_socket("**/*", self._socket)
        self._tab = tab = await context.new_page()
        context.on("page", self._window)
        tab.on("dialog", lambda dialog: dialog.dismiss())
        tab.on("domcontentloaded", lambda _: self._note_loaded())
        tab.on("crash", lambda _: self._note_crash())
        async with asyncio.timeout_at(self._ends_at):
            await tab.goto(self._page.url, wait_until="commit", timeout=0)
            self._world = await _World.beside(context, tab)
        await self._settled()
        return "" if self._crashed or self._target else await self._document()

    async def _settled(self) -> None:
        """Wait until the page is complete, wants to be another one, or has used up its time."""
        while not self._target and not self._crashed:
            now = self._loop.time()
            quiet_at = self._active_at + self._setup.settle if self._loaded and not self._waiting else self._ends_at
            if now >= self._ends_at:
                self._reason = f"not complete after {self._setup.timeout:g} s (browser.timeout)"
                return
            if now >= quiet_at and await self._is_idle():
                return
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(min(quiet_at, self._ends_at)):
                    await self._changed.wait()

    async def _is_idle(self) -> bool:
        """Whether the page's scripts have run and nothing is requested: on a busy machine scripts take their time."""
        assert self._world is not None
        before = self._active_at
        with contextlib.suppress(TimeoutError, Error):
            async with asyncio.timeout_at(self._ends_at):
                await self._world.call("() => new Promise(done => setTimeout(done, 0))")
        return self._active_at == before and not self._waiting

    async def _document(self) -> str:
        """The tree as it is now."""
        assert self._world is not None
        left = max(_LEAST_TIME, self._ends_at - self._loop.time())
        async with asyncio.timeout(left):
            html = await self._world.call(_DOCUMENT, self._page.url, self._setup.most_html)
        if not isinstance(html, str) or not html:
            self._reason = self._reason or "the page's document is gone"
            return ""
        return html[: self._setup.most_html + 100]

    # -- what a page wants --------------------------------------------------------------------

    async def _routed(self, route: Route) -> None:
        request = route.request
        with contextlib.suppress(Error):  # the page is gone
            if self._is_document(request):
                await self._navigated(route, request)
            elif reason := self._refusal(request):
                self._refuse(request.url, reason)
                await route.abort("blockedbyclient")
            else:
                await self._load(route, request)

    def _is_document(self, request: Request) -> bool:
        return request.is_navigation_request() and self._tab is not None and request.frame == self._tab.main_frame

    async def _navigated(self, route: Route, request: Request) -> None:
        """The first navigation is ours and gets the document; each later one is a script's."""
        if not self._given:
            self._given = True
            await route.fulfill(status=200, headers=headers_told(self._page.headers), body=self._page.body)
            return
        url = request.url.partition("#")[0]
        if request.method != "GET":
            self._refuse(url, f"only GET requests for pages are allowed, not {request.method}")
        elif url != self._page.url and not self._target:
            self._target = url
            self._changed.set()
        await route.abort("aborted")

    def _refusal(self, request: Request) -> str:
        if request.is_navigation_request():
            return "frames and windows are not loaded"
        if request.method != "GET":
            return f"scripts may only send GET requests, not {request.method}"
        if request.resource_type not in LOADED or request.resource_type in self._setup.block:
            return f"resources of the type {request.resource_type} are not loaded"
        return "" if request.url.startswith(("http://", "https://")) else "not an http(s) URL"

    async def _load(self, route: Route, request: Request) -> None:
        with_header = plain(request.headers.get("x-requested-with", ""))
        ask = Ask(self._numbers(), self._page.number, plain(request.url), request.resource_type, with_header)
        self._waiting += 1
        try:
            answer = await self._ask(ask)
            if answer.status:
                await route.fulfill(status=answer.status, headers=headers_told(answer.headers), body=answer.body)
                self._active_at = self._loop.time()
            else:
                await route.abort("blockedbyclient")
        finally:
            self._waiting -= 1
            self._changed.set()

    async def _socket(self, socket: WebSocketRoute) -> None:
        self._refuse(socket.url, "scripts may not open sockets")
        with contextlib.suppress(Error):
            await socket.close(code=1001, reason="not available")

    async def _window(self, tab: Tab) -> None:
        with contextlib.suppress(Error):
            await tab.close()

    def _refuse(self, url: str, reason: str) -> None:
        if len(self._refused) < _MOST_REFUSED:
            self._refused.append((plain(url[:500]), reason))

    def _note_loaded(self) -> None:
        self._loaded, self._active_at = True, self._loop.time()
        self._changed.set()

    def _note_crash(self) -> None:
        self._crashed = True
        self._changed.set()


async def _closed(context: BrowserContext) -> bool:
    """Close a context; returns whether that was possible."""
    try:
        async with asyncio.timeout(_CLOSING):
            await context.close()
    except TimeoutError:
        return False
    except Error:
        pass
    return True


def headers_told(headers: Headers) -> dict[str, str]:
    """A response's headers for Chromium; several of one name become one. It would wait for ever on one that it cannot
    represent."""
    kept: dict[str, str] = {}
    for name, value in headers:
        lower = name.lower()
        if lower not in _OURS and not _UNSAYABLE.intersection(value):
            between = "\n" if lower == "set-cookie" else ", "
            kept[lower] = f"{kept[lower]}{between}{value}" if lower in kept else value
    return kept
