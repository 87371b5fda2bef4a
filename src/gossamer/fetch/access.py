"""What only one site gets: configured access, and its own cookies.

Cookies are kept so that a site which sets one and redirects to itself lets us in the second time. They live in memory,
per site (host and port), and go back to that site only: the Domain attribute is ignored, so nothing can leak to a
neighbour, at the price of asking each host anew. Path is ignored, too.

Values from the settings are checked once; a line break in one could add headers or a second request.
"""

from __future__ import annotations

import base64
import re

from gossamer.errors import UsageError
from gossamer.fetch.conditional import http_date
from gossamer.fetch.limits import SiteAccess

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\x20-\x7e\x80-\xff\t]*")
_COOKIE_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z\[\]-]+")
_COOKIE_VALUE = re.compile(r"[\x20-\x3a\x3c-\x7e]*")
# These are ours: they frame the message, route it, or say who we are.
_OURS = frozenset(
    ("host", "connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect",
     "keep-alive", "user-agent", "accept-encoding", "proxy-authorization", "proxy-connection", "cookie",
     "if-none-match", "if-modified-since", "range")
)  # fmt: skip
_COOKIES = 50
_COOKIE_BYTES = 4096
_SITES = 16_384


def check_headers(headers: dict[str, str], where: str) -> list[tuple[str, str]]:
    """Headers from the settings as a list; a `UsageError` for one that may not be set."""
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
            raise UsageError(f"{where}: header {name!r} has characters that are not allowed in a header")
        if name.lower() in _OURS:
            raise UsageError(f"{where}: the crawler itself sets the header {name}; you cannot replace it")
    return list(headers.items())


def basic(user: str, password: str) -> str:
    """The value of an Authorization header (RFC 7617)."""
    if ":" in user:
        raise UsageError("basic_auth: a user name cannot contain a colon")
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def check_access(access: SiteAccess, where: str) -> list[tuple[str, str]]:
    """The headers of a site's access except its cookies; a `UsageError` for values that cannot be sent."""
    for name, value in access.cookies.items():
        if not _COOKIE_NAME.fullmatch(name) or not _COOKIE_VALUE.fullmatch(value):
            raise UsageError(f"{where}: cookie {name!r} has characters that are not allowed in a cookie")
    headers = check_headers(access.headers, where)
    if access.basic_auth:
        headers.append(("Authorization", basic(*access.basic_auth)))
    return headers


class CookieJar:
    """The cookies each site set, for as long as the process lives."""

    def __init__(self) -> None:
        self._sites: dict[str, dict[str, tuple[str, bool]]] = {}

    def cookies(self, site: str, secure: bool) -> dict[str, str]:
        """The cookies for a request to a site; those marked Secure over https only."""
        kept = self._sites.get(site)
        if not kept:
            return {}
        return {name: value for name, (value, only_secure) in kept.items() if secure or not only_secure}

    def keep(self, site: str, set_cookie: list[str], now: float) -> None:
        """Apply a response's Set-Cookie headers."""
        kept = self._sites.pop(site, {})
        for line in set_cookie:
            _apply(kept, line, now)
        if not kept:
            return
        while len(self._sites) >= _SITES:
            del self._sites[next(iter(self._sites))]
        self._sites[site] = kept


def _apply(kept: dict[str, tuple[str, bool]], line: str, now: float) -> None:
    pair, *attributes = line.split(";")
    name, found, value = (part.strip() for part in pair.partition("="))
    if not found or len(pair) > _COOKIE_BYTES:
        return
    if not _COOKIE_NAME.fullmatch(name) or not _COOKIE_VALUE.fullmatch(value):
        return
    kept.pop(name, None)
    expired, secure = _read_attributes(attributes, now)
    if not expired and len(kept) < _COOKIES:
        kept[name] = (value, secure)


def _read_attributes(attributes: list[str], now: float) -> tuple[bool, bool]:
    given = {}
    for attribute in attributes:
        name, _, value = attribute.partition("=")
        given[name.strip().lower()] = value.strip()
    secure = "secure" in given
    age = given.get("max-age", "")
    if age.lstrip("-").isdecimal():  # Max-Age wins over Expires (RFC 6265, 5.3)
        return age.startswith("-") or not age.strip("0"), secure
    date = http_date(given["expires"]) if "expires" in given else None
    return date is not None and date <= now, secure
