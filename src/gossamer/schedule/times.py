"""When a line of the plan is due next.

Times of day are local, so a day may lack one of them or have it twice. What is due at a moment that the clocks skip
is due when they have skipped it; what is due at a moment that comes twice is due at the first. A month without a
31st has its last day instead.

The next start follows from the last one, not from a list of starts: whatever was missed while the machine was off
is made up for by one run.
"""

from __future__ import annotations

import calendar
import re
from datetime import UTC, date, datetime, timedelta, tzinfo

import msgspec

from gossamer.errors import UsageError
from gossamer.schedule.config import Schedule

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 7 * 86_400.0}
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_AT = re.compile(r"(?:(?P<weekday>[a-z]+)\s+|(?P<day>\d{1,2})\s+)?(?P<hour>\d{1,2}):(?P<minute>\d{2})")
_LONGEST = 366
"""Days within which every time of a plan comes again."""


class TimeOfDay(msgspec.Struct, frozen=True):
    """A moment of each day, of one day a week or of one a month."""

    hour: int
    minute: int
    weekday: int | None = None
    """0 is Monday."""
    day: int | None = None
    """Of the month; past its end, the last day."""

    def is_on(self, day: date) -> bool:
        """Whether it comes on a day."""
        if self.weekday is not None:
            return day.weekday() == self.weekday
        if self.day is not None:
            return day.day == min(self.day, calendar.monthrange(day.year, day.month)[1])
        return True


def parse_every(text: str, what: str = "a time between two starts") -> float:
    """The seconds of a span such as `30m`, `6h` or `1d`."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhdw])\s*", text.lower())
    seconds = float(found[1]) * _UNITS[found[2]] if found else 0.0
    if seconds < 1:
        raise UsageError(f"{text!r} is not {what}: write 30m, 6h or 1d")
    return seconds


def parse_at(text: str) -> TimeOfDay:
    """A time of day (`03:30`), of a week (`sun 03:30`) or of a month (`1 03:30`)."""
    found = _AT.fullmatch(text.strip().lower())
    if found is None:
        raise _not_a_time(text)
    hour, minute = int(found["hour"]), int(found["minute"])
    weekday = _weekday(found["weekday"], text) if found["weekday"] else None
    day = int(found["day"]) if found["day"] else None
    if hour > 23 or minute > 59 or (day is not None and not 1 <= day <= 31):
        raise _not_a_time(text)
    return TimeOfDay(hour, minute, weekday, day)


def _weekday(name: str, text: str) -> int:
    matching = [number for number, short in enumerate(_DAYS) if name in (short, calendar.day_name[number].lower())]
    if not matching:
        raise _not_a_time(text)
    return matching[0]


def _not_a_time(text: str) -> UsageError:
    return UsageError(f"{text!r} is not a time of day: write 03:30, sun 03:30, or 1 03:30 for the first of the month")


def next_at(at: TimeOfDay, after: float, zone: tzinfo) -> float:
    """The first moment later than `after` (seconds since 1970) that a time of day names in a zone."""
    # The day before as well: clocks that skip midnight move what was due then to the day after.
    day = datetime.fromtimestamp(after, zone).date() - timedelta(days=1)
    for _ in range(_LONGEST + 2):
        if at.is_on(day):
            moment = _moment(datetime(day.year, day.month, day.day, at.hour, at.minute, tzinfo=zone))
            if moment > after:
                return moment
        day += timedelta(days=1)
    raise AssertionError(f"{at} never comes")  # every form of it comes at least once a month


def _moment(wall: datetime) -> float:
    """Seconds since 1970 of what a clock on the wall shows: the first time it shows it, or would have shown more."""
    early, late = wall.replace(fold=0).astimezone(UTC), wall.replace(fold=1).astimezone(UTC)
    if late >= early:  # shown once, or twice: then `early` is the first
        return early.timestamp()
    # Skipped. The clocks are changed somewhere between: `late` is reckoned by the offset after that, so it is earlier.
    before, after = int(late.timestamp()), int(early.timestamp())
    offset = wall.replace(fold=0).utcoffset()
    while after - before > 1:
        middle = (before + after) // 2
        if datetime.fromtimestamp(middle, wall.tzinfo).utcoffset() == offset:
            before = middle
        else:
            after = middle
    return float(after)


def rhythm(schedule: Schedule) -> str:
    """The times of an entry as a person reads them."""
    if schedule.always:
        return "always"
    return f"every {schedule.every}" if schedule.every else f"at {schedule.at}" if schedule.at else "never"


def next_start(schedule: Schedule, last: float | None, since: float, now: float, zone: tzinfo) -> float | None:
    """When an entry is due: in the past where a start was missed; None where it has no times.

    `last`: when it was last started. `since`: when its times were first seen: nothing before that was missed.
    Neither counts as later than `now`, so a clock that was set back delays nothing.
    """
    begun = min(last, now) if last is not None else None
    since = min(since, now)
    if schedule.every:
        return since if begun is None else begun + parse_every(schedule.every)
    if schedule.at:
        return next_at(parse_at(schedule.at), since if begun is None else max(begun, since), zone)
    return None
