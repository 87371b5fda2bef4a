"""What a fetch may cost, and the one exception of this package.

Every figure a server could abuse has a ceiling here. Ceilings that a page can hit
in good faith (size, time) are settings; the rest are constants beside their use.
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
    """What one site, and no other, is sent. The archive records the names, not the values."""

    cookies: dict[str, str] = {}
    """Cookies by name, sent with every request to the site."""
    basic_auth: tuple[str, str] | None = None
    """User name and password (RFC 7617)."""
    headers: dict[str, str] = {}
    """Further request headers by name."""
    javascript: Literal["", "off", "auto", "on"] = ""
    """Whether pages are rendered, as browser.mode says it; empty: as it says there."""


class FetchConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How pages are fetched."""

    user_agent: str = ""
    """The User-Agent header: see `identity.user_agent`."""
    accept: str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5"
    """The Accept header."""
    accept_language: str = ""
    """The Accept-Language header; `""` sends none."""
    accept_types: tuple[str, ...] = READABLE
    """Beginnings of the media types, lower case, whose bodies are read; none listed: all are.
    A response without a type is read."""
    connect_timeout: float = 10.0
    """Seconds for the TCP connection, the proxy's consent and the TLS handshake together."""
    idle_timeout: float = 15.0
    """Seconds without a byte from the server."""
    total_timeout: float = 60.0
    """Seconds from the start of a request to the last byte of its response."""
    max_bytes: int = 10 * 1024 * 1024
    """Bytes of a body as transferred; a longer one is TOO_LARGE."""
    max_decoded: int = 10 * 1024 * 1024
    """Bytes of a body with its content encoding undone; a longer one is a BOMB."""
    max_error_bytes: int = 256 * 1024
    """Bytes read of the body of a redirect or an error, whose status is all we need."""
    max_head_bytes: int = 64 * 1024
    """Bytes of a response's status line and headers, and of all interim (1xx) responses before it."""
    max_headers: int = 256
    """Headers of a response."""
    keepalive: float = 30.0
    """Seconds an unused connection is kept; 0 closes it after each response."""
    max_idle_connections: int = 512
    """Unused connections kept over all sites; the longest unused is closed first."""
    keep_cookies: bool = True
    """Whether a site gets its cookies back until the process ends."""
    access: dict[str, SiteAccess] = {}
    """By site (`host` or `host:port`), or by origin (`https://host`) to leave the other scheme out."""
    proxy: str = ""
    """`http://[user:password@]host:port`; `""` connects directly."""
    verify_tls: bool = True
    """Whether a server's certificate must be valid for its host."""
    ca_file: str = ""
    """A PEM file of further certificate authorities; `""` trusts the system's only."""

    def check(self) -> None:
        """Raise a `UsageError` for a figure that cannot be meant."""
        for name in ("connect_timeout", "idle_timeout", "total_timeout", "max_bytes", "max_decoded",
                     "max_error_bytes", "max_head_bytes", "max_headers"):  # fmt: skip
            if not getattr(self, name) > 0:
                raise UsageError(f"fetch.{name} is {getattr(self, name)}: it must be greater than 0")
        for name in ("keepalive", "max_idle_connections"):
            if not getattr(self, name) >= 0:
                raise UsageError(f"fetch.{name} is {getattr(self, name)}: it must not be negative")
