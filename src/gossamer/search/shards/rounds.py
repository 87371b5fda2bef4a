"""One request's rounds of questions to the shards, within one deadline; who is missing stays missing.

A shard is missing where none of its replicas answers in time, or where its answer cannot be used: another version of
the index, or an index of another crawl than that of most shards. The reason is kept for whoever asks.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

import msgspec

from gossamer.errors import OperationError
from gossamer.index import schema
from gossamer.search.results import ShardsAnswered
from gossamer.search.shards.values import PROTOCOL, Envelope, Identity

T = TypeVar("T")


class ShardsMissingError(OperationError):
    """No shard answers."""


class Nodes(Protocol):
    """The shards, wherever they are; used from several threads at once."""

    @property
    def shards(self) -> int:
        """How many there are."""
        ...

    def ask(self, operation: str, asks: Mapping[int, bytes], seconds: float) -> tuple[dict[int, bytes], dict[int, str]]:
        """Ask some shards at once, by number; returns the answers, and for the others why there is none."""
        ...


class Rounds:
    """The questions of one request."""

    def __init__(self, nodes: Nodes, deadline: float, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._nodes, self._now = nodes, monotonic
        self._until = monotonic() + deadline
        self._crawl = ""
        self.missing: dict[int, str] = {}
        """Shard → why it does not take part."""

    @property
    def shards(self) -> int:
        """How many there are."""
        return self._nodes.shards

    @property
    def present(self) -> list[int]:
        """Those that have answered every question so far."""
        return [shard for shard in range(1, self.shards + 1) if shard not in self.missing]

    def answered(self) -> ShardsAnswered:
        """Who took part."""
        problems = tuple(self.missing[shard] for shard in sorted(self.missing))
        return ShardsAnswered(self.shards, len(self.present), problems)

    def ask_all(self, operation: str, ask: msgspec.Struct, answer: type[T]) -> dict[int, T]:
        """The same question to all that are left; an error where nobody answers."""
        found = self.ask(operation, dict.fromkeys(self.present, ask), answer)
        if not found:
            reasons = "; ".join(self.missing[shard] for shard in sorted(self.missing))
            raise ShardsMissingError(f"no shard of the index answers: {reasons}")
        return found

    def ask_any(self, operation: str, ask: msgspec.Struct, answer: type[T]) -> tuple[bool, T | None]:
        """A question that any shard can answer: whether one did, and what. Nobody is missing for not answering it."""
        encoded = msgspec.msgpack.encode(ask)
        for shard in random.sample(self.present, len(self.present)):
            found, _ = self._nodes.ask(operation, {shard: encoded}, self._left())
            if shard in found:
                return True, _body(found[shard], answer)[1]
        return False, None

    def ask_willing(self, operation: str, ask: msgspec.Struct, answer: type[T]) -> list[T]:
        """What those say who answer a question that results can do without; nobody is missing for not answering it."""
        found, _ = self._nodes.ask(operation, dict.fromkeys(self.present, msgspec.msgpack.encode(ask)), self._left())
        return [_body(data, answer)[1] for _, data in sorted(found.items())]

    def ask(self, operation: str, asks: Mapping[int, msgspec.Struct], answer: type[T]) -> dict[int, T]:
        """A question to each of some shards; those that do not answer, or not well, are missing from then on."""
        asked = {shard: ask for shard, ask in asks.items() if shard not in self.missing}
        # The same question to many is written once.
        written = {id(ask): msgspec.msgpack.encode(ask) for ask in asked.values()}
        found, problems = self._nodes.ask(
            operation, {shard: written[id(ask)] for shard, ask in asked.items()}, self._left()
        )
        self.missing |= problems
        answers: dict[int, tuple[Identity, T]] = {}
        for shard, data in sorted(found.items()):
            try:
                answers[shard] = _body(data, answer)
            except msgspec.MsgspecError:
                self.missing[shard] = f"shard {shard} of {self.shards} answers in another language: is it this version?"
        self._check(answers)
        return {shard: body for shard, (_, body) in answers.items() if shard not in self.missing}

    def _check(self, answers: Mapping[int, tuple[Identity, object]]) -> None:
        senders = {shard: sender for shard, (sender, _) in answers.items()}
        for shard, sender in senders.items():
            problem = _problem(sender, shard, self.shards)
            if problem:
                self.missing[shard] = f"shard {shard} of {self.shards} {problem}"
        crawls = Counter(sender.crawl for shard, sender in senders.items() if shard not in self.missing)
        if not self._crawl and crawls:
            self._crawl = crawls.most_common(1)[0][0]
        for shard, sender in senders.items():
            if shard not in self.missing and sender.crawl != self._crawl:
                self.missing[shard] = f"shard {shard} of {self.shards} is an index of another crawl than the others"

    def _left(self) -> float:
        return max(0.0, self._until - self._now())


def _body(data: bytes, answer: type[T]) -> tuple[Identity, T]:
    envelope = msgspec.msgpack.decode(data, type=Envelope)
    return envelope.sender, msgspec.msgpack.decode(envelope.body, type=answer)


def _problem(sender: Identity, shard: int, shards: int) -> str:
    """Why an answer cannot be used; empty where it can."""
    if sender.protocol != PROTOCOL:
        return f"speaks version {sender.protocol} of the protocol, this front end {PROTOCOL}: update the older one"
    if sender.schema != schema.VERSION:
        return f"has an index of format {sender.schema}, this front end knows {schema.VERSION}: update the older one"
    if (sender.shard, sender.shards) != (shard, shards):
        return f"holds shard {sender.shard}/{sender.shards}: correct the list of shards"
    return ""
