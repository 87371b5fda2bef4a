"""How much of a query's phrases the index is asked for as phrases.

To see whether words follow each other, the index reads where each of them stands on a page. Words that differ stand in
no more places than the page has words, so a phrase of any length costs one reading of the page; but a word that is
repeated is read again each time. A phrase therefore costs as many readings as its most repeated word has places in it:
one for nearly all, two for "to be or not to be", a hundred for what only a page made for it answers.

What exceeds the readings of a phrase or of the query is asked for as words that the page must have, wherever they
stand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

OF_PHRASE = 4
"""Readings for one phrase: how often a word may stand in it."""
OF_QUERY = 8
"""Readings for all phrases of a query."""


class Readings:
    """The readings that a query may still cost."""

    def __init__(self) -> None:
        self._left = OF_QUERY

    def head(self, words: Sequence[str]) -> int:
        """How many of the first words may be asked for as a phrase; they are paid for."""
        most = min(self._left, OF_PHRASE)
        seen: Counter[str] = Counter()
        for word in words:
            if seen[word] == most:
                break
            seen[word] += 1
        size = seen.total()
        if size < 2:  # a word is looked up, not read
            return min(1, len(words))
        self._left -= max(seen.values())
        return size

    def spend(self, count: int) -> bool:
        """Pay for so many more readings; false if they are too many."""
        if count > self._left:
            return False
        self._left -= count
        return True
