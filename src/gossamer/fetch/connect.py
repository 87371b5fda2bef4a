"""Makes connections: judges the address once more, then TCP, a proxy's tunnel, TLS.

We connect to the pinned address, never to a name, so we connect to what was judged. The host's name goes into the TLS
handshake and the Host header.

Through a proxy, the proxy connects. The target's address is resolved and judged by the guard all the same, but the
proxy
resolves the name again for itself: what it connects to is in its hands, and its network rules are the only fence. The
proxy's own address comes from the operator and is not judged. Plain http goes to the proxy in absolute form, https
through a CONNECT tunnel.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import cast

from gossamer.clock import Clock
from gossamer.errors import UsageError
from gossamer.fetch.guard import AddressPolicy
from gossamer.fetch.limits import FetchConfig, Trouble
from gossamer.fetch.target import Proxy, Target, parse_proxy
from gossamer.fetch.transport import Connection
from gossamer.model.outcome import Outcome

_TUNNEL_HEAD = 16 * 1024


class Connector:
    """Makes connections by one set of rules."""

    def __init__(self, config: FetchConfig, guard: AddressPolicy, clock: Clock) -> None:
        self._config = config
        self._guard = guard
        self._clock = clock
        self.proxy = parse_proxy(config.proxy)
        self._tls = tls_context(config)

    async def connect(self, target: Target, address: str) -> Connection:
        """A new connection for a target, at this address; raises `Trouble`."""
        verdict = self._guard.check(address)
        if not verdict.allowed:
            raise Trouble(Outcome.ADDRESS_REFUSED, verdict.reason)
        connection = Connection(self._config, self._clock, key_of(target))
        try:
            async with asyncio.timeout(self._config.connect_timeout):
                if self.proxy is None:
                    await self._direct(connection, target, address)
                else:
                    await self._through(self.proxy, connection, target)
        except (OSError, ssl.SSLError, ValueError, RuntimeError) as error:
            connection.abort()
            raise self._trouble(error, target) from None
        except BaseException:
            connection.abort()
            raise
        return connection

    async def _direct(self, connection: Connection, target: Target, address: str) -> None:
        loop = asyncio.get_running_loop()
        if target.secure:
            name = target.host.strip("[]")
            await loop.create_connection(lambda: connection, address, target.port, ssl=self._tls, server_hostname=name)
        else:
            await loop.create_connection(lambda: connection, address, target.port)

    async def _through(self, proxy: Proxy, connection: Connection, target: Target) -> None:
        loop = asyncio.get_running_loop()
        if not target.secure:
            await loop.create_connection(lambda: connection, proxy.host, proxy.port)
            return
        raw, tunnel = await loop.create_connection(_Tunnel, proxy.host, proxy.port)
        try:
            raw.write(_connect_request(proxy, target, self._config.user_agent))
            status = await tunnel.answer
            if status != 200:
                outcome = Outcome.FORBIDDEN if status in (403, 407) else Outcome.CONNECT_FAILED
                raise Trouble(outcome, f"the proxy answered {status or 'nonsense'} to CONNECT {target.site}")
            name = target.host.strip("[]")
            secured = await loop.start_tls(raw, connection, self._tls, server_hostname=name)
        except BaseException:
            raw.abort()
            raise
        connection.connection_made(cast(asyncio.Transport, secured))

    def _trouble(self, error: Exception, target: Target) -> Trouble:
        if isinstance(error, TimeoutError):
            return Trouble(Outcome.TIMEOUT, f"no connection within {self._config.connect_timeout:g} s")
        if isinstance(error, ssl.SSLCertVerificationError):
            return Trouble(Outcome.TLS_FAILED, f"the certificate is not valid: {error.verify_message}")
        if isinstance(error, ssl.SSLError):
            return Trouble(Outcome.TLS_FAILED, f"the TLS handshake failed: {error.reason or error}")
        if target.secure and isinstance(error, ConnectionResetError | ConnectionAbortedError | ValueError):
            return Trouble(Outcome.TLS_FAILED, f"the TLS handshake was cut off: {error}")
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return Trouble(Outcome.CONNECT_FAILED, f"no connection: {reason}")


class _Tunnel(asyncio.Protocol):
    """Waits for a proxy's answer to CONNECT; `answer` is its status, 0 for nonsense."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._head = b""

    def data_received(self, data: bytes) -> None:
        self._head += data
        if b"\r\n\r\n" in self._head or len(self._head) > _TUNNEL_HEAD:
            self._settle()

    def connection_lost(self, exc: Exception | None) -> None:
        self._settle()

    def _settle(self) -> None:
        if self.answer.done():
            return
        words = self._head.split(b"\r\n", 1)[0].split()
        good = len(words) > 1 and words[0].startswith(b"HTTP/1.") and words[1].isdigit()
        self.answer.set_result(int(words[1][:3]) if good and b"\r\n\r\n" in self._head else 0)


def key_of(target: Target) -> tuple[str, ...]:
    """Requests with the same key may share a connection."""
    return ("https" if target.secure else "http", target.site)


def _connect_request(proxy: Proxy, target: Target, agent: str) -> bytes:
    place = f"{target.host}:{target.port}"
    lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}", f"User-Agent: {agent}"]
    if proxy.authorization:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def tls_context(config: FetchConfig) -> ssl.SSLContext:
    """The authorities we trust; a `UsageError` for a file that cannot be read."""
    context = ssl.create_default_context()
    if config.ca_file:
        try:
            context.load_verify_locations(cafile=config.ca_file)
        except (OSError, ssl.SSLError) as error:
            raise UsageError(f"fetch.ca_file {config.ca_file!r} cannot be read: {error}") from None
    if not config.verify_tls:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["http/1.1"])
    return context
