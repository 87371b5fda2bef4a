"""The worker's side of its parser processes.

Jobs are pipelined: a parser gets the next job before it has answered the last,
so it never waits for the worker. Answers come in order. If a parser takes too
long, the job at the head of its line is to blame and fails; if it dies, that job
gets a second chance, since anybody may have killed the process. The others are
given to its successor.
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from types import TracebackType
from typing import Self

import msgspec

from gossamer.crawl.parser_process import CONFIG, JOB, frame
from gossamer.crawl.reading import ParserConfig
from gossamer.model.records import Parsed, ParseJob


class _Waiting(msgspec.Struct):
    job: ParseJob
    answer: asyncio.Future[Parsed]
    deaths: int = 0


class _Parser:
    """One parser process and the jobs it has been given."""

    def __init__(self, config: bytes, timeout: float) -> None:
        self.line: deque[_Waiting] = deque()
        self._config = config
        self._timeout = timeout
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(Parsed)
        self._process: asyncio.subprocess.Process | None = None
        self._serving: asyncio.Task[None] | None = None
        self._closing = False

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "gossamer.crawl.parser_process",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 22,
        )  # fmt: skip
        self._send(CONFIG, self._config)
        for waiting in self.line:
            self._send(JOB, self._encoder.encode(waiting.job))
        if self._serving is None:
            self._serving = asyncio.create_task(self._serve())

    def configure(self, config: bytes) -> None:
        self._config = config
        self._send(CONFIG, config)

    async def parse(self, job: ParseJob) -> Parsed:
        waiting = _Waiting(job, asyncio.get_running_loop().create_future())
        self.line.append(waiting)
        self._send(JOB, self._encoder.encode(job))
        return await waiting.answer

    def _send(self, kind: bytes, payload: bytes) -> None:
        assert self._process is not None and self._process.stdin is not None
        # A pipe that broke is noticed by the reading side, which restarts the process.
        if not self._process.stdin.is_closing():
            self._process.stdin.write(frame(kind, payload))

    async def _serve(self) -> None:
        while not self._closing:
            late = await self._answers()
            if self._closing:
                return
            await self._stop()
            if self.line:
                self._blame(self.line[0], late)
            await self.start()

    def _blame(self, waiting: _Waiting, late: bool) -> None:
        """The process failed while it was busy with this job."""
        waiting.deaths += 1
        if not late and waiting.deaths < 2:
            return
        self.line.popleft()
        problem = f"parsing took longer than {self._timeout:g} s" if late else "the page crashed the parser twice"
        if not waiting.answer.done():
            waiting.answer.set_result(Parsed(waiting.job.url, ok=False, problem=problem))

    async def _answers(self) -> bool:
        """Pass answers on until the process fails; whether it was killed for being late."""
        assert self._process is not None and self._process.stdout is not None
        stream = self._process.stdout
        watch = asyncio.create_task(self._watch(self._process))
        try:
            while True:
                head = await stream.readexactly(4)
                payload = await stream.readexactly(int.from_bytes(head, "little"))
                waiting = self.line.popleft()
                if not waiting.answer.done():
                    waiting.answer.set_result(self._decoder.decode(payload))
        except (asyncio.IncompleteReadError, ConnectionError):
            return watch.done()
        finally:
            watch.cancel()

    async def _watch(self, process: asyncio.subprocess.Process) -> None:
        """Kill the process when one page keeps it busy for too long; time counts against a
        page only while it is at the head of the line."""
        head: _Waiting | None = None
        while head is None or not self.line or self.line[0] is not head:
            head = self.line[0] if self.line else None
            await asyncio.sleep(self._timeout)
        process.kill()

    async def _stop(self) -> None:
        if self._process is None:
            return
        if self._process.returncode is None:
            try:
                self._process.kill()
            except ProcessLookupError:
                pass
        await self._process.wait()

    async def close(self) -> None:
        self._closing = True
        if self._serving is not None:
            self._serving.cancel()
        await self._stop()


class ParserPool:
    """A few parsers that share the work."""

    def __init__(self, config: ParserConfig, parsers: int, timeout: float) -> None:
        self._encoder = msgspec.msgpack.Encoder()
        self._parsers = [_Parser(self._encoder.encode(config), timeout) for _ in range(parsers)]

    async def __aenter__(self) -> Self:
        for parser in self._parsers:
            await parser.start()
        return self

    def configure(self, config: ParserConfig) -> None:
        """Use another configuration from the next job on."""
        for parser in self._parsers:
            parser.configure(self._encoder.encode(config))

    async def parse(self, job: ParseJob) -> Parsed:
        """Have a body read by the parser with the shortest line."""
        return await min(self._parsers, key=lambda parser: len(parser.line)).parse(job)

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for parser in self._parsers:
            await parser.close()
