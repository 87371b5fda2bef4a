"""Moments as feeds and sitemaps write them.

Two forms are asked for: W3C dates in sitemaps and Atom, mail dates in RSS. Real ones deviate:
zones by name (`MSK`, `CEST`, `GMT+3`), no zone, two digits for a year, months in other
languages, the order of other tools (`Thu Jan 01 12:00:00 GMT 2004`), seconds since 1970.
Without a zone a moment is UTC: nobody can know better, and it is wrong by hours, not days.

`03/05/2024` means two days, so it is none. The expressions repeat only what is bounded.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from gossamer.model.months import MONTHS

_LONGEST = 64
_HOUR = 3600.0
_ISO = re.compile(
    r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:(?:\s{0,3}T\s{0,3}|\s{1,3})(\d{1,2}):(\d{1,2})(?::(\d{1,2})(\.\d{1,9})?)?(.*))?",
    re.I | re.S,
)
_TIME = re.compile(r"(?<!\d)(\d{1,2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?\s{0,2}([ap]\.?m\.?(?![a-z]))?", re.I)
_NUMERIC = re.compile(r"(?<!\d)(\d{1,2})\.(\d{1,2})\.(\d{4}|\d\d)(?!\d)")
_WORD = re.compile(r"[^\W\d_]{3,12}")
_LATE_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)\s{0,3}$")
_NUMBER = re.compile(r"(?<![\d:+])(\d{1,4})(?![\d:])")
_OFFSET = re.compile(r"(?:\b(?:GMT|UTC?)\s?)?([+-])\s?(\d{1,2}):?(\d{2})?(?!\d)", re.I)
_NAME = re.compile(r"\b[A-Z][A-Za-z]{0,4}\b")

# Hours east of Greenwich. Where a name means several zones, the one with the most newspapers.
_ZONES = {
    name: float(hours)
    for hours, names in (
        (-10, "HST"), (-9, "AKST"), (-8, "PST AKDT"), (-7, "MST PDT"), (-6, "CST MDT"), (-5, "EST CDT"),
        (-4, "EDT AST CLT"), (-3.5, "NST"), (-3, "BRT ART ADT"), (-2.5, "NDT"), (0, "Z UT UTC GMT WET"),
        (1, "CET BST WEST MEZ"), (2, "CEST EET MESZ SAST"), (3, "MSK EEST TRT"), (4, "MSD GST"), (5, "PKT YEKT"),
        (5.5, "IST"), (6, "OMST"), (7, "WIB ICT KRAT NOVT"), (8, "HKT SGT AWST IRKT"), (9, "JST KST YAKT"),
        (9.5, "ACST"), (10, "AEST VLAT"), (11, "AEDT MAGT"), (12, "NZST PETT"), (13, "NZDT"),
    )
    for name in names.split()
}  # fmt: skip


@lru_cache(maxsize=4_096)
def epoch(text: str) -> float | None:
    """A moment, a day, a month or a year, as seconds since 1970; None where the text is none of them."""
    text = text.strip()
    if not 4 <= len(text) <= _LONGEST:
        return None
    try:
        if text[:4].isdecimal():
            return _machine(text)
        return _human(text)
    except (ValueError, OverflowError):
        return None


def _machine(text: str) -> float | None:
    full = text + "-01-01"[len(text) - 4 :] if len(text) in (4, 7) else text
    try:
        moment = datetime.fromisoformat(full)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except ValueError:
        pass
    if text.isdecimal() and len(text) in (10, 13):
        return float(text) / (1000 if len(text) == 13 else 1)
    if match := _ISO.fullmatch(text):
        year, month, day, hour, minute, second, fraction, zone = match.groups()
        return _moment((int(year), int(month), int(day)), (hour, minute, second, fraction), zone or "")
    return _human(text)


def _human(text: str) -> float | None:
    """Words and numbers: the time has colons, the day stands before it, the zone after it."""
    time = _TIME.search(text)
    before, after = (text[: time.start()], text[time.end() :]) if time else (text, "")
    if late := _LATE_YEAR.search(after):
        # asctime: the year stands at the end, and the zone before it.
        before, after = f"{before} {late[1]}", after[: late.start()]
    day = _day_in(before)
    if day is None:
        return None
    if time is None:
        return _moment(day, ("0", "0", "0", ""), "")
    hour = int(time[1])
    if time[5]:
        hour = hour % 12 + (12 if time[5][:1].lower() == "p" else 0)
    return _moment(day, (str(hour), time[2], time[3], time[4]), after)


def _day_in(text: str) -> tuple[int, int, int] | None:
    """Year, month and day."""
    if match := _NUMERIC.search(text):
        return _full_year(match[3]), int(match[2]), int(match[1])
    month = _month_in(text)
    numbers = [match[1] for match in _NUMBER.finditer(text)]
    if month is None or len(numbers) < 2:
        return None
    day, year = numbers[:2] if len(numbers[0]) < 3 else numbers[1::-1]
    return _full_year(year), month, int(day)


def _month_in(text: str) -> int | None:
    for match in _WORD.finditer(text):
        if month := MONTHS.get(match[0].lower()):
            return month
    return None


def _full_year(digits: str) -> int:
    year = int(digits)
    if len(digits) > 2:
        return year
    return year + (2000 if year < 70 else 1900)


def _moment(day: tuple[int, int, int], time: tuple[str | None, ...], zone: str) -> float:
    hour, minute, second, fraction = time
    start = datetime(*day, tzinfo=UTC)
    past = timedelta(
        hours=int(hour or 0), minutes=int(minute or 0), seconds=min(int(second or 0), 59) + float(fraction or 0)
    )
    if past > timedelta(days=1):
        raise ValueError
    return (start + past).timestamp() - _seconds_east(zone)


def _seconds_east(zone: str) -> float:
    if match := _OFFSET.search(zone):
        hours = int(match[2]) + int(match[3] or 0) / 60
        if hours > 15:
            return 0.0
        return -hours * _HOUR if match[1] == "-" else hours * _HOUR
    for match in _NAME.finditer(zone):
        if match[0].upper() in _ZONES:
            return _ZONES[match[0].upper()] * _HOUR
    return 0.0
