"""The process with the browser: Playwright and Chromium, apart from the worker, because strangers' scripts run in it.

It talks to its worker over its pipes only (`browser_messages`), knows no secrets, and has no network at all if the
kernel
permits that. Otherwise Chromium's flags lead every connection nowhere. The end of its input ends it, and the browser.

A page whose scripts do not end, or that needs more memory than the browser may have, ends the process; the worker
starts
another.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import itertools
import os
import shutil
import signal
import sys
from pathlib import Path

import msgspec
from playwright.async_api import Browser, CDPSession, Error, async_playwright

from gossamer.courtesy import give_way
from gossamer.fetch.browser_messages import (
    Answer,
    Ask,
    Done,
    Failed,
    FromBrowser,
    Page,
    Ready,
    Setup,
    ToBrowser,
    frame,
    plain,
)
from gossamer.fetch.browser_pages import PageRun

FLAGS = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://127.0.0.1:1",
    "--proxy-bypass-list=<-loopback>",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-speech-api",
    "--no-pings",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--js-flags=--max-old-space-size=512",
)
"""Flags that keep Chromium from talking to anybody by itself, and a page from taking all of the memory."""
_WATCH = 0.5
"""Seconds between two checks of the browser's memory."""
_NEWNET, _NEWUSER = 0x40000000, 0x10000000


def without_network() -> bool:
    """Leave every network for good, this process and all it starts; returns whether the kernel permits that."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(_NEWNET) == 0:
        return True
    if libc.unshare(_NEWUSER | _NEWNET) != 0:
        return False
    for name, line in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with contextlib.suppress(OSError):
            Path(f"/proc/self/{name}").write_text(line, encoding="ascii")
    return True


class Service:
    """Renders the pages that come in over the pipe."""

    def __init__(self, setup: Setup, offline: bool) -> None:
        self._setup, self._offline = setup, offline
        self._numbers = itertools.count(1)
        self._asked: dict[int, asyncio.Future[Answer]] = {}
        self._runs: dict[int, asyncio.Task[None]] = {}
        self._out: asyncio.StreamWriter | None = None

    async def serve(self, reader: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
        """Until the worker closes the pipe."""
        self._out = out
        async with async_playwright() as playwright:
            try:
                browser = await playwright.chromium.launch(
                    executable_path=self._setup.executable, chromium_sandbox=self._setup.sandbox, args=list(FLAGS)
                )
            except Error as error:
                self._say(Failed(_why_not(error)))
                return
            session = await browser.new_browser_cdp_session()
            self._say(Ready(await _pid(session), self._offline))
            watch = asyncio.create_task(self._watch(session))
            browser.on("disconnected", lambda _: os._exit(1))
            await self._listen(reader, browser)
            watch.cancel()
            _clear_home()
            os._exit(0)  # a page may block the browser; it ends with its pipe

    async def _listen(self, reader: asyncio.StreamReader, browser: Browser) -> None:
        decoder = msgspec.msgpack.Decoder(ToBrowser)
        while (payload := await _frame(reader)) is not None:
            message = decoder.decode(payload)
            if isinstance(message, Page):
                self._runs[message.number] = asyncio.create_task(self._run(message, browser))
            elif isinstance(message, Answer) and (future := self._asked.pop(message.ask, None)) and not future.done():
                future.set_result(message)

    async def _run(self, page: Page, browser: Browser) -> None:
        run = PageRun(self._setup, page, self._numbers.__next__, self._ask)
        try:
            done = await run.run(browser)
        except Exception as error:  # an error of the library must not leave the worker waiting
            done = Done(page.number, reason=_first_line(error), stuck=True)
        self._runs.pop(page.number, None)
        self._say(done)

    async def _ask(self, ask: Ask) -> Answer:
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._asked[ask.number] = answer
        self._say(ask)
        try:
            return await answer
        finally:
            self._asked.pop(ask.number, None)

    async def _watch(self, session: CDPSession) -> None:
        """Give up the pages under way, and end, when the browser has grown too large."""
        while True:
            await asyncio.sleep(_WATCH)
            if not self._runs or await _memory(session) <= self._setup.memory * 1024 * 1024:
                continue
            reason = f"the browser needed more than {self._setup.memory} MiB (browser.memory)"
            for number in list(self._runs):
                self._say(Done(number, reason=reason, stuck=True))
            self._runs.clear()

    def _say(self, message: FromBrowser) -> None:
        if self._out is not None:
            self._out.write(frame(message))


def _clear_home() -> None:
    """Delete the folder that was made for this process: a worker that was killed does not."""
    home = Path(os.environ.get("HOME", ""))
    if home.name.startswith("gossamer-browser-"):
        shutil.rmtree(home, ignore_errors=True)


async def _pid(session: CDPSession) -> int:
    found = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
    return next((int(one["id"]) for one in found if one["type"] == "browser"), 0)


async def _memory(session: CDPSession) -> int:
    """Bytes that the processes of the browser have for themselves."""
    try:
        found = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
    except Error:
        return 0
    return sum(_own_bytes(int(one["id"])) for one in found)


def _own_bytes(pid: int) -> int:
    with contextlib.suppress(OSError, ValueError):
        _, resident, shared, *_ = map(int, Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split())
        return (resident - shared) * os.sysconf("SC_PAGE_SIZE")
    return 0


async def _frame(reader: asyncio.StreamReader) -> bytes | None:
    try:
        size = int.from_bytes(await reader.readexactly(4), "little")
        return await reader.readexactly(size)
    except asyncio.IncompleteReadError:
        return None


def _why_not(error: Error) -> str:
    """Why Chromium did not start, as far as it said so."""
    said = str(error)
    if "No usable sandbox" in said:
        return "there is no sandbox for it: permit user namespaces, or install the package chromium-sandbox"
    wrong = [line.partition("[err]")[2].strip() for line in said.splitlines() if "[err]" in line]
    return plain(wrong[-1])[:300] if wrong else _first_line(error)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return plain(lines[0])[:300]


async def _main() -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(os.dup(0), "rb"))
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(os.dup(1), "wb"))
    out = asyncio.StreamWriter(transport, protocol, None, loop)
    os.dup2(2, 1)  # prints must not break the protocol, and the browser gets neither pipe
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    payload = await _frame(reader)
    if payload is not None:
        setup = msgspec.msgpack.decode(payload, type=Setup)
        await Service(setup, setup.isolate and without_network()).serve(reader, out)


def main() -> None:
    """Serve until the worker closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the worker's to handle
    give_way()
    gc.set_threshold(100_000, 50, 50)
    try:
        asyncio.run(_main())
    except (BrokenPipeError, ConnectionResetError):
        return


if __name__ == "__main__":
    main()
    sys.exit(0)
