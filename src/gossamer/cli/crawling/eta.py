"""When a crawl will have done what is due: pure, from what waits, how slowly it may be asked, and the pace so far."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gossamer.cli.common import duration
from gossamer.frontier.views.backlog import Backlog

_WORTH_SAYING = 1.0
"""Seconds; "at least" less than that says nothing."""


class Work(msgspec.Struct, frozen=True):
    """How far a run is."""

    done: int
    """Requests of this run."""
    due: int
    """URLs that wait."""
    rate: float
    """Requests a second, lately."""
    growing: bool = False
    """Whether URLs were found lately that nobody knew."""
    pages_left: int | None = None
    """Requests until `--pages`."""
    seconds_left: float | None = None
    """Until `--for`."""


class Forecast(msgspec.Struct, frozen=True):
    """When it ends."""

    seconds: float
    share: float
    """The part that is done, 0…1."""
    at_least: bool = False
    """It may take longer: more URLs are being found."""
    decides: Backlog | None = None
    """The site that takes longest, where it is the one that all others are waited for with."""

    @property
    def sentence(self) -> str:
        """For a person."""
        percent = int(100 * self.share)
        if self.at_least:
            return f"at least {duration(self.seconds)}, at most {percent} % done (more URLs are being found)"
        return f"about {duration(self.seconds)}, {percent} % done"


def forecast(work: Work, backlogs: Sequence[Backlog], now: float) -> Forecast | None:
    """The end, or None where nothing tells when it comes: at a start that has found next to nothing yet, say.

    The sites are asked side by side, so the one that needs longest at its pace decides; but all together go no faster
    than they did lately.
    """
    longest = max(backlogs, key=lambda one: one.seconds(now), default=None)
    polite = longest.seconds(now) if longest is not None and work.due else 0.0
    paced = work.due / work.rate if work.rate > 0 else 0.0
    seconds = max(polite, paced)
    share = work.done / (work.done + work.due) if work.due else 1.0
    decides = longest if polite > paced else None
    ends = []
    if seconds >= (_WORTH_SAYING if work.growing else 0.0) and work.due and (polite or paced):
        ends.append(Forecast(seconds, share, work.growing, decides))
    if work.pages_left is not None and work.rate > 0:
        whole = work.done + work.pages_left
        ends.append(Forecast(work.pages_left / work.rate, work.done / whole if whole else 1.0))
    if work.seconds_left is not None:
        ends.append(Forecast(max(work.seconds_left, 0.0), share, at_least=False))
    return min(ends, key=lambda end: end.seconds, default=None)
