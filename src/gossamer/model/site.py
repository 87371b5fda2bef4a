"""Which site is this? The only place that answers.

A *site* is what politeness is counted by: the host, with its port where that is
not the default one. `http://a.org/` and `https://a.org/` are one site.
A *registrable domain* is what duplicates are counted by: `news.bbc.co.uk` and
`www.bbc.co.uk` are both `bbc.co.uk`. The public suffix list comes with its
package; nothing is downloaded.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache

import xxhash
from publicsuffixlist import PublicSuffixList

_SUFFIXES: PublicSuffixList | None = None


def site_of(canonical_url: str) -> str:
    """The site of a canonical http(s) URL: `host` or `host:port`."""
    start = canonical_url.index("//") + 2
    end = canonical_url.find("/", start)
    return canonical_url[start:] if end < 0 else canonical_url[start:end]


def origin_of(canonical_url: str) -> str:
    """Scheme, host and port: what a robots.txt speaks for (RFC 9309, 2.3)."""
    end = canonical_url.find("/", canonical_url.index("//") + 2)
    return canonical_url if end < 0 else canonical_url[:end]


def host_of(site: str) -> str:
    """The host of a site, without port; IPv6 literals keep their brackets."""
    if site.startswith("["):
        return site[: site.index("]") + 1]
    return site.partition(":")[0]


@lru_cache(maxsize=65_536)
def registrable_domain(host: str) -> str:
    """The registrable domain of a host; an address or a bare suffix is its own."""
    global _SUFFIXES  # loading the list takes 50 ms: only processes that ask pay for it
    if host.startswith("[") or host.replace(".", "").isdigit():
        return host
    if _SUFFIXES is None:
        _SUFFIXES = PublicSuffixList()
    found: str | None = _SUFFIXES.privatesuffix(host)
    return found or host


def owner_of(site: str) -> str:
    """Who runs a site, by its name: the registrable domain; an address, or a name of one word, is its own site."""
    host = host_of(site)
    is_address = host.startswith("[") or host.replace(".", "").isdigit()
    return site if is_address or "." not in host else registrable_domain(host)


def section_of(canonical_url: str) -> str:
    """The part of its site that a page is in: the site with the first part of the path; empty for a start page."""
    site = site_of(canonical_url)
    path = canonical_url.partition("//")[2][len(site) :].partition("?")[0].partition("#")[0]
    first = path.strip("/").partition("/")[0]
    return f"{site}/{first}" if first else ""


def packed_keys(keys: Sequence[int]) -> bytes:
    """Keys in 8 bytes each, little-endian."""
    return struct.pack(f"<{len(keys)}q", *keys)


def unpacked_keys(packed: bytes) -> tuple[int, ...]:
    """The keys in such bytes."""
    return struct.unpack(f"<{len(packed) // 8}q", packed)


def key64(text: str) -> int:
    """A signed 64-bit key, as both databases store it.

    Rows are keyed by (site key, URL key), so two URLs collide only inside one
    site: with a million URLs on a site the chance is 3e-8.
    """
    value = xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))
    return value - (1 << 64) if value >= 1 << 63 else value
