"""The worker's side of its parser processes.

Jobs are pipelined: a parser gets the next job before it has answered the last, so it never waits for the worker.
Answers come in order. If a parser computes for too long, the job at the head of its line fails. If it dies, that job
gets two more chances, since something else may have killed the process. The other jobs go to its successor.

Time is the parser's processor time: on a busy machine a small page may take long by the clock though nothing is wrong
with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self, cast

import msgspec

from gossamer.crawl.parser_config import CONFIG, JOB, KNOW, ParserConfig, SiteKnown, frame
from gossamer.crawl.parser_fork import Forked, ForkedTransport
from gossamer.frontier.contract import KnownFacts
from gossamer.model.records import Parsed, ParseJob

log = logging.getLogger(__name__)

_AGAIN = 1.0
"""Seconds before another try to start a process that the system refused."""
_CRASHES = 3
"""Parsers that a page may cost: one or two may have been killed for other reasons, such as lack of memory."""


_STANDSTILL = 6
"""How many times its limit a parser may take by the clock: a frozen one uses no processor time at all."""


class _Waiting(msgspec.Struct):
    job: ParseJob
    answer: asyncio.Future[Parsed]
    deaths: int = 0


class _Conversation(asyncio.SubprocessProtocol):
    """The pipes of one process: frames of its answers in order, and its end."""

    def __init__(self, on_answer: Callable[[bytes], None]) -> None:
        self.ended = asyncio.get_running_loop().create_future()
        self._on_answer = on_answer
        self._buffer = bytearray()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Takes pieces of answers, as the pipe cut them."""
        buffer = self._buffer
        buffer += data
        start = 0
        while len(buffer) - start >= 4:
            end = start + 4 + int.from_bytes(buffer[start : start + 4], "little")
            if len(buffer) < end:
                break
            self._on_answer(bytes(buffer[start + 4 : end]))
            start = end
        del buffer[:start]

    def process_exited(self) -> None:
        """The process has ended, for whatever reason."""
        if not self.ended.done():
            self.ended.set_result(None)


