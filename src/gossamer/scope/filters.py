"""Prefix, suffix and regular-expression filters, with allow and deny rules.

Filters stand in order and the first one that matches a URL decides; a URL that none
matches passes. So an allow rule makes an exception from the deny rules *below* it, and
`deny regex .` at the end turns the allow rules above it into the only way in.

What a pattern is compared with, always in the canonical URL:

- prefix `https://a.org/x`: the whole URL; `//a.org/x` or `a.org/x`: host and path, either
  scheme; `/x`: path and query on any host. The host is whole: `a.org` is not `a.org.evil.com`.
- suffix `.jpg`, `/print`: the end of the path, without the query, in any case;
  `//a.org`: the host `a.org` and all below it; `//.a.org`: only those below it.
- regex: found anywhere in the URL; `^` and `$` anchor it, `(?i)` ignores case (`model/expressions.py`).

Letters beyond ASCII are escaped as in canonical URLs, except in a regex.

The cost hardly grows with the number of rules: prefixes are kept by host, endings such
as `.jpg` in one dictionary, regexes in one automaton.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal
from urllib.parse import quote

import msgspec

from gossamer.errors import UsageError
from gossamer.model.counts import counted
from gossamer.model.decision import Decision, allow, refuse
from gossamer.model.expressions import MAX_PATTERN, ExpressionError, Expressions
from gossamer.model.site import host_of, site_of
from gossamer.model.url import Canonicalizer

Kind = Literal["prefix", "suffix", "regex"]
Action = Literal["allow", "deny"]

_ASCII = "".join(map(chr, range(0x21, 0x7F)))
_CANONICAL = Canonicalizer()
_NEVER = 1 << 60

_NO_DOCUMENTS = """
bmp gif ico jpe jpeg jpg png svg svgz tif tiff webp avif heic heif psd eps cr2 nef
aac aif aiff flac m4a mid midi mka mp3 oga ogg opus ra wav weba wma m3u m3u8 pls
3gp asf avi f4v flv m2ts m4v mkv mov mp4 mpe mpeg mpg ogv rm rmvb swf vob webm wmv
7z ace arj bz2 cab gz lz lz4 lzma rar tar tbz tbz2 tgz txz xz zip zst jar war ear
css less scss js mjs map wasm eot otf ttf woff woff2
apk appimage bin crx deb dll dmg exe img ipa iso msi msix pkg rpm so xpi vhd vmdk
class pyc pyo db dbf mdb sqlite sqlite3 dat parquet h5 hdf5 npy pkl
dwg dxf stl obj fbx blend kml kmz gpx shp torrent sig asc md5 sha1 sha256 sha512 pem crt cer crl
"""  # pictures, sound, video, archives, page furniture, programs, data, plans and signatures

DEFAULT_DENY_SUFFIXES: tuple[str, ...] = tuple("." + name for name in _NO_DOCUMENTS.split())
"""Suffixes of paths that are no documents. Those that may be one (`.php .xml .txt .pdf .doc …`) are not here, nor those
that end the names of sites (`.com .ai .run`). The price is known: an article at `/wiki/Node.js` needs an allow rule.
"""


class FilterRule(msgspec.Struct, frozen=True):
    """One filter."""

    kind: Kind
    action: Action
    pattern: str
    name: str = ""
    """Its name in `explain`; its place in the list if empty."""
    off: bool = False
    """Whether it is switched off for now: it decides nothing, and keeps its place."""


class Filters:
    """The rule `filter`: the first filter that matches decides."""

    name = "filter"

    def __init__(
        self, rules: Sequence[FilterRule], removed: Sequence[FilterRule] = (), endings: Sequence[FilterRule] = ()
    ) -> None:
        """`rules` are the operator's, the only ones that are numbered and counted; removals are checked before them,
        suffixes that are no documents after them. Raises a `UsageError` if a pattern, kind or action makes no sense."""
        self._rules = (*removed, *rules, *endings)
        for rule in self._rules:
            _check(rule)
        for rule in rules:  # a removal may be a whole URL, which is longer
            _check_length(rule)
        numbers = [0] * len(removed) + list(range(1, len(rules) + 1)) + [0] * len(endings)
        self._verdicts = [_verdict(number, rule) for number, rule in zip(numbers, self._rules, strict=True)]
        own = sum(not rule.off for rule in rules)
        self._none = "you have no filters" if not own else f"none of your {counted(own, 'filter')} matches"
        self._none += ", and scope.skip_files does not list the file type" if endings else ""
        self._prefixes = _Prefixes(self._of("prefix"))
        self._suffixes = _Suffixes(self._of("suffix"))
        self._regexes = _Regexes(self._of("regex"))
        self._extensions, self._double = self._suffixes.extensions, self._suffixes.double

    def decide(self, url: str, now: float) -> Decision | None:
        """The verdict of the first matching filter; None if none matches."""
        end = url.find("?")
        path = url if end < 0 else url[:end]
        # The most common case, a path without a denied suffix, costs two lookups here.
        ending = path[path.rfind(".") :].lower()
        first = self._extensions.get(ending, _NEVER)
        if self._suffixes.others or ending in self._double:
            first = min(first, self._suffixes.first(path))
        if self._prefixes.any:
            first = min(first, self._prefixes.first(url))
        if self._regexes.any:
            first = min(first, self._regexes.first(url))
        return self._verdicts[first] if first != _NEVER else None

    def verdicts(self, url: str, now: float) -> list[Decision]:
        """The verdict of every matching filter, in order; the first one counts."""
        found = [
            verdict
            for verdict, rule in zip(self._verdicts, self._rules, strict=True)
            if Filters((), [rule]).decide(url, now)
        ]
        return found or [allow(self.name, self._none)]

    def _of(self, kind: Kind) -> list[tuple[int, str]]:
        return [(place, rule.pattern) for place, rule in enumerate(self._rules) if rule.kind == kind and not rule.off]


def deny_suffixes(suffixes: Iterable[str]) -> list[FilterRule]:
    """Deny rules for suffixes that are no documents; compressed sitemaps stay allowed."""
    denied = [FilterRule("suffix", "deny", suffix, "not_document") for suffix in suffixes]
    return [FilterRule("suffix", "allow", ".xml.gz", "sitemap"), *denied] if denied else []


class _Prefixes:
    """Prefixes by their beginning: an origin, `//site`, or nothing (a path on any host)."""

    def __init__(self, patterns: list[tuple[int, str]]) -> None:
        self._by_start: dict[str, list[tuple[int, str]]] = {}
        for place, pattern in patterns:
            start, path = _split_prefix(pattern)
            self._by_start.setdefault(start, []).append((place, path))
        self._gates = {start: tuple(p for _, p in rules) for start, rules in self._by_start.items()}
        self.any = bool(patterns)

    def first(self, url: str) -> int:
        """The place of the first rule that matches."""
        slash = url.find("/", 8)
        found = _NEVER
        for start in (url[:slash], url[url.find("/") : slash], ""):
            gate = self._gates.get(start)
            if gate and url.startswith(gate, slash):
                rules = self._by_start[start]
                found = min(found, next(place for place, path in rules if url.startswith(path, slash)))
        return found


class _Suffixes:
    """Suffixes such as `.jpg` in a dictionary, all others (of paths and hosts) one by one."""

    def __init__(self, patterns: list[tuple[int, str]]) -> None:
        self.extensions: dict[str, int] = {}
        self.double: set[str] = set()
        """The last part of suffixes such as `.tar.gz`: only paths that end so are checked twice."""
        self.others = False
        """There are suffixes of other kinds, so every path is checked twice."""
        self._paths: list[tuple[int, str]] = []
        self._hosts: dict[str, int] = {}
        for place, pattern in patterns:
            self._add(place, _escape(pattern).lower())
        self._gate = tuple(path for _, path in self._paths)

    def _add(self, place: int, pattern: str) -> None:
        dot = pattern.rfind(".")
        if pattern.startswith("//"):
            self._hosts.setdefault(_host_suffix(pattern), place)
            self.others = True
        elif dot == 0:
            self.extensions.setdefault(pattern, place)
        else:
            self._paths.append((place, pattern))
            if dot > 0:
                self.double.add(pattern[dot:])
            else:
                self.others = True

    def first(self, path: str) -> int:
        """The place of the first rule, extensions aside, that matches a URL without its query."""
        found = _NEVER
        if self._paths:
            lower = path[path.find("/", 8) :].lower()
            if lower.endswith(self._gate):
                found = next(place for place, ending in self._paths if lower.endswith(ending))
        if self._hosts:
            found = min(found, self._first_host(host_of(site_of(path))))
        return found

    def _first_host(self, host: str) -> int:
        found = self._hosts.get(host, _NEVER)
        dot = host.find(".")
        while dot >= 0:
            # Both `//a.org` and `//.a.org` cover what is below a.org.
            below = min(self._hosts.get(host[dot:], _NEVER), self._hosts.get(host[dot + 1 :], _NEVER))
            found = min(found, below)
            dot = host.find(".", dot + 1)
        return found


class _Regexes:
    """Expressions that are matched all at once."""

    def __init__(self, patterns: list[tuple[int, str]]) -> None:
        self._places = [place for place, _ in patterns]
        self._expressions = Expressions([pattern for _, pattern in patterns], from_start=False)
        self.any = bool(patterns)

    def first(self, url: str) -> int:
        """The place of the first rule that matches."""
        found = self._expressions.first(url)
        return _NEVER if found is None else self._places[found]


def _check(rule: FilterRule) -> None:
    if rule.kind not in ("prefix", "suffix", "regex"):
        raise UsageError(f"filter kind {rule.kind!r} is unknown: use prefix, suffix or regex")
    if rule.action not in ("allow", "deny"):
        raise UsageError(f"filter action {rule.action!r} is unknown: use allow or deny")
    if not rule.pattern:
        raise UsageError(f"a {rule.action} {rule.kind} filter has an empty pattern")
    if rule.kind == "regex":
        try:
            Expressions([rule.pattern], from_start=False)
        except ExpressionError as error:
            raise UsageError(f"filter regex {rule.pattern!r}: {error}") from None


def _check_length(rule: FilterRule) -> None:
    size = len(rule.pattern)
    if size > MAX_PATTERN:
        start = f"{rule.pattern[:40]!r}…"
        raise UsageError(f"filter {rule.kind} {start} has {size} characters: the limit is {MAX_PATTERN}")


def _verdict(number: int, rule: FilterRule) -> Decision:
    name = f"filter.{rule.name or f'{rule.action}.{number}'}"
    what = f"{rule.action} {rule.kind} {rule.pattern!r}"
    sentence = f"filter {number}, {what}, matches" if number else f"{what} matches"
    if not number and rule.kind == "suffix":
        sentence = f"Gossamer does not fetch URLs that end in {rule.pattern} (scope.skip_files)"
    return allow(name, sentence) if rule.action == "allow" else refuse(name, sentence)


def _escape(text: str) -> str:
    return quote(text, safe=_ASCII)


def _split_prefix(pattern: str) -> tuple[str, str]:
    """Where a prefix applies, and how the path there begins."""
    if pattern.startswith("/") and not pattern.startswith("//"):
        return "", _escape(pattern)
    scheme, mark, rest = pattern.partition("//")
    if not mark or scheme not in ("", "http:", "https:"):
        scheme, rest = "", pattern
    host, _, path = rest.partition("/")
    url = _CANONICAL.parse(f"{scheme or 'http:'}//{host}/")
    if isinstance(url, Decision):
        raise UsageError(f"filter prefix {pattern!r} names no host: {url.reason}")
    return f"{scheme}//{site_of(url)}", "/" + _escape(path)


def _host_suffix(pattern: str) -> str:
    """A host suffix as canonical URLs spell it, with its leading dot if it has one."""
    bare = pattern[2:].removeprefix(".")
    url = _CANONICAL.parse(f"http://{bare}/")
    if isinstance(url, Decision):
        raise UsageError(f"filter suffix {pattern!r} names no host: {url.reason}")
    return ("." if pattern.startswith("//.") else "") + host_of(site_of(url))
