"""A decision: yes or no, who decided, and why.

Every URL that is not fetched carries one, so that `gossamer explain URL` can
answer from the record and does not have to guess.
"""

from __future__ import annotations

import msgspec


class Decision(msgspec.Struct, frozen=True, gc=False):
    """What a rule said about a URL."""

    allowed: bool
    rule: str
    """Who decided: a stable name such as `scope.host`, `trap.depth` or `filter.deny.3`."""
    reason: str
    """One sentence for a person, with the figures that mattered."""


def allow(rule: str, reason: str) -> Decision:
    """A decision that lets the URL pass."""
    return Decision(True, rule, reason)


def refuse(rule: str, reason: str) -> Decision:
    """A decision that stops the URL."""
    return Decision(False, rule, reason)
