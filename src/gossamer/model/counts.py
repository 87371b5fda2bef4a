"""Counts in sentences: the one place that knows singular and plural."""

from __future__ import annotations

from collections.abc import Sized

_IRREGULAR = {"this": "these", "is": "are", "was": "were", "has": "have"}


def counted(count: int | Sized, one: str, many: str = "") -> str:
    """A number and what it counts: `1 error`, `1,204 pages`, `3 copies`; `many` where no rule makes the plural."""
    number = len(count) if isinstance(count, Sized) else count
    return f"{number:,} {noun(number, one, many)}"


def noun(number: int, one: str, many: str = "") -> str:
    """The word alone, in the number that goes with a count: for sentences that put something between the two."""
    return one if number == 1 else many or plural(one)


def plural(one: str) -> str:
    """The plural of a noun, or of several words whose last one is it, as `near copy`; or of a small verb."""
    if one in _IRREGULAR:
        return _IRREGULAR[one]
    if one.endswith("y") and one[-2:-1] not in "aeiou":
        return one[:-1] + "ies"
    return one + ("es" if one.endswith(("s", "x", "ch", "sh")) else "s")
