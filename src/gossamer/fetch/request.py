"""The request: its target, and its head as bytes.

A head is the same for all pages of a site but for the path, the cookies and the validators, so its fixed part is made
once per site. The archive's copy of a request names every header, but withholds secret values.

Pages are requested with GET; a form, which follows its head, goes to hubs only.
"""

from __future__ import annotations

import re
from urllib.parse import urlencode

import msgspec

from gossamer.errors import UsageError
from gossamer.fetch.access import CookieJar, check_access, check_headers
from gossamer.fetch.decode import ACCEPT_ENCODING
from gossamer.fetch.limits import FetchConfig, SiteAccess, Trouble
from gossamer.fetch.target import Proxy, Target
from gossamer.model.outcome import Outcome
from gossamer.model.site import host_of

# Printable ASCII only: a canonical URL has nothing else, and nothing else can end a line.
_URL = re.compile(r"(https?)://((?:\[[0-9a-f:.]+\]|[^/?#@:\[\]\\\x00-\x20\x7f-\U0010ffff]+)(?::([0-9]{1,5}))?)"
                  r"(/[\x21\x22\x24-\x7e]*)?")  # fmt: skip
_WITHHELD = "[withheld]"
_SITES = 8192
_FORM = "application/x-www-form-urlencoded"

Headers = list[tuple[str, str]]
Form = tuple[tuple[str, str], ...]


class Request(msgspec.Struct, frozen=True):
    """What to fetch."""

    url: str
    """Canonical."""
    address: str = ""
    """The pinned address from `Resolver.address_of`; `""`: the fetcher asks for it."""
    slot: str = ""
    """The key of its connection; `""`: the address, so that there is one connection to it."""
    etag: str = ""
    """The stored version's ETag, `""` if there is none: an unchanged page is not sent again."""
    last_modified: str = ""
    """The stored version's Last-Modified, likewise."""
    headers: dict[str, str] = {}
    """Further headers for this request."""
    accept_types: tuple[str, ...] | None = None
    """In place of the configured ones; `()` reads every type."""
    max_bytes: int = 0
    """In place of both configured size limits; 0 leaves them."""
    truncate: bool = False
    """A longer body is cut at the limit, not refused (robots.txt: RFC 9309, 2.5)."""
    form: Form = ()
    """Fields to POST, UTF-8; none: GET. A form is never sent again by itself."""


def target_of(url: str) -> Target:
    """The target of a canonical URL's request; raises `Trouble` (REFUSED) for other URLs."""
    match = _URL.fullmatch(url)
    if match is None:
        raise Trouble(Outcome.REFUSED, f"not a canonical http(s) URL: {url[:200]!r}")
    scheme, site, port, path = match.groups()
    secure = scheme == "https"
    number = int(port) if port else 443 if secure else 80
    if not 0 < number < 65_536:
        raise Trouble(Outcome.REFUSED, f"port {number} does not exist")
    return Target(secure, host_of(site), number, site, path or "/")


class Heads:
    """Writes request heads."""

    def __init__(self, config: FetchConfig, jar: CookieJar, proxy: Proxy | None) -> None:
        self._config = config
        self._jar = jar
        self._proxy = proxy
        self._common = _common(config)
        self._access = {_place(name): (entry, check_access(entry, name)) for name, entry in config.access.items()}
        self._fixed: dict[tuple[bool, str], tuple[str, Headers, dict[str, str]]] = {}

    def build(self, target: Target, more: Headers, form: Form = ()) -> tuple[bytes, Headers]:
        """The bytes to send, and the headers as the archive may know them."""
        method, body = "GET", b""
        if form:
            method, body = "POST", urlencode(form, errors="replace").encode("ascii")
            more = [*more, ("Content-Type", _FORM), ("Content-Length", str(len(body)))]
        key = (target.secure, target.site)
        fixed = self._fixed.get(key)
        if fixed is None:
            if len(self._fixed) >= _SITES:
                self._fixed.clear()
            fixed = self._fixed[key] = self._for_site(target)
        text, shown, own_cookies = fixed
        path = target.path
        if self._proxy is not None and not target.secure:
            path = f"http://{target.site}{path}"
        cookies = self._jar.cookies(target.site, target.secure)
        if cookies or own_cookies:
            text += f"Cookie: {'; '.join(f'{k}={v}' for k, v in (cookies | own_cookies).items())}\r\n"
            shown = [*shown, ("Cookie", _WITHHELD)]
        if more:
            text += _lines(more)
            shown = shown + more
        return f"{method} {path} HTTP/1.1\r\n{text}\r\n".encode("latin-1") + body, shown

    def _for_site(self, target: Target) -> tuple[str, Headers, dict[str, str]]:
        origin = f"{'https' if target.secure else 'http'}://{target.site}"
        access, secret = self._access.get(origin) or self._access.get(target.site) or (SiteAccess(), [])
        if self._proxy is not None and self._proxy.authorization and not target.secure:
            secret = [*secret, ("Proxy-Authorization", self._proxy.authorization)]
        replaced = {name.lower() for name, _ in secret}
        open_ = [("Host", target.site)]
        open_ += [(name, value) for name, value in self._common if name.lower() not in replaced]
        shown = open_ + [(name, _WITHHELD) for name, _ in secret]
        return _lines(open_ + secret), shown, access.cookies


def _common(config: FetchConfig) -> Headers:
    headers = {"Accept": config.accept}
    if config.accept_language:
        headers["Accept-Language"] = config.accept_language
    checked = check_headers(headers, "fetch")
    if not config.user_agent.isascii() or not config.user_agent.isprintable() or not config.user_agent.strip():
        raise UsageError("fetch.user_agent must be printable ASCII")
    checked = [("User-Agent", config.user_agent), *checked, ("Accept-Encoding", ACCEPT_ENCODING)]
    return checked if config.keepalive else [*checked, ("Connection", "close")]


def _place(name: str) -> str:
    """A key of `access` in the form in which it is looked up."""
    place = name.strip().lower().rstrip("/")
    url = place if "://" in place else f"http://{place}"
    try:
        target = target_of(f"{url}/")
    except Trouble:
        target = None
    if target is None or target.path != "/":
        raise UsageError(f"fetch.access: {name!r} is neither a site (host, host:port) nor an origin") from None
    return place


def _lines(headers: Headers) -> str:
    return "".join([f"{name}: {value}\r\n" for name, value in headers])
