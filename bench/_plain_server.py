"""A server of files for machines without nginx: the same answers, the same log, one process.

    python bench/_plain_server.py SETTINGS.json       as `_nginx.py` starts it

It is slower than nginx, so a crawler's speed may be bounded by it; CPU seconds of a crawler are not.
"""

from __future__ import annotations

import asyncio
import os
import signal
import ssl
import sys
import time
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

import msgspec

_TYPES = {".html": "text/html", ".htm": "text/html", ".txt": "text/plain", ".xml": "application/xml"}
_PHRASES = {200: "OK", 301: "Moved Permanently", 404: "Not Found"}


class Place(msgspec.Struct, frozen=True):
    """A site."""

    address: str
    port: int
    root: str


class Settings(msgspec.Struct, frozen=True):
    """What to serve and how."""

    places: list[Place]
    log: str
    certificate: str = ""
    key: str = ""
    keep_alive: bool = True


async def serve(settings: Settings, log: BinaryIO) -> None:
    """Serves until it is told to end."""
    context = None
    if settings.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(settings.certificate, settings.key)
    over = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
    handlers = [_Handler(place, log, settings.keep_alive) for place in settings.places]
    servers = [
        await asyncio.start_server(handler, handler.place.address, handler.place.port, ssl=context)
        for handler in handlers
    ]
    await over.wait()
    for server in servers:
        server.close()


class _Handler:
    def __init__(self, place: Place, log: BinaryIO, keep_alive: bool) -> None:
        self.place, self._log, self._keep_alive = place, log, keep_alive

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                writer.write(self._answer(head.decode("latin-1")))
                await writer.drain()
                if not self._keep_alive:
                    break
        except (asyncio.IncompleteReadError, OSError, asyncio.CancelledError):
            pass  # the peer has gone, or the server ends
        finally:
            writer.close()

    def _answer(self, head: str) -> bytes:
        first, *lines = head.split("\r\n")
        method, target, _ = first.split(" ", 2)
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        parts = urlsplit(target)
        status, kind, body = self._file(unquote(parts.path, errors="surrogateescape"))
        host = fields.get("host", "").partition(":")[0]
        said = (f"{time.time():.3f}", self.place.address, host, str(status), method, kind, target)
        self._log.write("\t".join(said).encode("utf-8", "surrogateescape") + b"\n")
        location = f"Location: {parts.path}/\r\n" if status == 301 else ""
        connection = "keep-alive" if self._keep_alive else "close"
        answer = f"HTTP/1.1 {status} {_PHRASES[status]}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        answer += f"{location}Connection: {connection}\r\n\r\n"
        return answer.encode() + (b"" if method == "HEAD" else body)

    def _file(self, path: str) -> tuple[int, str, bytes]:
        file = Path(self.place.root + os.sep + path.lstrip("/"))
        if file.is_dir() and not path.endswith("/"):
            return 301, "text/html", b""
        file = file / "index.html" if path.endswith("/") else file
        if ".." in path or not file.is_file():
            return 404, "text/html", b"<title>404</title>"
        return 200, _TYPES.get(file.suffix, "text/html"), file.read_bytes()


if __name__ == "__main__":
    asked = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Settings)
    with Path(asked.log).open("ab", buffering=0) as file:
        asyncio.run(serve(asked, file))
