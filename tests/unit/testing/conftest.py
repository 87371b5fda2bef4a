from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest


class Got:
    """A response read completely."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()
        self.text = self.body.decode("utf-8", "replace")


def fetch(web: Any, url: str, headers: dict[str, str] | None = None, method: str = "GET") -> Got:
    """One request over a connection of its own, to the address the web gives for the host."""
    site, slash, path = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(web.resolve[site.partition(":")[0]], web.port, timeout=120)
    try:
        connection.request(method, slash + path, headers={"Host": site, **(headers or {})})
        return Got(connection.getresponse())
    finally:
        connection.close()


def wait_until(condition: Callable[[], bool]) -> None:
    """Waits for the server to notice something; fails after two minutes."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("it never happened")


def speak(web: Any, host: str, path: str, *, limit: int = 1 << 18, patience: float = 120.0) -> bytes:
    """Sends a request and returns the raw bytes until the server closes, up to a limit."""
    with socket.create_connection((web.resolve[host], web.port), timeout=patience) as sock:
        sock.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}:{web.port}\r\nConnection: close\r\n\r\n".encode())
        data = b""
        try:
            while len(data) < limit and (part := sock.recv(65_536)):
                data += part
        except (TimeoutError, ConnectionResetError):
            pass
        return data


@pytest.fixture(name="fetch", scope="session")
def fetch_fixture() -> Callable[..., Got]:
    return fetch


@pytest.fixture(name="speak", scope="session")
def speak_fixture() -> Callable[..., bytes]:
    return speak


@pytest.fixture(name="wait_until", scope="session")
def wait_until_fixture() -> Callable[..., None]:
    return wait_until
