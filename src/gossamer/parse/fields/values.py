"""From what stands on a page to a value of a type."""

from __future__ import annotations

import math
import re
from datetime import date

from gossamer.model.fields import FieldType, shown
from gossamer.parse.clean import clean_line
from gossamer.parse.date.forms import days_in

MAX_CHARS = 200
"""Characters of a text; a longer one is cut."""
_LOOKED_AT = 1_000
"""Characters of a statement that are looked at."""
_LARGEST = 1e15
_SPACES = "\u00a0\u202f\u2009'’"
_NUMBER = re.compile(rf"[-−+]?(?:\d[\d.,{_SPACES}]*\d|\d|[.,]\d+)(?:[eE][-+]?\d{{1,2}}(?!\w))?")
_GROUPS = re.compile(r"(?<=\d) (?=\d{3}(?!\d))")
_ISO = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:[T ].{0,40})?", re.S)
_YES = frozenset("yes true 1 on y ja oui sí si da да instock in_stock available limitedavailability onlineonly".split())
_NO = frozenset("no false 0 off n nein non нет outofstock out_of_stock soldout discontinued unavailable".split())


def value_of(kind: FieldType, text: str, language: str, latest: date) -> str:
    """A statement of a page in the one form of a type; empty where it is no such value. `latest`: the last day that
    is plausible where a date may be a mistake."""
    line = clean_line(text[: 8 * _LOOKED_AT], _LOOKED_AT)
    if kind == "text":
        return clean_line(line, MAX_CHARS)
    if kind == "number":
        return _number(line)
    return _day(line, language, latest) if kind == "date" else _yes_or_no(line)


def _number(line: str) -> str:
    """The first number, whichever way its decimals and thousands are written."""
    found = _NUMBER.search(_GROUPS.sub("", line))
    if not found:
        return ""
    sign, digits = ("-" if found[0][0] in "-−" else ""), found[0].lstrip("-−+")
    digits, _, power = re.sub(f"[{_SPACES}]", "", digits).lower().partition("e")
    digits = _decimal_point(digits)
    try:
        number = float(f"{sign}{digits}{'e' + power if power else ''}")
    except ValueError:  # a version, an address
        return ""
    return shown(number) if math.isfinite(number) and abs(number) <= _LARGEST else ""


def _decimal_point(digits: str) -> str:
    """Digits with a point before the decimals and nothing between thousands."""
    last = max(digits.rfind("."), digits.rfind(","))
    if last < 0:
        return digits
    mark = digits[last]
    other = "," if mark == "." else "."
    whole, decimals = digits[:last], digits[last + 1 :]
    if other in whole:  # 1.299,00 and 1,299.00
        return f"{whole.replace(other, '')}.{decimals}"
    grouped = mark in whole or (mark == "," and len(decimals) == 3 and 1 <= len(whole) <= 3 and whole != "0")
    if grouped and all(len(part) == 3 for part in digits.split(mark)[1:]):  # 1,299 and 1.299.000
        return digits.replace(mark, "")
    return f"{whole}.{decimals}"


def _day(line: str, language: str, latest: date) -> str:
    """A day, month or year by ISO 8601, or the first day that the line names."""
    if found := _ISO.fullmatch(line):
        year, month, day = found.groups()
        try:
            date(int(year), int(month or 1), int(day or 1))
        except ValueError:
            return ""
        return "-".join(filter(None, (year, month, day)))
    return next((found_day.isoformat() for _, _, found_day in days_in(line, latest, language)), "")


def _yes_or_no(line: str) -> str:
    word = line.lower().rstrip("/.!").rpartition("/")[2]
    if word in _YES:
        return "yes"
    return "no" if word in _NO else ""
