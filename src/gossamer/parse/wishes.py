"""What a page asks of crawlers: `<meta name="robots">` and the X-Robots-Tag header.

- Values are lists of words; upper and lower case are the same, unknown words mean nothing.
- `name: words` in a header, or a meta element of that name, speaks to one crawler only. Others'
  wishes are ignored; ours and everybody's are joined, and the stricter one holds.
- `none` is `noindex, nofollow`. After `unavailable_after` a page is `noindex`.
- Words about AI use are recorded and change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import msgspec

_AI_WORDS = frozenset({"noai", "noimageai", "noml"})
_VALUED = frozenset({"max-snippet", "max-image-preview", "max-video-preview"})
_TDM = "tdm-reservation"
# A date may hold one comma, after the weekday.
_ITEM = re.compile(
    r"unavailable_after\s*:\s*(?P<date>[^,;]*(?:,\s*\d[^,;]*)?)|(?P<name>[a-z][\w.-]*)\s*:|(?P<word>[^\s,;]+)",
    re.IGNORECASE,
)


class RobotsMeta(msgspec.Struct, frozen=True):
    """The wishes of one page, all sources joined."""

    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False
    ai_signals: tuple[str, ...] = ()
    """`noai`, `noimageai`, `noml`, `tdm-reservation=…`, each once."""
    unavailable_after: float | None = None
    """Seconds since 1970 from which the page counts as noindex."""

    def noindex_at(self, now: float) -> bool:
        """Whether the page asks to stay out of the index at this time."""
        return self.noindex or (self.unavailable_after is not None and now >= self.unavailable_after)


NOTHING = RobotsMeta()
"""The page asks for nothing."""


def parse_header(values: Iterable[str], agent: str) -> RobotsMeta:
    """The wishes in the values of X-Robots-Tag. A crawler's name holds to the end of its value."""
    return combine([_read(value, agent.lower()) for value in values])


def parse_meta(elements: Iterable[tuple[str, str]], agent: str) -> RobotsMeta:
    """The wishes in meta elements, given as name and content; others than robots' are ignored."""
    found = []
    for name, content in elements:
        name = name.strip().lower()
        if name in ("robots", agent.lower()):
            found.append(_read(content, agent.lower()))
        elif name == _TDM and content.strip():
            found.append(RobotsMeta(ai_signals=(f"{_TDM}={content.strip()[:80]}",)))
    return combine(found)


def combine(wishes: Iterable[RobotsMeta]) -> RobotsMeta:
    """The strictest of all."""
    wishes = [wish for wish in wishes if wish is not NOTHING]
    if len(wishes) < 2:
        return wishes[0] if wishes else NOTHING
    ends = [wish.unavailable_after for wish in wishes if wish.unavailable_after is not None]
    return RobotsMeta(
        noindex=any(wish.noindex for wish in wishes),
        nofollow=any(wish.nofollow for wish in wishes),
        noarchive=any(wish.noarchive for wish in wishes),
        ai_signals=tuple(dict.fromkeys(signal for wish in wishes for signal in wish.ai_signals)),
        unavailable_after=min(ends, default=None),
    )


def _read(value: str, agent: str) -> RobotsMeta:
    words: set[str] = set()
    end: float | None = None
    ours = True
    for item in _ITEM.finditer(value):
        kind, text = item.lastgroup, item[item.lastgroup or 0].lower()
        if kind == "name":
            ours = ours if text in _VALUED else text == agent
        elif ours and kind == "word":
            words.add(text)
        elif ours:
            end = _epoch(item["date"])
    return _of_words(words, end)


def _of_words(words: set[str], end: float | None) -> RobotsMeta:
    none = "none" in words
    meta = RobotsMeta(
        noindex=none or "noindex" in words,
        nofollow=none or "nofollow" in words,
        noarchive="noarchive" in words,
        ai_signals=tuple(sorted(words & _AI_WORDS)),
        unavailable_after=end,
    )
    return NOTHING if meta == NOTHING else meta


def _epoch(text: str) -> float | None:
    """A date in RFC 822, RFC 850 or ISO 8601 form; without a zone it is UTC."""
    text = text.strip()
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            date = read(text)
            return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
        except (ValueError, TypeError, OverflowError, IndexError):
            continue
    return None
