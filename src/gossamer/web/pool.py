"""Searches run on a few threads, and only so many wait for one.

The searcher blocks (in native code, with the interpreter released), so it must
never run on the event loop. A queue without an end would only make every reader
wait for answers nobody reads any more: beyond `WAITING` per thread the server
says at once that it is busy.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from gossamer.errors import BusyError

WAITING = 32
"""Searches per thread that may be under way or wait."""

P = ParamSpec("P")
T = TypeVar("T")


class SearchPool:
    """A fixed number of threads with a bounded queue; used from one event loop."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._limit = threads * WAITING
        self._under_way = 0
        self._executor: ThreadPoolExecutor | None = None

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call the function on a thread; raise `BusyError` where too many wait already."""
        if self._under_way >= self._limit:
            raise BusyError("too many searches at the moment: try again soon")
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self._threads, thread_name_prefix="search")
        self._under_way += 1
        call = self._executor.submit(function, *args, **kwargs)
        try:
            return await asyncio.wrap_future(call)
        finally:
            self._under_way -= 1

    def close(self) -> None:
        """End the threads when their calls are done."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None
