"""The forms in which a day is written: for machines, and for people in two dozen languages.

`read_date` reads a whole string that is meant to be a date (an attribute, a JSON value);
`days_in` finds the days in a piece of prose. 03.05.2024 and 3/5/2024 mean two things, so such
a day counts only where one reading is impossible or the language settles it.

Every repetition in the expressions is bounded: time is linear on any input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime
from email.utils import parsedate_to_datetime

from gossamer.model.months import MONTHS

EARLIEST = date(1990, 1, 1)
"""Older than the web; what claims to be is a default or a mistake."""

_MONTH_FIRST = frozenset(("en-us", "en-ph"))
_DAY_FIRST = frozenset(
    "en-gb en-au en-nz en-ie en-in en-za de fr es it pt ru uk be bg nl pl cs sk ro hu tr fi el da nb no nn sv"
    " id vi ar he hi et lv lt hr sr sl mk ca gl th".split()
)

_YEAR = re.compile(r"(?:19|20)\d\d")
_AROUND = 32
"""Characters before a year in which its day and month stand."""
_WORD = r"([^\W\d_][^\s\d.,;:/()<>|_-]{1,12})"  # vowel signs of India's scripts are no letters to `re`
_DAY_MONTH = re.compile(  # 3 May, 3rd of May, 3 de mayo de, 3. Mai, 03-May-, 3 мая
    rf"(?<![\d.:/-])(\d{{1,2}})(?:st|nd|rd|th|er|[.ºª°])?[\s/-]{{0,3}}(?:de\s|of\s)?\s?{_WORD}"
    r"[.,]{0,2}[\s/-]{0,3}(?:del?\s)?$"
)
_MONTH_DAY = re.compile(rf"(?<![^\W\d_]){_WORD}\.?[\s/-]{{1,3}}(\d{{1,2}})(?:st|nd|rd|th)?[.,]{{0,2}}[\s/-]{{0,3}}$")
_NUMBERS = re.compile(r"(?<![\d/.-])(\d{1,2})([./-])(\d{1,2})\2$")
_VIETNAMESE = re.compile(r"(?<!\d)(\d{1,2})\s?tháng\s(\d{1,2}),?\s?(?:năm\s)?$")
_YEAR_FIRST = re.compile(r"(?:\s?[年년]\s?|([./-]))(\d{1,2})(?:\s?[月월]\s?|\1\s?)(\d{1,2})(?!\d)\s?[日일]?")
_YEAR_MONTH = re.compile(rf"[\s/-]{{1,2}}{_WORD}\.?[\s/-]{{1,2}}(\d{{1,2}})(?![\d:]|,?\s?(?:19|20)\d\d)")
_JOINTS = frozenset("/.-")
_SLASHED = re.compile(r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})(?!\d)(.*)", re.S)
_FRACTION = re.compile(r"\.\d{1,12}(?=[Z+\- ]|$)")


def read_date(text: str, latest: date, language: str = "") -> str:
    """A string that is a date or time, as ISO 8601; `""` where it is none or implausible."""
    text = text.strip(" \t\r\n\"'")[:60]
    if len(text) < 8:
        return ""
    moment = _moment(text)
    if moment is not None:
        if not EARLIEST <= moment.date() <= latest:
            return ""
        return moment.date().isoformat() if len(text) <= 10 else moment.isoformat(timespec="seconds")
    day = next((found for _, _, found in days_in(text, latest, language)), None)
    return day.isoformat() if day else ""


def days_in(text: str, latest: date, language: str = "") -> Iterator[tuple[int, int, date]]:
    """The plausible days written in a text: where each starts and ends, and which it is."""
    done = 0
    for match in _YEAR.finditer(text):
        if match.start() < done:
            continue
        found = _around(text, match.start(), done, language)
        if found is not None and EARLIEST <= found[2] <= latest:
            done = found[1]
            yield found


def _moment(text: str) -> datetime | None:
    if not text.isascii() or not any(map(str.isdigit, text[:8])):
        return None
    slashed = _SLASHED.fullmatch(text)
    if slashed:
        text = f"{slashed[1]}-{int(slashed[2]):02}-{int(slashed[3]):02}{slashed[4].rstrip()}"
    if text[0].isdigit():
        plain = _FRACTION.sub("", text).removesuffix(" UTC")
        for form in (plain, plain.replace(" +", "+").replace(" -", "-"), plain[:10]):
            try:
                return datetime.fromisoformat(form)
            except ValueError:
                continue
    try:
        return parsedate_to_datetime(text) if text.count(":") == 2 else None
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _around(text: str, year_at: int, done: int, language: str) -> tuple[int, int, date] | None:
    """The day whose year stands at a place."""
    year, end = int(text[year_at : year_at + 4]), year_at + 4
    if text[end : end + 1].isdigit() or text[year_at - 1 : year_at].isdigit():
        return None
    start = max(done, year_at - _AROUND)
    before = text[start:year_at]
    try:
        if text[year_at - 1 : year_at] not in _JOINTS and (match := _YEAR_FIRST.match(text, end)):
            return year_at, match.end(), date(year, int(match[2]), int(match[3]))
        if (match := _YEAR_MONTH.match(text, end)) and (month := MONTHS.get(match[1].lower())):
            return year_at, match.end(), date(year, month, int(match[2]))
        if (match := _DAY_MONTH.search(before)) and (month := MONTHS.get(match[2].lower())):
            return start + match.start(), end, date(year, month, int(match[1]))
        if (match := _MONTH_DAY.search(before)) and (month := MONTHS.get(match[1].lower())):
            return start + match.start(), end, date(year, month, int(match[2]))
        if match := _NUMBERS.search(before):
            day = _settled(int(match[1]), int(match[3]), year, language)
            return (start + match.start(), end, day) if day else None
        if match := _VIETNAMESE.search(before):
            return start + match.start(), end, date(year, int(match[2]), int(match[1]))
    except ValueError:
        pass
    return None


def _settled(first: int, second: int, year: int, language: str) -> date | None:
    """Day and month in the order that must be meant, or None."""
    language = language.lower()
    if second > 12 or (first <= 12 and language in _MONTH_FIRST):
        return date(year, first, second)
    if first > 12 or first == second or not _DAY_FIRST.isdisjoint((language, language.partition("-")[0])):
        return date(year, second, first)
    return None
