"""How a reader's words stand in sentences."""

from __future__ import annotations

from collections.abc import Sequence

LONGEST = 80
"""Characters of a query that a sentence repeats."""
_NAMED = 4
"""Words that are named; of more, the first."""


def quoted(text: str) -> str:
    """A query in a sentence, cut where it is long; one that has quotes of its own stands without others."""
    shown = text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"
    return shown if '"' in shown else f"“{shown}”"


def these(words: Sequence[str], last: str = "or") -> str:
    """Several words in a sentence: “a”, “b” or “c”."""
    *others, final = [quoted(word) for word in words[:_NAMED]]
    return f"{', '.join(others)} {last} {final}" if others else final
