"""MailServer: a small SMTP server on loopback that keeps what it is given, and can be rude.

with MailServer() as server:
    ...                                # settings: smtp_host 127.0.0.1, smtp_port server.port, smtp_security none
    server.mails[0].message["Subject"]
    server.manners = MailManners(refuses="mailbox full")
"""

from __future__ import annotations

import asyncio
import contextlib
from base64 import b64decode
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from threading import Thread
from types import TracebackType
from typing import Self, cast

import msgspec


class MailManners(msgspec.Struct, frozen=True, kw_only=True):
    """How the server behaves."""

    refuses: str = ""
    """Words with which every recipient is refused (550)."""
    login: tuple[str, str] | None = None
    """User and password without which nothing is taken."""
    silent: bool = False
    """Whether it takes connections and says nothing."""
    drips: bool = False
    """Whether it says its greeting one letter a second, without an end."""
    goodbye: str = "221 bye"
    """What it says to QUIT."""


class Mail(msgspec.Struct, frozen=True):
    """A mail that was taken."""

    sender: str
    recipients: tuple[str, ...]
    data: bytes
    """As it came, dots undone."""

    @property
    def message(self) -> EmailMessage:
        """The mail, parsed."""
        return message_from_bytes(self.data, policy=default)


class MailServer:
    """A server on 127.0.0.1; start it, or use `with`."""

    def __init__(self, port: int = 0) -> None:
        self.manners = MailManners()
        self.mails: list[Mail] = []
        self.connections = 0
        self.port = port
        """0 until it listens, where none was given."""
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None
        self._talks: set[asyncio.Task[None]] = set()

    def start(self) -> Self:
        """Listen."""
        self._thread.start()
        opening = asyncio.start_server(self._talk, "127.0.0.1", self.port)
        self._server = asyncio.run_coroutine_threadsafe(opening, self._loop).result(10)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def stop(self) -> None:
        """Stop listening, and cut everybody off."""
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        for talk in list(self._talks):
            talk.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = cast("asyncio.Task[None]", asyncio.current_task())
        self._talks.add(task)
        self.connections += 1
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await _Talk(self, reader, writer).run()
        finally:
            self._talks.discard(task)
            writer.close()


class _Talk:
    """One connection."""

    def __init__(self, server: MailServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._server, self._reader, self._writer = server, reader, writer
        self._sender, self._recipients = "", list[str]()
        self._known = server.manners.login is None

    async def run(self) -> None:
        manners = self._server.manners
        if manners.silent:
            await asyncio.Event().wait()
        while manners.drips:
            self._writer.write(b"2")
            await self._writer.drain()
            await asyncio.sleep(1)
        await self._say("220 loopback ESMTP")
        while line := await self._reader.readline():
            word, _, rest = line.decode("utf-8", "replace").strip().partition(" ")
            if word.upper() == "QUIT":
                await self._say(manners.goodbye)
                return
            await self._answer(word.upper(), rest)

    async def _answer(self, word: str, rest: str) -> None:
        if word in ("EHLO", "HELO"):
            await self._say("250-loopback\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250 AUTH PLAIN")
        elif word == "AUTH":
            await self._log_in(rest)
        elif not self._known:
            await self._say("530 log in first")
        elif word == "MAIL":
            self._sender, self._recipients = _address(rest), []
            await self._say("250 ok")
        elif word == "RCPT":
            await self._take_recipient(rest)
        elif word == "DATA":
            await self._take_data()
        else:
            await self._say("250 ok" if word in ("RSET", "NOOP") else "502 what?")

    async def _log_in(self, rest: str) -> None:
        _, _, given = rest.partition(" ")
        _, user, password = (b64decode(given).decode() + "\0\0").split("\0")[:3]
        self._known = (user, password) == self._server.manners.login
        await self._say("235 welcome" if self._known else "535 wrong user or password")

    async def _take_recipient(self, rest: str) -> None:
        if self._server.manners.refuses:
            await self._say(f"550 {self._server.manners.refuses}")
            return
        self._recipients.append(_address(rest))
        await self._say("250 ok")

    async def _take_data(self) -> None:
        await self._say("354 go on")
        data = b""
        while (line := await self._reader.readline()) not in (b".\r\n", b""):
            data += line[1:] if line.startswith(b".") else line
        self._server.mails.append(Mail(self._sender, tuple(self._recipients), data))
        await self._say("250 taken")

    async def _say(self, text: str) -> None:
        self._writer.write(text.encode() + b"\r\n")
        await self._writer.drain()


def _address(rest: str) -> str:
    return rest.partition("<")[2].partition(">")[0]
