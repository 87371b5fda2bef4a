"""What a behaviour is, how one is registered, and the scripts they share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import cache
from itertools import repeat
from typing import Literal, TypeAlias

import msgspec

from gossamer.demo.message import Ask, Reply, head
from gossamer.demo.server import Script, Wire
from gossamer.testing.web import wrap

HOST = "hostile.test"


class Pace(msgspec.Struct, frozen=True):
    """How slow the slow ones are and how long the endless ones last."""

    drip: float = 0.2
    """Seconds between two bytes of a slow response."""
    hang: float = 600.0
    """Seconds a silent server stays silent before it closes."""
    endless: int = 4 << 30
    """Bytes after which an endless response ends after all."""


Answer: TypeAlias = Callable[[Ask, Pace], "Reply | Script"]


class Behaviour(msgspec.Struct, frozen=True):
    """One way to be hostile."""

    name: str
    sentence: str
    group: str
    answer: Answer
    host: str = HOST

    @property
    def path(self) -> str:
        """Where it is found: robots.txt on a host of its own, or its name."""
        return f"/{self.name}" if self.host == HOST else "/robots.txt"


BEHAVIOURS: list[Behaviour] = []
"""All behaviours, in the order of the files."""


def add(group: str, name: str, sentence: str, answer: Answer, host: str = HOST) -> None:
    """Registers a behaviour."""
    if any(b.name == name for b in BEHAVIOURS):
        raise ValueError(f"two behaviours are called {name}")
    BEHAVIOURS.append(Behaviour(name, sentence, group, answer, host))


def behaviour(group: str, name: str, sentence: str) -> Callable[[Answer], Answer]:
    """Registers the function below it."""

    def register(answer: Answer) -> Answer:
        add(group, name, sentence, answer)
        return answer

    return register


def always(reply: Reply) -> Answer:
    """A behaviour that is one fixed reply."""
    return lambda ask, pace: reply


def made(build: Callable[[], Reply]) -> Answer:
    """A fixed reply that is large: built at first use, then kept."""
    kept = cache(build)
    return lambda ask, pace: kept()


def page(title: str, text: str, links: Iterable[str] = ()) -> Reply:
    """An ordinary page."""
    return Reply(wrap(title, text, links))


PROSE = (
    "A spider that hangs in the wind all night knows one thing well: most of what shakes the web is no "
    "food. It waits, it touches the thread with one leg, and it decides. A careful crawler does the same."
)
"""The text of pages whose trouble is elsewhere."""

HTML = (("Content-Type", "text/html; charset=utf-8"),)


def raw(*parts: bytes, status: int = 200, then: Literal["close", "reset", "keep", "hang"] = "close") -> Answer:
    """Sends bytes as they are, and ends in one of four ways."""

    def answer(ask: Ask, pace: Pace) -> Script:
        async def script(wire: Wire) -> None:
            wire.status = status
            wire.keep = then == "keep"
            for part in parts:
                await wire.send(part)
            if then == "hang":
                await asyncio.sleep(pace.hang)
            if then == "reset":
                await asyncio.sleep(0.05)  # RST would overtake what has just been sent
                wire.reset()

        return script

    return answer


def dripping(data: bytes, status: int = 200) -> Answer:
    """Sends one byte at a time."""

    def answer(ask: Ask, pace: Pace) -> Script:
        async def script(wire: Wire) -> None:
            wire.status = status
            for index in range(len(data)):
                await wire.send(data[index : index + 1])
                await asyncio.sleep(pace.drip)

        return script

    return answer


def flood(start: bytes, block: bytes, status: int = 200) -> Answer:
    """Sends the start and then the same block for ever, as fast as it is taken."""

    def answer(ask: Ask, pace: Pace) -> Script:
        async def script(wire: Wire) -> None:
            wire.status = status
            await wire.send(start)
            for _ in repeat(None, pace.endless // len(block)):
                await wire.send(block)
                await asyncio.sleep(0)  # a fast reader must not starve the other connections

        return script

    return answer


def response(body: bytes, *headers: tuple[str, str], status: int = 200) -> bytes:
    """A response with its true length and the given headers."""
    return head(status, [*headers, ("Content-Length", str(len(body)))]) + body
