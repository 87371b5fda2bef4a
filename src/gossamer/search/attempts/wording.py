"""How a reader's words stand in sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from gossamer.search.limits import relaxed_notice
from gossamer.search.query.language import Query

LONGEST = 80
"""Characters of a query that a sentence repeats."""
_NAMED = 4
"""Words that are named; of more, the first."""


def quoted(text: str) -> str:
    """A query in a sentence, cut where it is long; one that has quotes of its own stands without others."""
    shown = text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"
    return shown if '"' in shown else f"“{shown}”"


def explained(notices: Iterable[str], query: Query, frequency: Callable[[str], int]) -> Iterator[str]:
    """The notices of a search; the one that no page has all words says which words no page has."""
    for notice in notices:
        missing = unknown(query, frequency) if notice == relaxed_notice(0) else []
        yield f"No page has {these(missing)}. These pages have the other words, or some of them." if missing else notice


def unknown(query: Query, frequency: Callable[[str], int]) -> list[str]:
    """The words of a query that no page has."""
    words = dict.fromkeys(term.text for group in query.groups for term in group)
    return [word for word in words if not frequency(word)]


def these(words: Sequence[str], last: str = "or") -> str:
    """Several words in a sentence: “a”, “b” or “c”."""
    *others, final = [quoted(word) for word in words[:_NAMED]]
    return f"{', '.join(others)} {last} {final}" if others else final
