"""The words of a text, lower case: what both fingerprints are made of, cut once."""

from __future__ import annotations

_last: tuple[str, list[str]] = ("", [])


def words(text: str) -> list[str]:
    """The text cut at white space. The last answer is kept, because two ask for it in a row."""
    global _last
    if _last[0] is not text:
        _last = (text, text.lower().split())
    return _last[1]
