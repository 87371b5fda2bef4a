"""Dates as seconds."""

from __future__ import annotations

import re
from datetime import datetime

_ISO = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?(?:[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?(Z|[+-]\d\d:?\d\d)?)?")


def date_seconds(date: str | None) -> int | None:
    """Seconds since 1970 at which a date of any precision begins, UTC if it names no zone; None if it is none."""
    found = _ISO.match(date or "")
    if not found:
        return None
    year, month, day, time, zone = found.groups()
    text = f"{year}-{month or '01'}-{day or '01'}T{time or '00:00'}{zone or '+00:00'}"
    try:
        return int(datetime.fromisoformat(text.replace(" ", "T")).timestamp())
    except ValueError:
        return None
