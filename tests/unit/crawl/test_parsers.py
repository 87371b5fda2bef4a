"""Parser processes: a page that kills or hangs its parser harms nothing else. Real processes, real signals."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import signal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gossamer.crawl.parser_config import ParserConfig
from gossamer.crawl.parsers import ParserPool, _Conversation, _Parser
from gossamer.model.records import Kind, Parsed, ParseJob
from gossamer.model.url import CanonicalRules
from gossamer.parse.limits import ParseLimits
from gossamer.scope.chain import ScopeConfig

PATIENCE = 200.0
"""Seconds for a page where time is not what a test is about: a parser may take long to start."""
PAGE = b"<title>Page</title><p>Some words that are long enough to be a text of a page.<a href='/next'>on</a>"


def config(host: str = "a.test", memory: int = 0) -> ParserConfig:
    return ParserConfig(CanonicalRules(), ScopeConfig(hosts=(host,)), (), ParseLimits(), memory)


def job(number: int, body: bytes = PAGE) -> ParseJob:
    return ParseJob(f"http://a.test/{number}", Kind.PAGE, "text/html", body)


def parsers() -> list[int]:
    """The parser processes of this process. One that was started this instant may not show its command yet."""
    found = []
    for children in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended meanwhile
            found += [int(pid) for pid in children.read_text().split() if is_parser(pid)]
    return found


def is_parser(pid: str) -> bool:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return "parser_process" in Path(f"/proc/{pid}/cmdline").read_text()
    return False


async def wait_for_parsers(count: int, other_than: set[int] = frozenset()) -> list[int]:
    while len(found := [pid for pid in parsers() if pid not in other_than]) < count:
        await asyncio.sleep(0.02)
    return found


async def test_answers_come_to_whom_they_belong() -> None:
    async with ParserPool(config(), 2, PATIENCE) as pool:
        answers = await asyncio.gather(*(pool.parse(job(n)) for n in range(50)))
    assert [answer.url for answer in answers] == [f"http://a.test/{n}" for n in range(50)]
    assert all(answer.ok and answer.title == "Page" and answer.follow == ["http://a.test/next"] for answer in answers)


async def test_no_process_is_left_at_the_end() -> None:
    async with ParserPool(config(), 2, PATIENCE) as pool:
        assert len(await wait_for_parsers(2)) == 2
        await pool.parse(job(1))
    assert parsers() == []


async def stopped(pool: ParserPool, jobs: int) -> tuple[int, list[asyncio.Future[Parsed]]]:
    """The only parser of a pool, frozen, and as many jobs that wait for it."""
    await pool.parse(job(0))
    (parser,) = parsers()
    os.kill(parser, signal.SIGSTOP)
    waiting = [asyncio.ensure_future(pool.parse(job(n))) for n in range(jobs)]
    await asyncio.sleep(0.05)
    return parser, waiting


async def test_a_parser_that_is_killed_is_replaced_and_no_job_is_lost() -> None:
    async with ParserPool(config(), 1, PATIENCE) as pool:
        first, waiting = await stopped(pool, 20)
        os.kill(first, signal.SIGKILL)
        answers = await asyncio.gather(*waiting)
        assert parsers() != [first]
    assert [answer.ok for answer in answers] == [True] * 20


async def test_a_parser_that_cannot_be_replaced_at_once_is_replaced_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where memory or process numbers have run out for a moment."""
    start, refused = _Parser._start_process, []

    async def refused_at_first(parser: _Parser) -> Any:
        if len(refused) < 2:
            refused.append(parser)
            raise BlockingIOError(11, "Resource temporarily unavailable")
        return await start(parser)

    monkeypatch.setattr("gossamer.crawl.parsers._AGAIN", 0.05)
    async with ParserPool(config(), 1, PATIENCE) as pool:
        first, waiting = await stopped(pool, 5)
        monkeypatch.setattr(_Parser, "_start_process", refused_at_first)
        os.kill(first, signal.SIGKILL)
        async with asyncio.timeout(120):
            answers = await asyncio.gather(*waiting)
    assert [answer.ok for answer in answers] == [True] * 5
    assert len(refused) == 2


