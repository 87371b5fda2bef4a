"""How far a worker's downloads may be ahead of its commits; pure.

A kill loses the pages that are fetched and not committed, and the URLs that they name join the queue only with their
commit. So a worker holds at most the pages that it commits in a second, and at most a twentieth of what it has
committed since it started: a kill then costs a young crawl no larger share of its work than an old one.
"""

from __future__ import annotations

from collections import deque

import msgspec

SECONDS = 1.0
"""Seconds that downloads may be ahead of commits."""
SHARE = 1 / 20
"""Most pages ahead, as a share of the pages committed so far."""
LEAST = 16
"""Pages that may always be ahead: parsers and a commit are busy with as many."""
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
        self._took = 0.0
        self.pages = LEAST
        """Pages that may be fetched and not committed."""

    def committed(self, pages: int, took: float, now: float) -> None:
        """A commit of so many pages ended now and took so many seconds."""
        self._total += pages
        self._took = took
        self._commits.append(_Done(now, pages))
        while len(self._commits) > 2 and now - self._commits[1].at >= _WINDOW:
            self._commits.popleft()
        # While a slow store commits one second's pages, the next second's are fetched.
        seconds = max(SECONDS, 2 * took)
        self.pages = max(LEAST, int(min(self._rate(now) * seconds, self._total * SHARE)))

    @property
    def batch(self) -> int:
        """Pages that are worth a commit: as many may be fetched while they are committed."""
        return self.pages // 2

    def _rate(self, now: float) -> float:
        """Pages a second, from the end of the oldest commit to the end of the last."""
        passed = now - self._commits[0].at
        pages = sum(done.pages for done in self._commits) - self._commits[0].pages
        return pages / passed if passed > 0 else 0.0
