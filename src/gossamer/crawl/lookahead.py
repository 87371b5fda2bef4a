"""How far a worker's downloads may be ahead of its commits; pure.

A kill loses the pages that are fetched and not committed, and the URLs that they name join the queue only with their
commit. So a worker holds at most the pages that it commits in a second, and at most a twentieth of what it has
committed since it started: a kill costs a young crawl no larger share of its work than an old one. Where the disk or
the store is slow, downloads go on for as long as a few commits take.
"""

from __future__ import annotations

from collections import deque

import msgspec

SECONDS = 1.0
"""Seconds that downloads may be ahead of commits."""
SHARE = 1 / 20
"""Most pages ahead, as a share of the pages committed so far."""
LEAST = 24
"""Pages that may always be ahead: parsers and a commit are busy with as many."""
_COMMITS = 4
"""Commits for whose duration downloads may always be ahead: with fewer, both would wait for each other."""
_WINDOW = 2.0
"""Seconds over which the rate of commits is measured."""


class _Done(msgspec.Struct, frozen=True):
    at: float
    pages: int


class LookAhead:
    """The bound for one worker."""

    def __init__(self, now: float) -> None:
        self._commits = deque([_Done(now, 0)])
        self._total = 0
        self.pages = LEAST
        """Pages that may be fetched and not committed."""

    def committed(self, pages: int, took: float, now: float) -> None:
        """A commit of so many pages ended now and took so many seconds."""
        self._total += pages
        self._commits.append(_Done(now, pages))
        while len(self._commits) > 2 and now - self._commits[1].at >= _WINDOW:
            self._commits.popleft()
        rate = self._rate(now)
        most = rate * max(SECONDS, _COMMITS / 2 * took)
        self.pages = max(LEAST, int(min(most, max(self._total * SHARE, rate * _COMMITS * took))))

    @property
    def batch(self) -> int:
        """Pages that are worth a commit; the others are fetched and parsed while these are committed."""
        return self.pages * 3 // 4

    @property
    def near(self) -> int:
        """Pages that may be ahead of a choice that the next commit may better."""
        return self.pages // 4

    def _rate(self, now: float) -> float:
        """Pages a second, from the end of the oldest commit to the end of the last."""
        passed = now - self._commits[0].at
        pages = sum(done.pages for done in self._commits) - self._commits[0].pages
        return pages / passed if passed > 0 else 0.0
