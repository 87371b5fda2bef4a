"""Limits of a fetch, and the one exception of this package.

Every figure a server could abuse has a ceiling here. Ceilings that a page can hit in good faith (size, time) are
settings; the rest are constants beside their use.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from gossamer.errors import UsageError
from gossamer.model.outcome import Outcome

READABLE = (
    "text/html", "text/plain", "text/xml", "application/xhtml+xml", "application/xml", "application/rss+xml",
    "application/atom+xml", "application/rdf+xml", "application/feed+json",
)  # fmt: skip


class Trouble(Exception):  # noqa: N818 - not an error of ours but an outcome on its way to a Response
    """A request ended early: the outcome and one sentence. `Fetcher.fetch` turns it into a Response."""

    def __init__(self, outcome: Outcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason


class SiteAccess(msgspec.Struct, frozen=True):
    """What the crawl sends to one site, and to no other. The archive records the names, not the values."""

    cookies: dict[str, str] = {}
    """Cookies by name, sent with every request to the site."""
    basic_auth: tuple[str, str] | None = None
    """User name and password (RFC 7617)."""
    headers: dict[str, str] = {}
    """Further request headers by name."""
    javascript: Literal["", "off", "auto", "on"] = ""
    """Whether to render the pages of the site, with the values of browser.mode; empty: as browser.mode says."""


class FetchConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How the crawl fetches pages."""

    user_agent: str = ""
    """The User-Agent header: see `identity.user_agent`."""
    accept: str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5"
    """The Accept header."""
    accept_language: str = ""
    """The Accept-Language header; empty: send none."""
    accept_types: tuple[str, ...] = READABLE
    """Beginnings of the media types to read, in lower case; empty: all. The crawl also reads a response without a
    type."""
    connect_timeout: float = 10.0
    """Most seconds for the TCP connection, the answer of the proxy and the TLS handshake together."""
    idle_timeout: float = 15.0
    """Most seconds without a byte from the server."""
    total_timeout: float = 60.0
    """Most seconds from the start of a request to the last byte of its response."""
    max_bytes: int = 10 * 1024 * 1024
    """Most bytes of a body as transferred; the outcome of a longer one is too_large."""
    max_decoded: int = 10 * 1024 * 1024
    """Most bytes of a body after decompression; the outcome of a longer one is bomb."""
    max_error_bytes: int = 256 * 1024
    """Most bytes to read of the body of a redirect or an error, because only the status counts."""
    max_head_bytes: int = 64 * 1024
    """Most bytes of the status line and headers of a response, and of all interim (1xx) responses before it."""
    max_headers: int = 256
    """Most headers of a response."""
    keepalive: float = 30.0
    """Seconds to keep an unused connection open; 0: close it after each response."""
    max_idle_connections: int = 512
    """Most unused connections to keep over all sites; the crawl closes the longest unused first."""
    keep_cookies: bool = True
    """Whether to send a site its own cookies back until the process ends."""
    access: dict[str, SiteAccess] = {}
    """By site (`host` or `host:port`), or by origin (`https://host`) to leave the other scheme out."""
    proxy: str = ""
    """A proxy, `http://[user:password@]host:port`; empty: connect directly."""
    verify_tls: bool = True
    """Whether the certificate of a server must be valid for its host."""
    ca_file: str = ""
    """A PEM file of certificate authorities to trust in addition to the system's; empty: only the system's."""

    def check(self) -> None:
        """Raise a `UsageError` for a figure that cannot be meant."""
        for name in ("connect_timeout", "idle_timeout", "total_timeout", "max_bytes", "max_decoded",
                     "max_error_bytes", "max_head_bytes", "max_headers"):  # fmt: skip
            if not getattr(self, name) > 0:
                raise UsageError(f"fetch.{name} is {getattr(self, name)}: it must be greater than 0")
        for name in ("keepalive", "max_idle_connections"):
            if not getattr(self, name) >= 0:
                raise UsageError(f"fetch.{name} is {getattr(self, name)}: it must not be negative")