class _Parser:
    """A parser process and its jobs."""

    def __init__(
        self, config: bytes, timeout: float, known: Mapping[str, bytes] = MappingProxyType({}),
        forked: Forked | None = None,
    ) -> None:  # fmt: skip
        """`known`: what is known of sites, for the next process; its owner adds to it. `forked`: the first process."""
        self.line: deque[_Waiting] = deque()
        self._config, self._known = config, known
        self._timeout, self._forked = timeout, forked
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(Parsed)
        self._process: asyncio.SubprocessTransport | ForkedTransport | None = None
        self._input: asyncio.WriteTransport | None = None
        self._conversation: _Conversation | None = None
        self._serving: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the process and keep one running until `close`."""
        self._serving = asyncio.create_task(self._serve(await self._start_process()))

    async def _start_process(self) -> _Conversation:
        forked, self._forked = self._forked, None
        if forked is not None:
            self._conversation = conversation = _Conversation(self._answered)
            self._process = await ForkedTransport.connect(
                forked, conversation.pipe_data_received, conversation.process_exited
            )
        else:
            self._process, self._conversation = await asyncio.get_running_loop().subprocess_exec(
                lambda: _Conversation(self._answered),
                *(sys.executable, "-m", "gossamer.crawl.parser_process"),
                stderr=None,
            )
        self._input = cast(asyncio.WriteTransport, self._process.get_pipe_transport(0))
        self._send(CONFIG, self._config)
        for known in self._known.values():
            self._send(KNOW, known)
        for waiting in self.line:
            self._send(JOB, self._encoder.encode(waiting.job))
        return self._conversation

    def configure(self, config: bytes) -> None:
        """Use another configuration from the next job on."""
        self._config = config
        self._send(CONFIG, config)

    def know(self, payload: bytes) -> None:
        """Tell what is known of a site."""
        self._send(KNOW, payload)

    def parse(self, job: ParseJob) -> asyncio.Future[Parsed]:
        """Put a job at the end of the line."""
        waiting = _Waiting(job, asyncio.get_running_loop().create_future())
        self.line.append(waiting)
        self._send(JOB, self._encoder.encode(job))
        return waiting.answer

    def _send(self, kind: bytes, payload: bytes) -> None:
        # A broken pipe shows as the end of the process, after which everything is sent again.
        if self._input is not None and not self._input.is_closing():
            self._input.write(frame(kind, payload))

    def _answered(self, payload: bytes) -> None:
        waiting = self.line.popleft()
        if not waiting.answer.done():
            waiting.answer.set_result(self._decoder.decode(payload))

    async def _serve(self, conversation: _Conversation) -> None:
        while True:
            late = await self._watch(conversation)
            if self.line:
                self._blame(self.line[0], late)
            conversation = await self._start_again()

    async def _start_again(self) -> _Conversation:
        """Start the next process as soon as the system allows it; jobs wait for it."""
        while True:
            try:
                return await self._start_process()
            except OSError as error:
                log.warning("cannot start a parser (%s): trying again", error.strerror or error)
                await asyncio.sleep(_AGAIN)

    async def _watch(self, conversation: _Conversation) -> bool:
        """Wait for the end of the process; kill it when one page keeps it busy for too long. Time counts against a page
        only while it is at the head of the line."""
        head: _Waiting | None = None
        since = busy = 0.0
        while not conversation.ended.done():
            if head is None or not self.line or self.line[0] is not head:
                head = self.line[0] if self.line else None
                since, busy = time.monotonic(), self._busy()
            elif self._is_late(time.monotonic() - since, self._busy() - busy):
                self._kill()
                await conversation.ended
                return True
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._timeout):
                    await asyncio.shield(conversation.ended)
        return False

    def _is_late(self, passed: float, busy: float) -> bool:
        """Whether a page was at the head for too long; `busy` is nan if the processor time is unknown."""
        return passed >= self._timeout and (not busy < self._timeout or passed >= self._timeout * _STANDSTILL)

    def _busy(self) -> float:
        """Seconds of processor time that the process has used; nan if the system does not say."""
        pid = self._process.get_pid() if self._process is not None else None
        try:
            # Skip the name, which may hold anything: user time is the 12th field after it, system time the 13th.
            fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, IndexError, ValueError):
            return math.nan

    def _blame(self, waiting: _Waiting, late: bool) -> None:
        """The process failed while it was busy with this job."""
        waiting.deaths += 1
        if not late and waiting.deaths < _CRASHES:
            return
        self.line.popleft()
        problem = (
            f"parsing took longer than {self._timeout:g} s" if late else f"the page crashed the parser {_CRASHES} times"
        )
        if not waiting.answer.done():
            waiting.answer.set_result(Parsed(waiting.job.url, ok=False, problem=problem))

    def _kill(self) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    async def close(self) -> None:
        """End the process."""
        if self._serving is not None:
            self._serving.cancel()
            await asyncio.gather(self._serving, return_exceptions=True)
        if self._process is not None and self._input is not None and self._conversation is not None:
            self._input.close()  # the end of its input ends it, unless it is busy
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.2):
                    await asyncio.shield(self._conversation.ended)
            self._kill()
            await self._conversation.ended
            self._process.close()


class ParserPool:
    """A few parsers that share the work."""

    def __init__(self, config: ParserConfig, parsers: int, timeout: float, forked: Sequence[Forked] = ()) -> None:
        """`forked`: processes that are there already."""
        self._encoder = msgspec.msgpack.Encoder()
        self._known: dict[str, bytes] = {}
        first = [*forked[:parsers], *[None] * (parsers - len(forked))]
        self._parsers = [_Parser(self._encoder.encode(config), timeout, self._known, one) for one in first]

    async def __aenter__(self) -> Self:
        for parser in self._parsers:
            await parser.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.gather(*(parser.close() for parser in self._parsers))

    def configure(self, config: ParserConfig) -> None:
        """Use another configuration from the next job on."""
        for parser in self._parsers:
            parser.configure(self._encoder.encode(config))

    def know(self, site: str, known: KnownFacts) -> None:
        """Judge the pages of a site by this from the next job on; version 0: by nothing."""
        payload = self._encoder.encode(SiteKnown(site, known.version, known.facts))
        self._known.pop(site, None)
        if known.version:
            self._known[site] = payload
        for parser in self._parsers:
            parser.know(payload)

    async def parse(self, job: ParseJob) -> Parsed:
        """Parse a body, with the parser that has the shortest line."""
        return await min(self._parsers, key=lambda parser: len(parser.line)).parse(job)
