"""From a body to its content: parsed in a separate process, and rendered before if it needs its scripts."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from gossamer.crawl.held_site import HeldSite
from gossamer.crawl.life import Life
from gossamer.crawl.render.pages import Kept, Rendering
from gossamer.crawl.seams import Parses
from gossamer.model.records import Parsed, ParseJob, Response, Task

_LONG = 16
"""Pages waiting for a parser from which the parsers are behind."""


class Backlog(msgspec.Struct):
    """The amount of work at the parsers."""

    pages: int = 0
    """Pages that wait for a parser, or are with one."""
    bytes: int = 0
    """Bytes of pages that are being parsed or rendered."""

    @property
    def is_long(self) -> bool:
        """Whether the parsers are behind."""
        return self.pages > _LONG


class Read(msgspec.Struct, frozen=True):
    """The content of a page."""

    parsed: Parsed
    scripted: bool = False
    """It needs its scripts, whether or not they were run this time."""


class PageParsing:
    """Parses and renders the pages of a worker."""

    def __init__(self, parsers: Parses, rendering: Rendering | None, life: Life, backlog: Backlog) -> None:
        """`rendering`: None if no page is rendered."""
        self._parsers, self._rendering, self._life, self._backlog = parsers, rendering, life, backlog
        self._rendered: set[asyncio.Task[Any]] = set()

    async def read(self, held: HeldSite, task: Task, response: Response) -> Read | Kept | None:
        """The content of a page; None if it stays in the queue because the worker stops before it could be rendered."""
        size = 2 * len(response.body) + len(response.wire_body)  # a copy is on its way to the parser
        self._backlog.bytes += size
        try:
            parsed = await self._parse(job_of(task, response))
            if self._rendering is None or not self._rendering.why(held.site, task, response, parsed):
                return Read(parsed)
            if self._life.stopping:
                return None
            rendered = await self._render(self._rendering, held, task, response, parsed)
            return rendered if isinstance(rendered, Kept) else Read(rendered, scripted=True)
        finally:
            self._backlog.bytes -= size

    async def _parse(self, job: ParseJob) -> Parsed:
        self._backlog.pages += 1
        try:
            return await self._parsers.parse(job)
        finally:
            self._backlog.pages -= 1

    async def _render(
        self, rendering: Rendering, held: HeldSite, task: Task, response: Response, parsed: Parsed
    ) -> Parsed | Kept:
        """A page that is rendered does not count as waiting for a parser."""
        page = asyncio.current_task()
        assert page is not None
        self._rendered.add(page)
        try:
            with held.rendering():
                return await rendering.read(held, task, response, parsed)
        finally:
            self._rendered.discard(page)

    async def stop_rendering(self, seconds: float) -> None:
        """Leave pages that are being rendered in the queue; their open requests get so long to end."""
        if self._rendering is not None:
            await cancel(self._rendered)
            await self._rendering.finish(seconds)

    async def close(self) -> None:
        """End at once."""
        await cancel(self._rendering.loading if self._rendering is not None else ())


async def cancel(tasks: Any) -> None:
    """Cancel tasks and wait for their end."""
    for task in (tasks := list(tasks)):
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def job_of(task: Task, response: Response) -> ParseJob:
    """The parser's input for a response."""
    return ParseJob(
        task.url, task.kind, response.header("content-type"), response.body,
        response.headers_named("x-robots-tag"), response.headers_named("link"),
    )  # fmt: skip
