"""The processes beside a crawl: one that dies or fails is not gone for good."""

from __future__ import annotations

import logging
import os
import signal
import time
from pathlib import Path

import pytest

from gossamer.supervise import children
from gossamer.supervise.children import Child


def watched(child: Child, until: str, caplog: pytest.LogCaptureFixture, times: int = 1) -> None:
    """Watch it as a crawl does, until something was said about it, so many times."""
    deadline = time.monotonic() + 120
    while caplog.text.count(until) < times:
        child.watch()
        assert time.monotonic() < deadline, caplog.text
        time.sleep(0.01)


def test_one_that_failed_is_tried_again_and_goes_on_when_its_trouble_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(children, "_FIRST_WAIT", 0.1)
    caplog.set_level(logging.INFO, "gossamer.supervise.children")
    source = tmp_path / "one.py"
    child = Child("helper", "py_compile", [str(source)])
    for _ in range(2):
        watched(child, "starts again later", caplog)
        caplog.clear()
    source.write_text("")
    watched(child, "the helper is done", caplog)


def test_one_that_was_killed_is_started_again(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "gossamer.supervise.children")
    child = Child("helper", "http.server", ["--bind", "127.0.0.1", "0"], speaks=True)
    watched(child, "the helper started", caplog)
    os.kill(child_pids(caplog)[0], signal.SIGKILL)
    watched(child, "died of signal 9; starting it again", caplog)
    watched(child, "the helper started", caplog, times=2)  # in the same look, or a second after the first start
    first, second = child_pids(caplog)
    assert child.is_running and second != first
    child.kill()
    assert not child.is_running


def child_pids(caplog: pytest.LogCaptureFixture) -> list[int]:
    return [record.child_pid for record in caplog.records if hasattr(record, "child_pid")]
