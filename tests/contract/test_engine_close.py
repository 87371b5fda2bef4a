"""What an engine leaves behind: nothing. A module of its own, so that no other engine is open beside it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import engine_tasks as tasks
import pytest
from engine_kit import KINDS, is_running, made

from gossamer.engine.contract import collect


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("inline", "spark")])
def test_close_ends_all_processes(kind: str, tmp_path: Path) -> None:
    engine = made(kind)
    found = set(collect(engine, tasks.meet, [str(tmp_path)] * 12)) - {os.getpid()}
    assert len(found) > 1
    engine.close()
    deadline = time.monotonic() + 120
    while any(is_running(process) for process in found):
        assert time.monotonic() < deadline, "a process of the engine still runs"
        time.sleep(0.05)
