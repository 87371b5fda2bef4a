"""The rooms of trap.test: corridors that are practically endless.

All pages of one room carry the same text, so however far a crawler goes before it
notices, one document of the room is worth keeping. Each corridor does end,
far behind the point where a careful visitor has turned back, so that even a
careless crawl of the demo comes to an end.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gossamer.demo.content import Page

FIRST_YEAR, LAST_YEAR = 1990, 2089
SESSIONS = 500
STAIRS = 60
QUESTIONS = 60

PATTERNS = (
    r"/calendar/\d{4}-\d\d",
    r"/s/\d+/hall",
    r"/s/\d+/garden",
    r"/stairs/(?:down/)*",
    r"/question\?.*",
)
"""The targets of the rooms, each of which is one document."""


def room(target: str) -> Page | None:
    """The page of a room, `None` where the target is in none."""
    for pattern, build in _ROOMS:
        match = pattern.fullmatch(target)
        if match:
            return build(match)
    return None


def _page(title: str, text: str) -> Page:
    return Page("", {"title": title, "date": "2025-05-01"}, text)


def _calendar(match: re.Match[str]) -> Page | None:
    year, month = int(match[1]), int(match[2])
    if not (FIRST_YEAR <= year <= LAST_YEAR and 1 <= month <= 12):
        return None
    before, after = divmod(year * 12 + month - 2, 12), divmod(year * 12 + month, 12)
    return _page(
        "The calendar",
        "Nothing is planned in this month. The room can be hired by anybody who brings a chair and takes it "
        "home again. There may be something to see in another month.\n\n"
        f"[the month before](/calendar/{before[0]}-{before[1] + 1:02}) "
        f"[the month after](/calendar/{after[0]}-{after[1] + 1:02})",
    )


def _session(match: re.Match[str]) -> Page | None:
    number, name = int(match[1]), match[2]
    if number > SESSIONS:
        return None
    onward = f"[hall](/s/{number + 1}/hall) [garden](/s/{number + 1}/garden)"
    if name == "hall":
        text = "The hall is wide and has two doors. Whoever goes through one of them gets a new ticket first."
    else:
        text = "The garden has a bench, a pond and a gate that is also a ticket office. It never closes."
    return _page(f"The {name}", f"{text}\n\n{onward}")


def _stairs(match: re.Match[str]) -> Page | None:
    if match[1].count("down/") > STAIRS:
        return None
    text = "A flight of stairs leads down to a landing. There is a lamp on it, and another flight of stairs."
    return _page("The stairs", f"{text}\n\n[down](down/)")


def _question(match: re.Match[str]) -> Page | None:
    query = match[1]
    if query.count("ask=") > QUESTIONS:
        return None
    text = "The question has been noted. It will be answered as soon as it has been asked completely."
    return _page("The question", f"{text}\n\n[ask again](/question?{query}&ask=why)")


_Build = Callable[[re.Match[str]], Page | None]

_ROOMS: tuple[tuple[re.Pattern[str], _Build], ...] = (
    (re.compile(r"/calendar/(\d{4})-(\d\d)"), _calendar),
    (re.compile(r"/s/(\d+)/(hall|garden)"), _session),
    (re.compile(r"/stairs/((?:down/)*)"), _stairs),
    (re.compile(r"/question\?(.*)"), _question),
)
