"""What was meant by a name that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def closest(word: str, known: Iterable[str]) -> str:
    """The known name most like this one; `""` where none is."""
    return next(iter(difflib.get_close_matches(word, list(known), 1)), "")


def hint(word: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: what was meant, or else all there are."""
    names = list(known)
    close = closest(word, names)
    return f"did you mean {close}?" if close else f"known are {', '.join(names)}"
