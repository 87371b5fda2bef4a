"""Ctrl-C and SIGTERM end a command in good order: it is told, and ends by itself."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def told_to_end(stop: Callable[[], object]) -> Iterator[None]:
    """Call `stop` at SIGINT and SIGTERM; what was done at them before is done again afterwards."""
    before = {number: signal.signal(number, lambda *_: stop()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
