"""Where a page states the value of a field: `css: .price`, read and checked.

A place is a word, a colon and what the word needs. `read_source` is the only way in, so a mistake is found when the
crawl starts, and the parser meets none.
"""

from __future__ import annotations

import re

import msgspec

from gossamer.errors import UsageError
from gossamer.model.expressions import MAX_PATTERN, Capture, ExpressionError
from gossamer.model.meant import hint
from gossamer.parse.rules.cutting import check_selector, split_selector

KINDS = ("json-ld", "microdata", "meta", "css", "url")
MAX_STEPS = 8
"""Names in a path."""
_STEP = re.compile(r"[\w@:-]{1,60}")
_META = re.compile(r"[^\s\"'<>]{1,100}")


class Source(msgspec.Struct, frozen=True):
    """One place."""

    written: str
    kind: str
    type: str = ""
    """Of the object that has the path, lower case; empty: any."""
    path: tuple[str, ...] = ()
    selector: str = ""
    attribute: str = ""
    name: str = ""
    """Of a meta element, lower case."""
    capture: Capture | None = None
    """For addresses."""


def read_source(text: str) -> Source:
    """A place as it is written in the settings; `UsageError` says what is wrong with it."""
    kind, colon, rest = text.partition(":")
    kind, rest = kind.strip().lower(), rest.strip()
    if not colon or kind not in KINDS:
        words = ", ".join(f"{one}:" for one in KINDS)
        asked = f"; {hint(kind, KINDS)}" if colon else ""
        raise UsageError(f"a place begins with one of {words}{asked}")
    if not rest:
        raise UsageError(f"nothing stands behind {kind}:")
    if kind in ("json-ld", "microdata"):
        return _path(text, kind, rest)
    if kind == "css":
        check_selector(rest, with_attribute=True)
        selector, attribute = split_selector(rest)
        return Source(text, kind, selector=selector, attribute=attribute)
    if kind == "meta":
        if not _META.fullmatch(rest):
            raise UsageError("the name of a meta element is one word of 100 characters at most")
        return Source(text, kind, name=rest.lower())
    return Source(text, kind, capture=_capture(rest))


def _path(text: str, kind: str, rest: str) -> Source:
    steps = rest.split(".")
    if not all(map(_STEP.fullmatch, steps)):
        raise UsageError("a path is names with dots between them, such as Product.offers.price")
    of_type = steps[0][:1].isupper()
    if of_type and len(steps) == 1:
        raise UsageError(f"{steps[0]} is a type: name a property of it, such as {steps[0]}.name")
    if len(steps) > MAX_STEPS:
        raise UsageError(f"a path of {len(steps)} names: the limit is {MAX_STEPS}")
    type_name, path = (steps[0].lower(), steps[1:]) if of_type else ("", steps)
    return Source(text, kind, type=type_name, path=tuple(path))


def _capture(pattern: str) -> Capture:
    if len(pattern) > MAX_PATTERN:
        raise UsageError(f"a pattern of {len(pattern)} characters: the limit is {MAX_PATTERN}")
    try:
        return Capture(pattern)
    except ExpressionError as error:
        raise UsageError(str(error)) from None
