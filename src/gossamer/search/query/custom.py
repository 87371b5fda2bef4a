"""What readers type for fields of the operator's own: `price:10..20`, `department:"modern physics"`.

Such an operator exists where the index has the field; everywhere else its name is a word like others. A value has one
canonical form:

- text: in small letters, as the index compares it;
- number and date: `15`, `10..20`, `10..`, `..20`, each with both ends; `10..<20` without the upper one; `<10`, `>20`;
- yes-no: `yes` or `no`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from gossamer.index.custom import folded
from gossamer.model.fields import CustomField, CustomFields, shown

SAMPLE = {"number": "a number or a range such as 10..20", "date": "a date or a range such as 2024-01..2024-03",
          "yes-no": "yes or no", "text": "a value"}  # fmt: skip
_RANGE = re.compile(r"(?P<low>[^<>.]*(?:\.\d+[^<>.]*)*)\.\.\.?(?P<open><)?(?P<high>[^<>]*)")
_COMPARED = re.compile(r"(?P<sign><=|>=|<|>|≤|≥)(?P<value>[^<>]+)")
_NUMBER = re.compile(r"[-−+]?(?:\d{1,15}(?:[.,]\d{1,12})?|[.,]\d{1,12})")
_DAY = re.compile(r"(\d{4})(?:[-/.](\d\d?)(?:[-/.](\d\d?))?)?", re.ASCII)
_DAY_FIRST = re.compile(r"(?:(\d\d?)\.)?(\d\d?)\.(\d{4})", re.ASCII)
_SIMPLE = re.compile(r"[\w.<>+#&/-]+")
_MOST = 200
_WORDS = {"yes": "yes", "true": "yes", "1": "yes", "no": "no", "false": "no", "0": "no"}


class Bounds(NamedTuple):
    """Numbers between two ends; dates are seconds since 1970."""

    low: float = -math.inf
    high: float = math.inf
    with_low: bool = True
    with_high: bool = True


@lru_cache(100)
def pattern(fields: CustomFields) -> re.Pattern[str] | None:
    """What begins an operator of these fields; None if there are none."""
    names = "|".join(re.escape(field.name) for field in fields)
    return re.compile(rf"({names}):", re.IGNORECASE | re.ASCII) if names else None


def understood(field: CustomField, typed: str) -> str | None:
    """The canonical form of a value; None where it makes no sense."""
    if len(typed) > _MOST:
        return None
    if field.type == "text":
        return folded(typed) or None
    if field.type == "yes-no":
        return _WORDS.get(typed.lower())
    return _span(typed.replace(" ", ""), _number if field.type == "number" else _day)


def in_quotes(value: str) -> bool:
    """Whether a value must be written in quotes."""
    return not _SIMPLE.fullmatch(value)


def bounds(field: CustomField, value: str) -> Bounds:
    """The numbers that a canonical value covers."""
    if field.type == "yes-no":
        number = float(value == "yes")
        return Bounds(number, number)
    ends = _ends_of_number if field.type == "number" else _ends_of_day
    if compared := _COMPARED.fullmatch(value):
        first, last = ends(compared["value"])
        return Bounds(high=first, with_high=False) if compared["sign"] == "<" else Bounds(low=last, with_low=False)
    found = _RANGE.fullmatch(value)
    if not found:
        return Bounds(*ends(value))
    low = ends(found["low"])[0] if found["low"] else -math.inf
    if not found["high"]:
        return Bounds(low)
    first, last = ends(found["high"])
    return Bounds(low, first, with_high=False) if found["open"] else Bounds(low, last)


def order_named(fields: CustomFields, typed: str) -> str | None:
    """The order that somebody names, `price` or `-price`; None if there is none."""
    name = typed.lower()
    return name if any(field.sort and field.name == name.removeprefix("-") for field in fields) else None


def _span(typed: str, read: Callable[[str], str | None]) -> str | None:
    if compared := _COMPARED.fullmatch(typed):
        value, sign = read(compared["value"]), compared["sign"]
        if value is None:
            return None
        return {"<": f"<{value}", ">": f">{value}"}.get(sign) or (f"..{value}" if sign in ("<=", "≤") else f"{value}..")
    found = _RANGE.fullmatch(typed)
    if not found:
        return read(typed)
    low, high = (read(found[name]) if found[name] else "" for name in ("low", "high"))
    if low is None or high is None or not (low or high) or (found["open"] and not high):
        return None
    if found["open"] and not low:
        return f"<{high}"
    return f"{low}..{'<' if found['open'] else ''}{high}"


def _number(typed: str) -> str | None:
    if not _NUMBER.fullmatch(typed):
        return None
    return shown(float(typed.replace("−", "-").replace(",", ".")))


def _day(typed: str) -> str | None:
    if found := _DAY.fullmatch(typed):
        year, month, day = found.groups()
    elif found := _DAY_FIRST.fullmatch(typed):
        day, month, year = found.groups()
    else:
        return None
    try:
        date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return None
    return "-".join([year, *(f"{int(part):02}" for part in (month, day) if part)])


def _ends_of_number(value: str) -> tuple[float, float]:
    return float(value), float(value)


def _ends_of_day(value: str) -> tuple[float, float]:
    """The first and the last second of a year, month or day."""
    parts = list(map(int, value.split("-")))
    first = date(*[*parts, 1, 1][:3])
    if len(parts) == 3:
        following = first + timedelta(1) if first < date.max else first
    elif len(parts) == 2:
        following = (
            date(first.year + first.month // 12, first.month % 12 + 1, 1) if first < date(9999, 12, 1) else first
        )
    else:
        following = date(first.year + 1, 1, 1) if first.year < 9999 else date.max
    return _seconds(first), _seconds(following) - 1


def _seconds(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
