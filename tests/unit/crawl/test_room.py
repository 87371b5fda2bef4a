"""Runners wait for room while commits are behind, and are let in one after the other."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from gossamer.crawl.commit_queue import CommitQueue
from gossamer.crawl.held_site import HeldSites
from gossamer.crawl.life import Life
from gossamer.crawl.lookahead import LEAST
from gossamer.crawl.page_parsing import Backlog
from gossamer.settings import CrawlSettings
from gossamer.testing import FakeClock


class Line:
    """A commit queue whose parsers are as busy as a test wants, and the runners that wait for it."""

    def __init__(self) -> None:
        self.backlog, self.stop = Backlog(), asyncio.Event()
        life = Life("w1", FakeClock(), self.stop, 60.0)
        unused = cast(Any, None)
        self.queue = CommitQueue(
            CrawlSettings(hold_bytes=1000), unused, unused, unused, HeldSites(), unused, self.backlog, life
        )
        self.let_in: list[str] = []

    async def comes(self, *runners: str) -> list[asyncio.Task[None]]:
        tasks = [asyncio.create_task(self._wait(runner)) for runner in runners]
        await asyncio.sleep(0)
        return tasks

    async def _wait(self, runner: str) -> None:
        await self.queue.room()
        self.let_in.append(runner)

    async def committed(self, *, left: int) -> None:
        """A commit after which so many pages are with the parsers."""
        self.backlog.pages = left
        await self.queue.commit()
        await asyncio.sleep(0)
        await asyncio.sleep(0)


@pytest.fixture
async def line() -> Line:
    return Line()


async def test_nobody_waits_while_commits_keep_up(line: Line) -> None:
    line.backlog.pages = LEAST - 1
    await line.comes("a")
    assert line.let_in == ["a"]


async def test_whoever_came_first_is_let_in_first(line: Line) -> None:
    line.backlog.pages = LEAST
    await line.comes("a", "b", "c")
    assert line.let_in == []
    await line.committed(left=LEAST - 2)
    assert line.let_in == ["a", "b"]
    await line.comes("d")  # there is room, but c was first
    await line.committed(left=LEAST - 1)
    assert line.let_in == ["a", "b", "c"]
    await line.committed(left=0)
    assert line.let_in == ["a", "b", "c", "d"]


async def test_one_that_was_let_in_and_made_no_request_holds_up_nobody(line: Line) -> None:
    line.backlog.pages = LEAST
    await line.comes("resting", "b")
    await line.committed(left=LEAST - 1)
    assert line.let_in == ["resting"]
    await line.committed(left=LEAST - 1)
    assert line.let_in == ["resting", "b"]


async def test_bodies_that_fill_the_memory_keep_everybody_waiting(line: Line) -> None:
    line.backlog.bytes = 1001
    await line.comes("a")
    assert line.let_in == []
    line.backlog.bytes = 10
    await line.committed(left=0)
    assert line.let_in == ["a"]


async def test_one_that_gives_up_leaves_its_place_to_the_next(line: Line) -> None:
    line.backlog.pages = LEAST
    impatient, _ = await line.comes("a", "b")
    impatient.cancel()
    await line.committed(left=LEAST - 1)
    assert line.let_in == ["b"]


async def test_a_worker_that_stops_lets_everybody_go(line: Line) -> None:
    line.backlog.pages = LEAST
    await line.comes("a", "b")
    line.stop.set()
    line.queue.wake()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert line.let_in == ["a", "b"]
