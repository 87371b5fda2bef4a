"""Times and days, as programs name them."""

from __future__ import annotations

from datetime import UTC, date, datetime

from gossamer.errors import UsageError

Moment = datetime | date | str
"""A time: a `datetime`, a `date`, or ISO 8601 such as `2026-11-19` or `2026-11-19T08:30+01:00`. Without a time zone it
is UTC."""


def moment_of(value: Moment, name: str) -> datetime:
    """The time that is meant; `name`: the parameter, for the message."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise UsageError(f"{name}={value!r} is no time: write 2026-11-19 or 2026-11-19T08:30:00+01:00") from None
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)


def day_of(value: Moment, name: str) -> str:
    """The day that is meant, as dates of pages begin."""
    return moment_of(value, name).date().isoformat() if not isinstance(value, datetime) else value.date().isoformat()


def first_day(text: str) -> str:
    """The day of a page's date, which may be a year or a month only: then its first day."""
    return (text + "-01-01"[len(text) - 4 :])[:10] if 4 <= len(text) < 10 else text[:10]


def time_at(seconds: float) -> datetime:
    """Seconds since 1970 as a time."""
    return datetime.fromtimestamp(seconds, UTC)
