"""Servers and fetchers for one test."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio
import uvloop
from fetch_kit import PATIENT, Get, MakeFetcher, Script, Serve, Web

from gossamer.clock import SystemClock
from gossamer.fetch.dns import DnsConfig, Resolver
from gossamer.fetch.guard import AddressPolicy
from gossamer.fetch.http import Fetcher
from gossamer.fetch.limits import FetchConfig
from gossamer.fetch.request import Request
from gossamer.model.records import Response


@pytest_asyncio.fixture
async def serve() -> AsyncIterator[Serve]:
    """Start a server with a script that is run for each request."""
    webs: list[Web] = []

    async def start(script: Script, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> Web:
        web = Web(script)
        await web.start(tls, host)
        webs.append(web)
        return web

    yield start
    for web in webs:
        await web.stop()


@pytest_asyncio.fixture
async def make_fetcher() -> AsyncIterator[MakeFetcher]:
    """Open a fetcher that may visit loopback, with any settings."""
    fetchers: list[Fetcher] = []

    async def make(
        allow: tuple[str, ...] = ("127.0.0.0/8", "::1"),
        hosts: dict[str, str] | None = None,
        **settings: object,
    ) -> Fetcher:
        clock, guard = SystemClock(), AddressPolicy(allow)
        dns = Resolver(DnsConfig(overrides=hosts or {}), guard, clock)
        config = FetchConfig(**{"user_agent": "Gossamer/0.1", **PATIENT, **settings})
        fetcher = Fetcher(config, guard, dns, clock)
        await fetcher.open()
        fetchers.append(fetcher)
        return fetcher

    yield make
    for fetcher in fetchers:
        await fetcher.close()


@pytest_asyncio.fixture
async def get(serve: Serve, make_fetcher: MakeFetcher) -> Get:
    """Fetch one page from a server with this script."""

    async def fetch(
        script: Script, path: str = "/", request: dict[str, object] | None = None, **settings: object
    ) -> Response:
        web = await serve(script)
        fetcher = await make_fetcher(**settings)
        return await fetcher.fetch(Request(f"http://127.0.0.1:{web.port}{path}", **(request or {})))

    return fetch


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A fresh self-signed certificate for site.test and 127.0.0.1, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-days", "2", "-subj", "/CN=site.test", "-addext", "subjectAltName=DNS:site.test,IP:127.0.0.1",
         "-keyout", str(key), "-out", str(cert)],
        check=True, capture_output=True,
    )  # fmt: skip
    return cert, key


@pytest.fixture
def server_tls(certificate: tuple[Path, Path]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context


@pytest.hookimpl(optionalhook=True)
def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The worker runs on uvloop; the standard loop must do as well."""
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