async def test_a_page_that_kills_three_parsers_fails_alone() -> None:
    async with ParserPool(config(), 1, PATIENCE) as pool:
        await pool.parse(job(0))
        dead: set[int] = set()
        waiting: list[asyncio.Future[object]] = []
        for round_ in range(3):
            (parser,) = await wait_for_parsers(1, dead)
            os.kill(parser, signal.SIGSTOP)
            if not round_:
                waiting = [asyncio.ensure_future(pool.parse(job(n))) for n in range(5)]
                await asyncio.sleep(0.05)
            os.kill(parser, signal.SIGKILL)
            dead.add(parser)
        answers = await asyncio.gather(*waiting)
    # A later parser may have answered some jobs before it was stopped: the one it was busy with is to blame.
    failed = [answer for answer in answers if not answer.ok]
    assert len(failed) <= 1
    assert all("crashed the parser" in answer.problem for answer in failed)


def test_a_busy_machine_is_no_reason_to_give_up_a_page() -> None:
    """The limit is processor time. By the clock it counts where nobody tells that, or where nothing is computed at
    all for six times as long."""
    parser = _Parser(b"", 20.0)
    assert not parser._is_late(25.0, 3.0)
    assert parser._is_late(25.0, 20.0)
    assert parser._is_late(20.0, math.nan)
    assert not parser._is_late(19.0, math.nan)
    assert parser._is_late(120.0, 0.0)


async def test_the_processor_time_of_a_parser_is_known() -> None:
    async with ParserPool(config(), 1, PATIENCE) as pool:
        (parser,) = pool._parsers
        await pool.parse(job(1))
        assert parser._busy() > 0.0


async def test_a_page_that_takes_too_long_fails_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    blame = _Parser._blame

    def blame_and_be_patient(parser: _Parser, waiting: Any, late: bool) -> None:
        blame(parser, waiting, late)
        parser._timeout = PATIENCE  # for the next process, which has to start first

    monkeypatch.setattr(_Parser, "_blame", blame_and_be_patient)
    async with ParserPool(config(), 1, 1.0) as pool:
        (parser,) = await wait_for_parsers(1)
        os.kill(parser, signal.SIGSTOP)
        answers = await asyncio.gather(*(pool.parse(job(n)) for n in range(10)))
    assert [answer.ok for answer in answers] == [False] + [True] * 9
    assert answers[0].problem == "parsing took longer than 1 s"


class ByHand(_Parser):
    """A parser whose process is the test."""

    async def _start_process(self) -> _Conversation:
        self._conversation = _Conversation(self._answered)
        return self._conversation

    def _kill(self) -> None:
        assert self._conversation is not None
        self._conversation.process_exited()

    def answer(self, number: int) -> None:
        self._answered(msgspec.msgpack.encode(Parsed(f"http://a.test/{number}")))


async def test_waiting_in_line_is_not_taking_long() -> None:
    """Time counts against a page only while it is at the head of the line."""
    parser = ByHand(b"", 0.5)
    await parser.start()
    waiting = [parser.parse(job(n)) for n in range(8)]
    # Timers of one loop come in their order however late they are: each page is at the head for less than its time.
    for number in range(8):
        asyncio.get_running_loop().call_later(0.3 * (number + 1), parser.answer, number)
    answers = await asyncio.gather(*waiting)
    await parser.close()
    assert all(answer.ok for answer in answers)
    assert [answer.url for answer in answers] == [f"http://a.test/{n}" for n in range(8)]


async def test_a_page_beyond_the_memory_limit_fails_and_the_parser_lives() -> None:
    async with ParserPool(config(memory=400), 1, PATIENCE) as pool:
        await pool.parse(job(0))
        (before,) = parsers()
        huge = ParseJob("http://a.test/huge", Kind.PAGE, "text/html", b"<p>" + b"<b>x</b>" * 1_500_000)
        answer = await pool.parse(huge)
        after = await pool.parse(job(1))
        assert after.ok
        if answer.ok:  # it fitted: then nothing may have happened to the process
            assert parsers() == [before]
        else:
            assert answer.problem


async def test_another_configuration_holds_from_the_next_job_on() -> None:
    async with ParserPool(config(), 1, PATIENCE) as pool:
        first = asyncio.ensure_future(pool.parse(job(1)))
        await asyncio.sleep(0)
        pool.configure(config("b.test"))
        second = asyncio.ensure_future(pool.parse(job(2)))
        assert ((await first).follow, (await second).follow) == (["http://a.test/next"], [])


async def test_a_new_configuration_survives_the_death_of_the_parser() -> None:
    async with ParserPool(config(), 1, PATIENCE) as pool:
        await pool.parse(job(0))
        pool.configure(config("b.test"))
        os.kill(parsers()[0], signal.SIGKILL)
        assert (await pool.parse(job(1))).follow == []
