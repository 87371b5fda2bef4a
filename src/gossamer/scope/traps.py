"""Traps that show in the URL alone.

A trap is a site that makes ever new URLs for the same few pages: relative links that pile up (`/a/b/a/b/…`), forms that
grow their own query string, calendars without an end. Each guard here is a function of the canonical URL, the limits
and
the time; none has a memory. Traps that show only over many URLs (too many of one kind on a site) are counted by the
frontier, by the `path_shape` of this file.

The limits are far from what real pages use: of 28,027 news URLs and 61,056 pages of seven sites none is refused; of
182,275 links to other sites 149 are, most of them search forms, share buttons and relative links gone wrong. Measure
again when a limit changes.

The hole that remains: a trap with short, flat and ever different URLs passes all of this; the page budget of the site
and
the count of shapes stop it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache

import msgspec

from gossamer.model.decision import Decision, allow, refuse
from gossamer.scope.shape import path_shape as path_shape  # the other half of the guard is found here too


class TrapLimits(msgspec.Struct, frozen=True):
    """Limits beyond which the crawl refuses a URL as a trap."""

    url_length: int = 2048
    """Most characters of a URL. Sitemaps allow 2048; servers often stop at 8000."""
    path_depth: int = 20
    """Most segments of the path."""
    segment_repeats: int = 3
    """How often the same segment may occur in a path."""
    run_repeats: int = 3
    """A run of two or more segments that repeats this many times in a row is a trap: `/a/b/a/b/a/b`."""
    query_length: int = 512
    """Most characters of the query string."""
    query_parameters: int = 20
    """Most parameters of the query string."""
    parameter_repeats: int = 3
    """How often the same parameter may occur in a query string."""
    calendar_years_ahead: int = 2
    """How many years in the future a date in the URL may be."""
    calendar_first_year: int = 1990
    """The earliest year of a date in the URL; lower it for sites with old archives."""


Guard = Callable[[str, TrapLimits, float], str]
"""Why the URL looks like a trap, or `""`."""

# Only what can be a year in an endless calendar: the walk is stopped before it
# leaves this range, and a number outside it is more likely an id.
_YEAR = "(1[89][0-9]{2}|2[01][0-9]{2})"
_MONTH = "(?:0[1-9]|1[0-2])"
_SHORT_MONTH = "(?:0?[1-9]|1[0-2])"
_DAY = "(?:0?[1-9]|[12][0-9]|3[01])"
_CALENDAR = re.compile("calend|kalend|event|archiv|month|sched", re.IGNORECASE)
# It begins with a plain character, so `re` skips to each slash; this runs on every link.
# A date must be a whole segment: `/1941-06-22-nachalo-vojny` is the title of an article.
_PATH_DATE = re.compile(
    rf"/{_YEAR}(?:/{_MONTH}|([/-]){_SHORT_MONTH}\2{_DAY}|-{_MONTH}|(/{_SHORT_MONTH}))(?![^/?.])", re.ASCII
)
_DATE_NAME = re.compile(
    r"(?<!up)(?<!vali)(?<!candi)date|year|month|(?<![a-z])(?:day|cal|ym|ymd|yr)(?![a-z])", re.IGNORECASE
)
_ESCAPED = re.compile("%[0-9A-F]{2}")
_YEAR_HINT = re.compile(_YEAR)
_VALUE_YEAR = re.compile(
    rf"^{_YEAR}{_MONTH}(?:[0-3][0-9])?$|(?<![0-9]){_YEAR}(?![0-9])", re.ASCII
)  # 203105, 20310502, 2031-05-02, 02.05.2031, 2031


def url_length(url: str, limits: TrapLimits, now: float) -> str:
    """Too long a URL."""
    if len(url) <= limits.url_length:
        return ""
    return f"the URL has {len(url)} characters, more than {limits.url_length}"


def path_depth(url: str, limits: TrapLimits, now: float) -> str:
    """Too deep a path."""
    depth, most = len(_segments(url)), limits.path_depth
    return f"the path has {depth} segments, more than {most}" if depth > most else ""


def repeated_segments(url: str, limits: TrapLimits, now: float) -> str:
    """The same segment again and again, or a run of segments that repeats."""
    segments = _segments(url)[: limits.path_depth]  # deeper paths are the other guard's business
    if len(set(segments)) == len(segments):
        return ""
    segment, count = Counter(segments).most_common(1)[0]
    if count > limits.segment_repeats:
        return f"the path segment {segment!r} occurs {count} times, more than {limits.segment_repeats}"
    run = _repeated_run(segments, limits.run_repeats)
    return f"the path repeats /{run} {limits.run_repeats} times in a row" if run else ""


def growing_query(url: str, limits: TrapLimits, now: float) -> str:
    """A query string that has grown beyond what a form sends."""
    query = _query(url)
    if not query:
        return ""
    if len(query) > limits.query_length:
        return f"the query string has {len(query)} characters, more than {limits.query_length}"
    count = query.count("&") + 1
    if count > limits.query_parameters:
        return f"the query string has {count} parameters, more than {limits.query_parameters}"
    if count <= limits.parameter_repeats:
        return ""
    names = [pair.partition("=")[0] for pair in query.split("&")]
    if len(names) - len(set(names)) < limits.parameter_repeats:
        return ""
    name, count = Counter(names).most_common(1)[0]
    if count <= limits.parameter_repeats:
        return ""
    return f"the parameter {name!r} occurs {count} times, more than {limits.parameter_repeats}"


def calendar(url: str, limits: TrapLimits, now: float) -> str:
    """A date that no page is about: an endless calendar."""
    latest = _year(now) + limits.calendar_years_ahead
    first = limits.calendar_first_year
    for year, last in _path_years(url):
        # `/1965/03/20/the-title.html` is an article of an old newspaper; `/1965/03/20/` is a calendar.
        if year > latest or (year < first and last):
            return f"the path names the year {year}, which is not within {first} to {latest}"
    for year, alone in _query_years(_query(url)):
        # `?year=1972` alone asks for films of 1972; with a month or day it is a calendar.
        if year > latest or (year < first and not alone):
            return f"the query names the year {year}, which is not within {first} to {latest}"
    return ""


GUARDS: dict[str, Guard] = {
    "trap.length": url_length,
    "trap.depth": path_depth,
    "trap.repeat": repeated_segments,
    "trap.query": growing_query,
    "trap.calendar": calendar,
}


class TrapGuard:
    """The rule `trap`: asks every guard, after a cheap check that clears almost every URL."""

    name = "trap"

    def __init__(self, limits: TrapLimits | None = None) -> None:
        self._limits = limits = limits or TrapLimits()
        self._length = limits.url_length
        # The fewest slashes (two are the scheme's) and the fewest surplus copies of segments
        # with which a repetition is possible at all.
        self._slashes = 3 + min(limits.path_depth, limits.segment_repeats, limits.run_repeats * 2 - 1)
        self._copies = min(limits.segment_repeats, limits.run_repeats * 2 - 2)

    def decide(self, url: str, now: float) -> Decision | None:
        """The first guard's refusal, or None."""
        slashes = url.count("/")
        if (
            (slashes < self._slashes or not self._winding(url))
            and len(url) <= self._length
            and ("?" not in url or not self._odd_query(url, now))
            and ((date := _PATH_DATE.search(url)) is None or not self._odd_date(url, date, now))
        ):
            return None
        return next(self._refusals(url, now), None)

    def _winding(self, url: str) -> bool:
        """May the path be too deep or repeat itself?"""
        parts = url.partition("?")[0].split("/")
        return len(parts) - len(set(parts)) >= self._copies or len(parts) > self._limits.path_depth + 3

    def _odd_query(self, url: str, now: float) -> bool:
        """Has the query grown, or does it name an odd date?"""
        query, limits = _query(url), self._limits
        count = query.count("&") + 1
        if count > limits.query_parameters or len(query) > limits.query_length:
            return True
        if count > limits.parameter_repeats and growing_query(url, limits, now):
            return True
        return _YEAR_HINT.search(query) is not None and calendar(url, limits, now) != ""

    def _odd_date(self, url: str, date: re.Match[str], now: float) -> bool:
        """May a date be out of range? With a second date behind the first, look closely."""
        limits = self._limits
        usual = limits.calendar_first_year <= int(date[1]) <= _year(now) + limits.calendar_years_ahead
        return not usual or _PATH_DATE.search(url, date.end()) is not None

    def verdicts(self, url: str, now: float) -> list[Decision]:
        """All guards' refusals; one plain allowance where there is none."""
        return list(self._refusals(url, now)) or [allow(self.name, "no trap guard objects")]

    def _refusals(self, url: str, now: float) -> Iterator[Decision]:
        for name, guard in GUARDS.items():
            reason = guard(url, self._limits, now)
            if reason:
                yield refuse(name, reason)


