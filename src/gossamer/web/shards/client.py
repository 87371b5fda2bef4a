"""Asks shard servers: all shards at once, each at one of its replicas, and another one where that fails or is slow."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from gossamer.index.shards import Cut
from gossamer.search.shards.values import PROTOCOL
from gossamer.web.shards.replicas import Replica, Replicas
from gossamer.web.shards.wire import NoAnswerError

PREFIX = "/shard/"
MEDIA_TYPE = "application/msgpack"
KEY_HEADER = "x-gossamer-key"
SHARD_HEADER = "x-gossamer-shard"
PROTOCOL_HEADER = "x-gossamer-protocol"
_PATIENCE = 0.25
"""Share of the time left after which a second replica is asked, too; the first answer counts."""
_THREADS = 16
"""Questions to one shard that are under way at once; more wait."""


class RemoteNodes:
    """`search.rounds.Nodes` over HTTP; safe to share between threads."""

    def __init__(
        self, shards: Sequence[Sequence[str]], key: str = "", monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """`shards`: for each shard in order the addresses of its replicas."""
        self.shards = len(shards)
        self._now = monotonic
        self._replicas = {
            number: Replicas(addresses, _headers(Cut(number, len(shards)), key))
            for number, addresses in enumerate(shards, 1)
        }
        self._threads = ThreadPoolExecutor(_THREADS * len(shards), "shards")

    def ask(self, operation: str, asks: Mapping[int, bytes], seconds: float) -> tuple[dict[int, bytes], dict[int, str]]:
        """Ask some shards at once; returns the answers, and for the others why there is none."""
        path = f"{PREFIX}{operation}"
        if all(len(self._replicas[shard].all) == 1 for shard in asks):
            answers = self._ask_in_turn(path, asks, seconds)
        else:
            race = _Race(path, seconds, self._now, self._submit)
            for shard, body in asks.items():
                race.enter(shard, self._replicas[shard], body)
            answers = race.run()
        missing = asks.keys() - answers.keys()
        problems = {
            shard: f"shard {shard} of {self.shards} does not answer ({self._replicas[shard].problem()})"
            for shard in missing
        }
        return answers, problems

    def _ask_in_turn(self, path: str, asks: Mapping[int, bytes], seconds: float) -> dict[int, bytes]:
        """Where nobody can stand in for anybody: send all questions, then wait for one answer after the other. The
        shards work meanwhile, and no threads are needed."""
        taken = {shard: self._replicas[shard].take(self._now()) for shard in asks}
        under_way = [
            (shard, one, one.begin(path, asks[shard], seconds)) for shard, one in taken.items() if one is not None
        ]
        answers = {}
        for shard, replica, exchange in under_way:
            with contextlib.suppress(NoAnswerError):
                answers[shard] = replica.finish(exchange, self._now)
        return answers

    def close(self) -> None:
        """Close all connections."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for replicas in self._replicas.values():
            for replica in replicas.all:
                replica.close()

    def _submit(self, replica: Replica, path: str, body: bytes, seconds: float) -> Future[bytes]:
        return self._threads.submit(replica.ask, path, body, seconds, self._now)


class _Runner:
    """A shard in a race."""

    def __init__(self, shard: int, replicas: Replicas, body: bytes) -> None:
        self.shard, self.replicas, self.body = shard, replicas, body
        self.tried: list[Replica] = []
        self.under_way = 0
        self.next_at = 0.0
        """When another replica is asked, whatever the first one does."""


class _Race:
    """One question to several shards until all have answered, failed, or the time is over."""

    def __init__(
        self, path: str, seconds: float, now: Callable[[], float],
        submit: Callable[[Replica, str, bytes, float], Future[bytes]],
    ) -> None:  # fmt: skip
        self._path, self._now, self._submit = path, now, submit
        self._until = now() + seconds
        self._pending: dict[Future[bytes], _Runner] = {}
        self._answers: dict[int, bytes] = {}

    def enter(self, shard: int, replicas: Replicas, body: bytes) -> None:
        """Ask the first replica of a shard."""
        self._ask_next(_Runner(shard, replicas, body))

    def run(self) -> dict[int, bytes]:
        """The answers by shard."""
        while self._pending:
            now = self._now()
            if now >= self._until:
                break
            done, _ = wait(self._pending, self._sleep(now), FIRST_COMPLETED)
            for future in done:
                self._finish(future)
            self._ask_others(self._now())
        return self._answers

    def _finish(self, future: Future[bytes]) -> None:
        runner = self._pending.pop(future)
        runner.under_way -= 1
        try:
            self._answers.setdefault(runner.shard, future.result())
        except NoAnswerError:
            if runner.shard not in self._answers:
                self._ask_next(runner)
            return
        for other in [one for one, waiting in self._pending.items() if waiting is runner]:
            del self._pending[other]  # a slower replica: its answer goes nowhere

    def _ask_others(self, now: float) -> None:
        for runner in {id(one): one for one in self._pending.values()}.values():
            if now >= runner.next_at and runner.replicas.has_more(now, runner.tried):
                self._ask_next(runner)

    def _ask_next(self, runner: _Runner) -> None:
        now = self._now()
        left = self._until - now
        replica = runner.replicas.take(now, runner.tried) if left > 0 else None
        if replica is None:
            return
        runner.tried.append(replica)
        runner.under_way += 1
        runner.next_at = now + _PATIENCE * left
        self._pending[self._submit(replica, self._path, runner.body, left)] = runner

    def _sleep(self, now: float) -> float:
        """Until the end, or until somebody was slow for too long."""
        impatient = [
            one.next_at for one in self._pending.values() if one.next_at > now and one.replicas.has_more(now, one.tried)
        ]
        return max(0.0, min([self._until, *impatient]) - now)


def _headers(cut: Cut, key: str) -> dict[str, str]:
    headers = {"content-type": MEDIA_TYPE, PROTOCOL_HEADER: str(PROTOCOL), SHARD_HEADER: str(cut)}
    return headers | ({KEY_HEADER: key} if key else {})
