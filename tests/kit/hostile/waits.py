"""Servers that are overloaded, and say in every possible way when to come back."""

from __future__ import annotations

import email.utils
import time

from gossamer.demo.message import Ask, Reply
from kit.hostile.registry import Answer, Pace, add, always

_G = "waits"


def _fixed(status: int, value: str | None) -> Answer:
    return always(Reply(f"{status}", status, [] if value is None else [("Retry-After", value)]))


def _dated(status: int, offset: float) -> Answer:
    """A date relative to the moment of the request."""

    def answer(ask: Ask, pace: Pace) -> Reply:
        date = email.utils.formatdate(time.time() + offset, usegmt=True)
        return Reply(f"{status}", status, [("Retry-After", date)])

    return answer


for _status in (429, 503):
    _FORMS: dict[str, tuple[str, Answer]] = {
        "seconds": ("2 seconds", _fixed(_status, "2")),
        "zero": ("0 seconds", _fixed(_status, "0")),
        "fraction": ("1.5 seconds, which is not allowed", _fixed(_status, "1.5")),
        "date": ("a date two seconds ahead", _dated(_status, 2)),
        "past-date": ("a date one day ago", _dated(_status, -86_400)),
        "far-date": ("a date in the year 9999", _fixed(_status, "Fri, 31 Dec 9999 23:59:59 GMT")),
        "old-date": ("an RFC 850 date", _fixed(_status, "Sunday, 06-Nov-94 08:49:37 GMT")),
        "bad-date": ("a date that does not exist", _fixed(_status, "Fri, 31 Feb 2025 25:61:61 GMT")),
        "huge": ("a number of 30 digits", _fixed(_status, "9" * 30)),
        "negative": ("a negative number", _fixed(_status, "-5")),
        "garbage": ("words", _fixed(_status, "when the rain stops")),
        "empty": ("nothing in it", _fixed(_status, "")),
        "none": ("no Retry-After", _fixed(_status, None)),
    }
    for _form, (_said, _answer) in _FORMS.items():
        add(_G, f"wait-{_status}-{_form}", f"{_status} with {_said}.", _answer)

for _status in (400, 402, 403, 404, 405, 410, 418, 451, 500, 501, 502, 504, 520):
    add(_G, f"status-{_status}", f"Always {_status}.", _fixed(_status, None))
add(
    _G,
    "redirect-with-wait",
    "301 with Retry-After, which asks to wait before the next hop.",
    always(Reply(b"", 301, [("Location", "/"), ("Retry-After", "2")])),
)
