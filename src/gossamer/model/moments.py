"""Times since 1970, written for programs."""

from __future__ import annotations

import datetime


def timestamp(seconds: float) -> str:
    """A time since 1970 for a program (RFC 3339); empty where it is unknown."""
    at = instant(seconds)
    return f"{at:%Y-%m-%dT%H:%M:%SZ}" if at else ""


def instant(seconds: float) -> datetime.datetime | None:
    """A time since 1970; none where it is unknown or no time."""
    try:
        return datetime.datetime.fromtimestamp(seconds, datetime.UTC) if seconds > 0 else None
    except (OverflowError, ValueError, OSError):
        return None
