"""A worker process that gives no sign of life is ended; what one said before it failed is passed on."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from gossamer.crawl.alive import signs
from gossamer.crawl.alive.signs import Listener

STUCK = """
import asyncio, time
from gossamer.crawl.alive.signs import give_signs

async def main():
    task = asyncio.create_task(give_signs())
    await asyncio.sleep(0.1)
    time.sleep(1000)

asyncio.run(main())
"""
FAILS = """
import asyncio, sys
from gossamer.crawl.alive.signs import give_signs

async def main():
    task = asyncio.create_task(give_signs())
    await asyncio.sleep(3)

asyncio.run(main())
print("the disk is full:\\nfree some space", flush=True)
sys.exit(1)
"""


@contextmanager
def heard(code: str, patience: float) -> Iterator[tuple[subprocess.Popen[bytes], Listener]]:
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    listener = Listener("w1", process, patience)
    listener.start()
    try:
        yield process, listener
    finally:
        process.kill()
        process.communicate()
        listener.join(60)


def test_one_whose_event_loop_is_stuck_is_killed(caplog: pytest.LogCaptureFixture) -> None:
    with heard(STUCK, patience=3.0) as (process, _):
        assert process.wait(120) == -9
    assert f"worker process {process.pid} gave no sign of life" in caplog.text


def test_one_that_never_begins_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signs, "_STARTING", 1.0)
    with heard("input()", patience=0.5) as (process, _):
        assert process.wait(120) == -9


def test_one_that_takes_long_to_begin_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time passes with each look, until many times its patience is over; then it says something, and none passes."""
    times: list[float] = []
    enough = threading.Event()

    def now() -> float:
        if len(times) > 6:
            enough.set()
        else:
            times.append(signs._LOOK * len(times))
        return times[-1]

    monkeypatch.setattr(signs, "time", SimpleNamespace(monotonic=now))
    with heard("input(); print('ready')", patience=0.5) as (process, listener):
        assert enough.wait(120)
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.wait(120) == 0
        assert listener.last_words() == "ready"


def test_last_words_come_without_the_signs_before_them() -> None:
    with heard(FAILS, patience=60.0) as (process, listener):
        assert process.wait(120) == 1
        assert listener.last_words() == "the disk is full:\nfree some space"


def test_a_listener_that_was_held_up_itself_takes_nobody_for_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a laptop's sleep: its clock went on, and nobody could be heard."""
    times = itertools.chain([0.0, 1000.0, 2000.0, 3000.0], itertools.repeat(4000.0))
    monkeypatch.setattr(signs, "time", SimpleNamespace(monotonic=lambda: next(times)))
    monkeypatch.setattr(signs, "_STARTING", 30.0)
    with heard("import time; time.sleep(3); print('here')", patience=30.0) as (process, listener):
        assert process.wait(120) == 0
        assert listener.last_words() == "here"
