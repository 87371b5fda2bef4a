"""Processes that the nursery forks are like those of a new interpreter. Real processes, real signals."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.supervise import nursery as module
from gossamer.supervise.nursery import Forked, Nursery, Order, start

ECHO = "json.tool"
"""Reads JSON to the end of its input and writes it; fails on anything else."""
PATIENCE = 300.0


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    nursery = Nursery()
    yield nursery
    nursery.close()


def echo(nursery: Nursery, *arguments: str, **environment: str) -> Forked:
    return nursery.fork(Order(ECHO, arguments, {**os.environ, **environment}))


def said(process: Forked, text: bytes) -> bytes:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(text)
    process.stdin.close()
    return process.stdout.read()


def test_it_reads_its_input_to_the_end_and_its_output_is_heard(nursery: Nursery) -> None:
    process = echo(nursery, "--compact")
    assert process.poll() is None
    assert said(process, b'{"a": 1}') == b'{"a":1}\n'
    assert process.wait(PATIENCE) == process.returncode == process.poll() == 0


def test_the_end_of_input_reaches_each_of_several(nursery: Nursery) -> None:
    """None holds the pipes of the others open."""
    first, second = echo(nursery), echo(nursery)
    assert said(first, b"1") == b"1\n"
    assert first.wait(PATIENCE) == 0
    assert second.poll() is None
    assert said(second, b"2") == b"2\n"
    assert second.wait(PATIENCE) == 0


def test_its_exit_code_is_told(nursery: Nursery) -> None:
    process = echo(nursery)
    said(process, b"no JSON")
    assert process.wait(PATIENCE) == 1


def test_a_killed_one_died_of_its_signal(nursery: Nursery) -> None:
    process = echo(nursery)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    process.kill()
    assert process.wait(PATIENCE) == -signal.SIGKILL
    process.kill()  # too late, and no error


def test_it_leads_a_session_and_shows_its_command(nursery: Nursery) -> None:
    process = echo(nursery)
    assert os.getsid(process.pid) == os.getpgid(process.pid) == process.pid
    said(process, b"1")
    assert process.wait(PATIENCE) == 0
    crowd = [echo(nursery) for _ in range(2)]
    for one in crowd:
        while ECHO not in Path(f"/proc/{one.pid}/cmdline").read_text():  # it is written by the process itself
            assert one.poll() is None
        one.kill()
        one.wait(PATIENCE)


def test_a_module_that_the_nursery_has_loaded_runs_without_a_word(capfd: pytest.CaptureFixture[str]) -> None:
    nursery = Nursery()
    process = nursery.fork(Order("gossamer.crawl.parser_process", [], dict(os.environ)))
    assert said(process, b"") == b""
    assert process.wait(PATIENCE) == 0
    nursery.close()
    assert capfd.readouterr().err == ""


def test_without_its_nursery_it_goes_on_and_its_end_is_noticed() -> None:
    nursery = Nursery()
    process = echo(nursery)
    nursery.close()
    assert process.poll() is None
    assert said(process, b"1") == b"1\n"
    assert process.wait(PATIENCE) == -signal.SIGKILL  # nobody knows how it ended
    with pytest.raises(OSError):
        echo(nursery)


def test_a_new_interpreter_replaces_a_dead_nursery(monkeypatch: pytest.MonkeyPatch) -> None:
    nursery = Nursery()
    monkeypatch.setattr(module, "_nursery", nursery)
    nursery.close()
    process = start(ECHO, ["--compact"], os.environ)
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(b"[1]")
    process.stdin.close()
    assert process.stdout.read() == b"[1]\n"
    assert process.wait(PATIENCE) == 0
