"""Whether clicks help: two orders of the same hits in one list, and which of them readers prefer.

Team draft interleaving (Radlinski, Kurup, Joachims, "How does clickthrough data reflect retrieval quality?", 2008): the
two orders take turns like captains, a coin says who begins, and each takes its best page that is not taken yet. A
reader who opens more pages of one order prefers it. Pages at the beginning that both orders have at the same places
belong to none: a click on them says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec

Team = Literal["", "with", "without"]
"""The order with clicks, or the one without them; empty: both."""
_BITS = 64


def drafted(one: Sequence[int], other: Sequence[int], coins: int) -> tuple[list[int], dict[int, Team]]:
    """A list of both orders of the same pages, and which of them brought each page. `coins`: 64 bits of chance."""
    shared = 0
    while shared < len(one) and one[shared] == other[shared]:
        shared += 1
    order = list(one[:shared])
    taken = set(order)
    orders: tuple[tuple[Team, Sequence[int]], ...] = (("with", one), ("without", other))
    at = [shared, shared]
    teams: dict[int, Team] = {}
    rounds = 0
    while len(order) < len(one):
        first = coins >> (rounds % _BITS) & 1
        rounds += 1
        for captain in (first, 1 - first):
            team, mine = orders[captain]
            while at[captain] < len(mine) and mine[at[captain]] in taken:
                at[captain] += 1
            if at[captain] < len(mine):
                page = mine[at[captain]]
                order.append(page)
                taken.add(page)
                teams[page] = team
    return order, teams


class Trial(msgspec.Struct, frozen=True):
    """What readers preferred, each of them once a day."""

    wins: int = 0
    """Readers who opened more pages of the order with clicks."""
    losses: int = 0
    """Readers who opened more pages of the order without them."""
    ties: int = 0

    @property
    def chance(self) -> float:
        """The p-value of a sign test: how likely a difference this great is if clicks neither help nor harm."""
        return sign_test(self.wins, self.losses)

    @property
    def verdict(self) -> str:
        """A sentence."""
        if not self.wins + self.losses:
            return "No reader has preferred one order yet."
        if self.chance >= 0.05:
            return "No difference that chance cannot explain."
        return "Clicks help." if self.wins > self.losses else "Clicks harm: set search.clicks to 0."


def sign_test(wins: int, losses: int) -> float:
    """The two-sided p-value of a sign test, exactly; ties are left out."""
    number, fewer = wins + losses, min(wins, losses)
    if not number:
        return 1.0
    log_all = number * math.log(2)
    tail = sum(
        math.exp(math.lgamma(number + 1) - math.lgamma(k + 1) - math.lgamma(number - k + 1) - log_all)
        for k in range(fewer + 1)
    )
    return min(1.0, 2 * tail)
