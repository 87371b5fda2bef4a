"""A real S3 server of this process, and a proxy before it that answers as badly as networks and stores do.

Only for use in a network namespace of its own: see `namespace_kit`.
"""

from __future__ import annotations

import http.client
import http.server
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

import boto3
from moto.server import ThreadedMotoServer

from gossamer.store.file_cache import FileCache
from gossamer.store.object_place import ObjectPlace, Patience

BUCKET = "crawls"
QUICK = Patience(retries=4, first=0.01, longest=0.05)
"""Retries as in real life, with shorter waits."""
_ERROR = "<?xml version='1.0'?><Error><Code>{}</Code><Message>so it is</Message></Error>"


class Asked(NamedTuple):
    """One request that reached the proxy."""

    method: str
    path: str
    """With the query."""
    length: int
    range: str


class Answer(NamedTuple):
    """What the proxy says instead of the store; with status 0 it hangs up."""

    status: int
    code: str = ""


Fault = Callable[[Asked], Answer | None]


class Store:
    """The server, the proxy before it, and what was asked."""

    def __init__(self, port: int, backend: str) -> None:
        self.endpoint = f"http://127.0.0.1:{port}"
        self.backend = backend
        self.asked: list[Asked] = []
        self.fault: Fault = lambda asked: None
        self.without_conditions = False
        """Whether the store knows no conditional writes."""
        self.lost_answers = 0
        """How many writes are done and answered with an error."""
        self.cut_short = False
        """Whether the store keeps only the first byte of what it is given."""
        self.conditional = threading.Lock()
        """Held while a conditional write is under way."""
        self._lock = threading.Lock()

    def place(self, prefix: str, cache: Path, cache_bytes: int = 1 << 30, patience: Patience = QUICK) -> ObjectPlace:
        """A place in the bucket, by the proxy."""
        return ObjectPlace(f"s3://{BUCKET}/{prefix}", FileCache(cache / "copies", cache_bytes), patience)

    def note(self, asked: Asked) -> None:
        """Keep a request in mind."""
        with self._lock:
            self.asked.append(asked)

    def good_again(self) -> None:
        """No faults from now on, and nothing asked yet."""
        self.fault, self.without_conditions = (lambda asked: None), False
        self.lost_answers, self.cut_short = 0, False
        self.asked.clear()


def for_a_while(times: int, answer: Answer, method: str = "") -> Fault:
    """A fault of the first requests only; counts each method's requests for itself where one is named."""
    left = [times]

    def fault(asked: Asked) -> Answer | None:
        if left[0] > 0 and (not method or asked.method == method):
            left[0] -= 1
            return answer
        return None

    return fault


@contextmanager
def running_store() -> Iterator[Store]:
    """Both servers, and the variables that lead to them."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    os.environ.update(AWS_ACCESS_KEY_ID="key", AWS_SECRET_ACCESS_KEY="secret", AWS_REGION="us-east-1")
    moto = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    moto.start()
    host, port = moto.get_host_and_port()
    backend = f"http://{host}:{port}"
    boto3.client("s3", endpoint_url=backend, region_name="us-east-1").create_bucket(Bucket=BUCKET)
    proxy = _Proxy(("127.0.0.1", 0), _Handler)
    proxy.store = Store(proxy.server_address[1], f"{host}:{port}")
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    os.environ["AWS_ENDPOINT_URL"] = proxy.store.endpoint
    try:
        yield proxy.store
    finally:
        proxy.shutdown()
        proxy.server_close()
        moto.stop()


class _Proxy(http.server.ThreadingHTTPServer):
    daemon_threads = True
    store: Store

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that are killed hang up; that is no news."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Proxy

    def do_any(self) -> None:
        store = self.server.store
        length = int(self.headers.get("Content-Length") or 0)
        asked = Asked(self.command, self.path, length, self.headers.get("Range", ""))
        store.note(asked)
        body = self.rfile.read(length)
        answer = store.fault(asked)
        if answer is None:
            self._pass_on(body, store)
        elif answer.status:
            self._send(answer.status, [("Content-Type", "application/xml")], _ERROR.format(answer.code).encode())
        else:
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = do_any  # noqa: N815 - the names that http.server looks for

    def _pass_on(self, body: bytes, store: Store) -> None:
        dropped = {"connection", "if-none-match"} if store.without_conditions else {"connection"}
        headers = {name: value for name, value in self.headers.items() if name.lower() not in dropped}
        if store.cut_short and self.command == "PUT":
            body, headers["Content-Length"] = body[:1], "1"
        connection = http.client.HTTPConnection(store.backend)
        # The server behind looks and then writes; a store does both at once.
        with store.conditional if "If-None-Match" in self.headers else nullcontext():
            self._ask(connection, body, headers, store)

    def _ask(self, connection: http.client.HTTPConnection, body: bytes, headers: dict[str, str], store: Store) -> None:
        try:
            connection.request(self.command, self.path, body, headers)
            reply = connection.getresponse()
            content = reply.read()
            if self.command == "PUT" and store.lost_answers > 0:
                store.lost_answers -= 1
                self._send(500, [], b"")
            else:
                self._send(reply.status, reply.getheaders(), content)
        finally:
            connection.close()

    def _send(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response_only(status)
        told = next((value for name, value in headers if name.lower() == "content-length"), str(len(body)))
        for name, value in headers:
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", told if self.command == "HEAD" else str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Says nothing."""


def wait_until(condition: Callable[[], bool], seconds: float = 600.0) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)
