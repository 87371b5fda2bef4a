"""URLs: parsed as browsers parse them, and brought to one canonical form.

Equal canonical strings mean the same row of the frontier, so this file decides
what "the same page" means before anything is fetched:

- WHATWG parsing (host case, IDNA, default ports, dot segments, odd IPv4 forms);
- the fragment, user name and password are dropped: a fragment never reaches the
  server, and credentials found in a link are not ours to send;
- percent-encoding is written one way: unreserved characters plain, hex in capitals;
- parameters that only track visitors or carry a session are dropped, as the
  settings say, and so are session ids in the path (`;jsessionid=…`, `/(S(…))/`);
- the order of the remaining parameters stays: some servers care;
- a URL of a site that is known as a mirror becomes that of its main site.

Garbage is an answer, not an accident: functions return a `Decision` with the
reason and never raise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec
import url as whatwg

from gossamer.model.decision import Decision, refuse

Base = whatwg.URL

# The look-behinds leave `%2%65` alone: decoding it would write a new escape, and the
# canonical form of the canonical form would be a third URL.
_ESCAPE = re.compile(r"%(?<!%%)(?<!%[0-9a-fA-F]%)([0-9a-fA-F]{2})")
# An escape of an unreserved character, or one with a small letter: most texts have none.
_UNUSUAL = re.compile(r"%(?:[0-9A-F]?[a-f]|[2-7][0-9A-Fa-f])")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid|sid|sessionid)=[^/;?]*", re.IGNORECASE)
_ASP_SESSION = re.compile(r"/\((?:[A-Z]\([^()/]*\))+\)(?=/|$)")

TRACKING = (
    "utm_*", "fbclid", "gclid", "gclsrc", "dclid", "msclkid", "yclid", "ysclid", "_openstat", "mc_cid",
    "mc_eid", "igshid", "wt_mc", "twclid", "ttclid", "gbraid", "wbraid", "_ga", "_gl", "vero_id",
    "oly_enc_id", "oly_anon_id", "__hssc", "__hstc", "__hsfp", "hsctatracking", "mkt_tok",
)  # fmt: skip
SESSIONS = ("phpsessid", "jsessionid", "aspsessionid*", "sessionid", "session_id", "zenid", "cfid", "cftoken")


class CanonicalRules(msgspec.Struct, frozen=True):
    """Query parameters that do not change the page, so that the crawl removes them; `name*` matches a prefix."""

    tracking: tuple[str, ...] = TRACKING
    """Parameters that only show where a visitor came from."""
    sessions: tuple[str, ...] = SESSIONS
    """Parameters that carry a session."""


class Canonicalizer:
    """Turns links into canonical URLs by one set of rules."""

    def __init__(self, rules: CanonicalRules | None = None, mirrors: Mapping[str, str] | None = None) -> None:
        """`mirrors`: sites (`host` or `host:port`) and the origins that stand for them, none of which is a mirror."""
        rules = rules or CanonicalRules()
        self._mirrors = dict(mirrors or {})
        names = [name.lower() for name in (*rules.tracking, *rules.sessions)]
        self._exact = frozenset(n for n in names if not n.endswith("*"))
        self._prefixes = tuple(n[:-1] for n in names if n.endswith("*"))

    def parse(self, text: str) -> str | Decision:
        """The canonical form of an absolute URL, or why there is none."""
        try:
            url = self._canonical(whatwg.URL.parse(text))
        except (whatwg.URLError, ValueError) as error:
            return refuse("url.syntax", f"not a URL: {error}")
        return self.mapped(url) if self._mirrors and isinstance(url, str) else url

    def resolve(self, base: Base, reference: str) -> str | Decision:
        """The canonical form of a link found on a page with this base."""
        try:
            url = self._canonical(_join(base, reference))
        except (whatwg.URLError, ValueError) as error:
            return refuse("url.syntax", f"not a URL: {error}")
        return self.mapped(url) if self._mirrors and isinstance(url, str) else url

    def literal(self, base: Base, reference: str) -> str | Decision:
        """The same, whether the link's site is a mirror or not."""
        try:
            return self._canonical(_join(base, reference))
        except (whatwg.URLError, ValueError) as error:
            return refuse("url.syntax", f"not a URL: {error}")

    def mapped(self, canonical_url: str) -> str:
        """The same page on the main site, where the URL's site is a mirror."""
        site, slash, rest = canonical_url.partition("://")[2].partition("/")
        main = self._mirrors.get(site)
        return canonical_url if main is None else f"{main}{slash}{rest}"

    def _canonical(self, url: Base) -> str | Decision:
        if url.scheme not in ("http", "https"):
            return refuse("url.scheme", f"{url.scheme}: is not crawled, only http: and https:")
        host = url.host_str
        if not host:
            return refuse("url.host", "the URL has no host")
        text = str(url)
        plain = not url.username and url.password is None and not host.endswith(".")
        if plain and "%" not in text and "?" not in text and "(" not in text and ";" not in text:
            return text.partition("#")[0]
        return self._rebuild(url, host)

    def _rebuild(self, url: Base, host: str) -> str | Decision:
        bare = host.rstrip(".")
        if not bare:
            return refuse("url.host", "the URL has no host")
        port = f":{url.port}" if url.port is not None else ""
        path = _normalise_escapes(url.path)
        kept = _without_session(path)
        query = self._clean_query(_normalise_escapes(url.query)) if url.query else ""
        text = f"{url.scheme}://{bare}{port}{kept}{'?' + query if query else ''}"
        if bare != host or kept != path:
            # What was cut may have hidden a dot segment (`/..;sid=1/`) or an address (`1..`).
            return self._canonical(whatwg.URL.parse(text))
        return text

    def _clean_query(self, query: str) -> str:
        kept = []
        for pair in query.split("&"):
            name = pair.partition("=")[0].lower()
            if pair and name not in self._exact and not name.startswith(self._prefixes):
                kept.append(pair)
        return "&".join(kept)


def parse_base(canonical_url: str) -> Base:
    """A canonical URL in the form that links are resolved against."""
    return whatwg.URL.parse(canonical_url)


def resolve_base(document_url: str, base_href: str | None) -> Base:
    """The base of a page's links: its `<base href>` where that is usable, else itself."""
    document = whatwg.URL.parse(document_url)
    if not base_href:
        return document
    try:
        base = _join(document, base_href)
    except (whatwg.URLError, ValueError):
        return document
    return base if base.scheme in ("http", "https") else document


def _join(base: Base, reference: str) -> Base:
    try:
        return base.join(reference)
    except whatwg.URLError:
        # Before a host browsers take any number of slashes for two; the library gives up at the third.
        host = reference.lstrip().lstrip("/\\")
        if not reference.lstrip()[: -len(host) or None].replace("\\", "/").startswith("///"):
            raise
        return base.join(f"//{host}")


def _without_session(path: str) -> str:
    if ";" in path:
        path = _PATH_SESSION.sub("", path)
    if "(" in path:
        path = _ASP_SESSION.sub("", path) or "/"
    return path


def _normalise_escapes(text: str) -> str:
    if "%" not in text or not _UNUSUAL.search(text):
        return text

    def one(match: re.Match[str]) -> str:
        char = chr(int(match[1], 16))
        return char if char in _UNRESERVED else "%" + match[1].upper()

    return _ESCAPE.sub(one, text)