def _path_start(url: str) -> int:
    return url.find("/", 8 if url[4] == "s" else 7)


def _path(url: str) -> str:
    start, end = _path_start(url), url.find("?")
    return url[start:] if end < 0 else url[start:end]


def _query(url: str) -> str:
    return url.partition("?")[2]


def _segments(url: str) -> list[str]:
    path = _path(url)
    return path[1:-1].split("/") if path.endswith("/") else path[1:].split("/")


def _repeated_run(segments: list[str], times: int) -> str:
    """The first run of two or more segments that occurs `times` in a row."""
    for size in range(2, len(segments) // times + 1):
        for start in range(len(segments) - size * times + 1):
            run = segments[start : start + size]
            if run * times == segments[start : start + size * times]:
                return "/".join(run)
    return ""


def _year(now: float) -> int:
    # Right but for a day around New Year, and six times as fast as gmtime.
    return int(1970 + now / 31_556_952)


def _path_years(url: str) -> Iterator[tuple[int, bool]]:
    """Years of the dates in a path, and whether the path ends with the date."""
    start, end = _path_start(url), url.find("?")
    end = end if end >= 0 else len(url)
    for match in _PATH_DATE.finditer(url, start, end):
        # `/1821/3`: page 3 of topic 1821, or March 1821? Only a calendar's name tells.
        if not match[3] or _CALENDAR.search(url):
            yield int(match[1]), url.find("/", match.end(), end - 1) < 0


def _query_years(query: str) -> list[tuple[int, bool]]:
    """Years in parameters that speak of time, and whether a year is alone."""
    pairs = [pair.partition("=") for pair in query.split("&")]
    dates = [(name, value) for name, _, value in pairs if _speaks_of_time(name)]
    found = []
    for name, value in dates:
        match = _VALUE_YEAR.search(_ESCAPED.sub(" ", value) if "%" in value else value)
        if match:
            alone = len(dates) == 1 and match[0] == value and "year" in name.lower()
            found.append((int(match[1] or match[2]), alone))
    return found


@lru_cache(maxsize=4096)
def _speaks_of_time(name: str) -> bool:
    return _DATE_NAME.search(name) is not None
