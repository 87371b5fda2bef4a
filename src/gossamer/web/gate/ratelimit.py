"""How often one client may ask: token buckets, and never more of them than fit.

A bucket holds `burst` tokens and gets `rate` a minute. The bucket that was not
used for the longest time leaves when there are too many: it is the one that has
refilled most, so forgetting it gives the least away.
"""

from __future__ import annotations

from collections import OrderedDict

MAX_CLIENTS = 20_000


class RateLimit:
    """Token buckets by client key. The time is an argument: this file reads no clock."""

    def __init__(self, per_minute: float, burst: float, clients: int = MAX_CLIENTS) -> None:
        self._per_second = per_minute / 60
        self._burst = float(burst)
        self._clients = clients
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def wait(self, client: str, now: float, cost: float = 1.0) -> float:
        """Take tokens; returns 0, or the seconds until there are enough (none are taken then)."""
        if self._per_second <= 0:
            return 0.0
        tokens, then = self._buckets.get(client, (self._burst, now))
        tokens = min(self._burst, tokens + max(0.0, now - then) * self._per_second)
        missing = min(cost, self._burst) - tokens
        if missing <= 0:
            tokens -= cost
        self._buckets[client] = (tokens, now)
        self._buckets.move_to_end(client)
        if len(self._buckets) > self._clients:
            self._buckets.popitem(last=False)
        return max(0.0, missing / self._per_second)
