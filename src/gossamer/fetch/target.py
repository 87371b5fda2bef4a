"""Where a request goes: to a site, or to the proxy or the address that the operator named."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from gossamer.errors import UsageError
from gossamer.fetch.access import basic


class Target(NamedTuple):
    """Where a URL's request goes."""

    secure: bool
    host: str
    """IPv6 literals in brackets."""
    port: int
    site: str
    """Host and port as in the URL: the Host header."""
    path: str
    """Path and query."""


class Proxy(NamedTuple):
    """A parsed proxy setting."""

    host: str
    port: int
    authorization: str


def parse_proxy(text: str) -> Proxy | None:
    """Parse `http://[user:password@]host:port`; None for `""`; else a `UsageError`."""
    if not text:
        return None
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port or parts.scheme != "http" or parts.path not in ("", "/") or parts.query:
        raise UsageError("fetch.proxy must look like http://host:port or http://user:password@host:port")
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return Proxy(host, port, basic(user, password) if parts.username else "")


def parse_overrides(overrides: Mapping[str, str]) -> dict[str, str]:
    """Addresses by host, in one spelling; a `UsageError` for invalid ones."""
    checked = {}
    for host, address in overrides.items():
        try:
            checked[host.strip().lower().rstrip(".")] = str(ip_address(address.strip().strip("[]")))
        except ValueError:
            raise UsageError(f"resolve: {host}={address}: {address!r} is not an IP address") from None
    return checked
