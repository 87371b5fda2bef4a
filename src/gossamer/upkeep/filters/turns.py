"""Picks the sites to check for filters now, within an allowance of time.

A check reads all rows of a site, and sometimes all stored links, so an allowance pays for it: `share` of the time that
passes. Sites that grew most since their last check come first; one that hardly grew is left out. The database keeps
what was spent and seen (`meta.filter_turns`), because each run is a process of its own; if that were lost, checks would
come a little sooner.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time

import msgspec

from gossamer.database import meta
from gossamer.database.database import Database
from gossamer.frontier.steering.filters import sites_on_trial
from gossamer.frontier.views.sites import site_progress
from gossamer.scope.automatic import FilterConfig

_GROWN = 0.01
"""Share by which a site must have grown to be worth another check. With .05 filters come so late that simulated crawls
of itw66 and learningischange make 11 and 19 % more requests; the allowance bounds the cost of checks.
"""
_KEY = "filter_turns"


class _Turns(msgspec.Struct):
    """Kept between runs."""

    since: float
    """Start of the time that counts."""
    spent: float = 0.0
    """CPU seconds of all checks so far."""
    seen: dict[str, int] = {}
    """Site → URLs known or refused, and pages fetched, at its last check."""


class Turns:
    """Hands out sites, one by one, until the allowance is used up."""

    def __init__(self, db: Database, config: FilterConfig, now: float) -> None:
        self._db, self._config, self._now = db, config, now
        noted = meta.noted(db, _KEY)
        self._state = msgspec.json.decode(noted, type=_Turns) if noted else _Turns(now - config.every)

    def sites(self) -> Iterator[str]:
        """The sites whose turn it is; each counts as checked when the next one is taken."""
        for site, progress in self._grown():
            if self._state.spent >= self._config.share * (self._now - self._state.since):
                return
            before = process_time()
            yield site
            self._state.spent += process_time() - before
            self._state.seen[site] = progress
            self._save()

    def _grown(self) -> list[tuple[str, int]]:
        waiting = sites_on_trial(self._db, self._now - self._config.shadow)
        found = []
        least = self._config.useful + self._config.known
        for site, progress, known in site_progress(self._db):
            last = self._state.seen.get(site, 0)
            growth = (progress - last) / max(last, least)
            if known >= least and (growth >= _GROWN or site in waiting):
                found.append((growth, site, progress))
        return [(site, progress) for _, site, progress in sorted(found, reverse=True)]

    def _save(self) -> None:
        meta.note(self._db, _KEY, msgspec.json.encode(self._state).decode())
