"""The key by which indexes of web archives sort URLs: host reversed, everything in lower case, sessions left out.

`https://www.Example.org:8080/A/?b=2&a=1` has the key `org,example:8080)/a?a=1&b=2`. The rules are those of the Internet
Archive's SURT with its usual options, so that other programs find what is indexed here. They are for canonical URLs.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from gossamer.model.site import host_of, site_of

_SAFE = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
_WWW = re.compile(r"www\d*\.")
_PATH_SESSIONS = (
    re.compile(r"^(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)$", re.DOTALL),
    re.compile(r"^(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)$", re.DOTALL),
)
_QUERY_SESSIONS = tuple(
    re.compile(rf"^(.*)(?:{session})(?:&(.*))?$", re.DOTALL)
    for session in (
        "jsessionid=[0-9a-z]{32}", "phpsessid=[0-9a-z]{32}", "sid=[0-9a-z]{32}", "aspsessionid[a-z]{8}=[a-z]{24}",
        "cfid=[^&]+&cftoken=[^&]+",
    )
)  # fmt: skip


def sort_key(url: str) -> str:
    """The key of a canonical http(s) URL."""
    site = site_of(url)
    host, path = host_of(site), url[url.index("//") + 2 + len(site) :] or "/"
    path, _, query = path.partition("?")
    key = f"{_reversed(host)}{site[len(host) :]}){_path(path)}"
    return f"{key}?{query}" if (query := _query(query)) else key


def _reversed(host: str) -> str:
    host = host.lower()
    if host.startswith("["):
        return host
    if match := _WWW.match(host):
        host = host[match.end() :]
    return ",".join(reversed(host.split(".")))


def _path(path: str) -> str:
    path = re.sub("/{2,}", "/", _escaped(path)).lower()
    for pattern in _PATH_SESSIONS:
        path = pattern.sub(r"\1\2", path)
    return path[:-1] if path.endswith("/") and len(path) > 1 else path


def _query(query: str) -> str:
    query = _escaped(query).lower()
    for pattern in _QUERY_SESSIONS:
        query = pattern.sub(lambda match: match[1] + (match[2] or ""), query)
    if len(query) < 2:
        return query
    return "&".join("=".join(pair) for pair in sorted(tuple(part.split("=", 1)) for part in query.split("&")))


def _escaped(text: str) -> str:
    """One way of writing for all escapes: only what must be escaped is."""
    while (plain := unquote(text)) != text:
        text = plain
    return quote(text, _SAFE, errors="replace")
