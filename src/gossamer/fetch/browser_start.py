"""The worker's side of the process with the browser: finds it, starts it, listens to it, and ends it for sure."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Self

import msgspec

from gossamer.errors import UsageError
from gossamer.fetch.browser_messages import Ask, Done, Failed, FromBrowser, Ready, Setup, ToBrowser, frame

_NAMES = (
    *("chromium-headless-shell", "headless_shell", "chromium", "chromium-browser"),
    *("google-chrome", "google-chrome-stable", "chrome"),
)
"""Programs that are Chromium; those without windows take less memory for a page, and come first."""
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONPATH", "FONTCONFIG_PATH")
"""All that the browser's process gets of the environment, which often holds secrets."""
_START = 60.0
"""Seconds a browser may take to start, on a busy machine."""
_LARGEST = 256 * 1024 * 1024
"""Most bytes of a message; more is no message of ours."""
MISSING = "pip install 'gossamer[browser]' and a Chromium (apt install chromium), or set browser.mode to off"


class BrowserDied(Exception):  # noqa: N818 - an event that the caller deals with
    """The process with the browser ended, or never began."""


def find_chromium(executable: str = "") -> str:
    """The path of a Chromium that can be driven; a `UsageError` says what to install."""
    if importlib.util.find_spec("playwright") is None:
        raise UsageError(f"Playwright is not installed, which renders pages: {MISSING}")
    if executable:
        if not os.access(executable, os.X_OK):
            raise UsageError(f"browser.executable: {executable} is not a program: name a Chromium, or leave it empty")
        return executable
    found = next(filter(None, map(shutil.which, _NAMES)), None) or _own_of_playwright()
    if found is None:
        raise UsageError(f"there is no Chromium to render pages with: {MISSING}")
    return found


def _own_of_playwright() -> str | None:
    """The newest Chromium that `playwright install` left."""
    folder = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    for pattern in ("chromium_headless_shell-*/*/*headless*shell", "chromium-*/chrome-linux*/chrome"):
        if found := list(folder.glob(pattern)):
            return str(max(found, key=lambda path: path.stat().st_mtime))
    return None


class BrowserProcess:
    """One life of a browser."""

    def __init__(
        self, setup: Setup, asked: Callable[[Ask, BrowserProcess], None], done: Callable[[Done], None]
    ) -> None:
        self._setup, self._asked, self._done = setup, asked, done
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.last_words = "it said nothing"
        self.offline = False
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._process: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None
        self._chromium = -1
        """A descriptor of Chromium's process: its number may be another's by the time it is ended."""
        self._home = ""

    @property
    def pid(self) -> int:
        """The process that drives the browser."""
        return self._process.pid if self._process is not None else 0

    async def start(self) -> Self:
        """Return when pages may come; raises `BrowserDied` if none ever may."""
        try:
            await self._begin()
        except BrowserDied:
            await self.kill()
            raise
        except OSError as error:  # no room for its folder, or no process or descriptor left
            await self.kill()
            raise BrowserDied(f"cannot start it now: {error}") from error
        return self

    async def _begin(self) -> None:
        self._home = tempfile.mkdtemp(prefix="gossamer-browser-")
        given = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gossamer.fetch.browser_process"),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True, env={**given, "HOME": self._home, "TMPDIR": self._home},
        )  # fmt: skip
        self._listening = asyncio.create_task(self._listen())
        self.send(self._setup)
        try:
            async with asyncio.timeout(_START):
                await asyncio.wait([self._ready, self.ended], return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            raise BrowserDied(f"it did not start within {_START:g} s") from None
        if not self._ready.done():
            raise BrowserDied(self.last_words)

    def send(self, message: ToBrowser) -> None:
        """Send a message; it is lost if the process has ended."""
        pipe = self._process.stdin if self._process is not None else None
        if pipe is not None and not pipe.is_closing():
            pipe.write(frame(message))

    async def _listen(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        decoder = msgspec.msgpack.Decoder(FromBrowser)
        source = self._process.stdout
        try:
            while (size := int.from_bytes(await source.readexactly(4), "little")) <= _LARGEST:
                self._heard(decoder.decode(await source.readexactly(size)))
            self.last_words = "it sent a message that is too large"
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        except msgspec.DecodeError as error:
            self.last_words = f"it sent an invalid message: {error}"
        finally:
            if not self.ended.done():
                self.ended.set_result(None)

    def _heard(self, message: FromBrowser) -> None:
        if isinstance(message, Ask):
            self._asked(message, self)
        elif isinstance(message, Done):
            self._done(message)
        elif isinstance(message, Failed):
            self.last_words = message.reason
        elif isinstance(message, Ready) and not self._ready.done():
            self.offline = message.offline
            with contextlib.suppress(OSError):
                self._chromium = os.pidfd_open(message.pid)
            self._ready.set_result(None)

    async def close(self) -> None:
        """End it in good order, or else by force."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._process.wait()
        await self.kill()

    async def kill(self) -> None:
        """End it at once, whatever a page is doing."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        if self._chromium >= 0:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._chromium, signal.SIGKILL)
            os.close(self._chromium)
            self._chromium = -1
        if self._process is not None:
            await self._process.wait()
        if self._listening is not None:
            await asyncio.gather(self._listening, return_exceptions=True)
        if self._home:
            await asyncio.to_thread(shutil.rmtree, self._home, True)
            self._home = ""
