"""The replicas of one shard: whom to ask next, and whom to leave alone for a while."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from threading import Lock

from gossamer.web.shards.wire import Exchange, NoAnswerError, Wire

_FIRST_REST = 0.5
_LONGEST_REST = 15.0
"""Seconds that a failing replica is left alone: at first, and at most; they double with every failure."""


class Replica:
    """One server of a shard, and how it has been doing."""

    def __init__(self, address: str, headers: Mapping[str, str]) -> None:
        self.address = address
        self._wire = Wire(address, headers)
        self.under_way = 0
        self._failures = 0
        self.resting_until = 0.0
        self.problem = ""
        """Why it failed last."""

    def ask(self, path: str, body: bytes, seconds: float, now: Callable[[], float]) -> bytes:
        """One exchange; how it went is remembered."""
        return self.finish(self.begin(path, body, seconds), now)

    def begin(self, path: str, body: bytes, seconds: float) -> Exchange:
        """Send a question; `finish` must follow."""
        return self._wire.begin(path, body, seconds)

    def finish(self, exchange: Exchange, now: Callable[[], float]) -> bytes:
        """The answer; how it went is remembered."""
        try:
            answer = self._wire.finish(exchange)
        except NoAnswerError as error:
            self.problem = str(error)
            self.resting_until = now() + min(_FIRST_REST * 2**self._failures, _LONGEST_REST)
            self._failures = min(self._failures + 1, 10)
            raise
        finally:
            self.under_way -= 1
        self._failures, self.resting_until, self.problem = 0, 0.0, ""
        return answer

    def close(self) -> None:
        """Close its connections."""
        self._wire.close()


class Replicas:
    """The servers of one shard, in the order of the settings; safe to share between threads."""

    def __init__(self, addresses: Collection[str], headers: Mapping[str, str]) -> None:
        self.all = [Replica(address, headers) for address in addresses]
        self._lock = Lock()
        self._turn = 0

    def take(self, now: float, tried: Collection[Replica] = ()) -> Replica | None:
        """The replica to ask: the one with the fewest questions under way, in turn where they are equal; None where
        all were tried or are left alone. Whoever takes one must ask it."""
        with self._lock:
            self._turn += 1
            turned = self.all[self._turn % len(self.all) :] + self.all[: self._turn % len(self.all)]
            awake = [one for one in turned if one not in tried and one.resting_until <= now]
            if not awake:
                return None
            chosen = min(awake, key=lambda one: one.under_way)
            chosen.under_way += 1
            return chosen

    def has_more(self, now: float, tried: Collection[Replica]) -> bool:
        """Whether there is another one to ask."""
        return any(one not in tried and one.resting_until <= now for one in self.all)

    def problem(self) -> str:
        """Why none of them answers."""
        return ", ".join(f"{one.address}: {one.problem or 'no answer in time'}" for one in self.all)
