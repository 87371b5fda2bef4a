"""Which page of a cluster of near duplicates stands for it, and why.

What others say counts first, then who had the text first, then what is at hand. Each step keeps the best of those
that are left and gives the reason if it is the one that parts them; the last step, the URL itself, always does. So
the answer does not depend on the order of the members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from gossamer.model.counts import counted, noun

MIN_CONFIDENCE = 0.5
"""Confidence from which on a publication date is believed."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Member(msgspec.Struct, frozen=True):
    """A page of a cluster, as far as the choice is concerned. Its URL is its own."""

    url: str
    first_seen: float
    """Seconds since 1970."""
    canonical_for: int = 0
    """Other pages of the cluster that name it as their canonical page."""
    published: str = ""
    """Publication date, ISO 8601; only its day counts. `""` where none is known."""
    confidence: float = 1.0
    """How sure the date is, 0 to 1."""
    rank: float | None = None
    """Link rank; None where there is none."""


class Choice(msgspec.Struct, frozen=True):
    """The page that stands for a cluster, and why in a few words."""

    member: Member
    reason: str


_Step = Callable[[Sequence[Member]], tuple[list[Member], str]]


def choose(members: Iterable[Member]) -> Choice:
    """The representative of a cluster. Raises ValueError where there are no members."""
    left = sorted(set(members), key=_by_url)
    if not left:
        raise ValueError("a cluster has at least one member")
    if len(left) == 1:
        return Choice(left[0], "the only page")
    for step in _STEPS:
        left, reason = step(left)
        if len(left) == 1:
            break
    return Choice(left[0], reason)


def _canonical(members: Sequence[Member]) -> tuple[list[Member], str]:
    most = max(member.canonical_for for member in members)
    reason = f"{counted(most, 'page')} {noun(most, 'names', 'name')} it canonical"
    return [member for member in members if member.canonical_for == most], reason


def _published_first(members: Sequence[Member]) -> tuple[list[Member], str]:
    """Those with the earliest date, unless a page without one was seen before that day."""
    days = {member: _published(member) for member in members}
    earliest = min(filter(None, days.values()), default="")
    if not earliest or any(_seen(member) < earliest for member, day in days.items() if not day):
        return list(members), ""
    return [member for member in members if days[member] == earliest], "published first"


def _seen_first(members: Sequence[Member]) -> tuple[list[Member], str]:
    earliest = min(member.first_seen for member in members)
    return [member for member in members if member.first_seen == earliest], "seen first"


def _best_ranked(members: Sequence[Member]) -> tuple[list[Member], str]:
    best = max(_rank(member) for member in members)
    return [member for member in members if _rank(member) == best], "best ranked"


def _shortest(members: Sequence[Member]) -> tuple[list[Member], str]:
    return [min(members, key=_by_url)], "shortest address"


_STEPS: tuple[_Step, ...] = (_canonical, _published_first, _seen_first, _best_ranked, _shortest)


def _published(member: Member) -> str:
    """The day of publication if it is believed: sure enough, known to the day, and not after the page was seen."""
    return believed_day(member.published, member.first_seen) if member.confidence >= MIN_CONFIDENCE else ""


def believed_day(published: str, first_seen: float) -> str:
    """The day of a publication date that is known to the day and not after the page was seen; else empty."""
    day = published[:10]
    return day if len(day) == 10 and day <= _day_seen(first_seen) else ""


def _seen(member: Member) -> str:
    return _day_seen(member.first_seen)


def _day_seen(seconds: float) -> str:
    """The last day that it was anywhere on Earth."""
    return (_EPOCH + timedelta(seconds=seconds, hours=14)).date().isoformat()


def _rank(member: Member) -> float:
    return member.rank if member.rank is not None else float("-inf")


def _by_url(member: Member) -> tuple[int, str]:
    return len(member.url), member.url
