"""What the engine of this machine promises beyond the contract."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import engine_tasks as tasks
import pytest
from engine_kit import is_running

from gossamer.engine.contract import collect
from gossamer.engine.local import LocalEngine

HERE = Path(__file__).parent


@pytest.fixture
def engine() -> Iterator[LocalEngine]:
    engine = LocalEngine(2)
    yield engine
    engine.close()


def test_processes_and_what_they_remember_are_kept_between_stages(engine: LocalEngine) -> None:
    first = set(collect(engine, tasks.process_of, range(8)))
    assert max(collect(engine, tasks.remember, ["a"] * 8)) > 1
    seen = sum(collect(engine, tasks.remember, ["a"] * 2))
    assert seen > 2  # the list that was remembered is still there
    assert set(collect(engine, tasks.process_of, range(8))) == first


def test_one_task_runs_in_this_process(engine: LocalEngine) -> None:
    assert collect(engine, tasks.process_of, [0]) == [os.getpid()]


def test_with_one_worker_all_run_in_this_process() -> None:
    assert set(collect(LocalEngine(1), tasks.process_of, range(3))) == {os.getpid()}


def test_there_are_as_many_workers_as_cores_unless_told() -> None:
    assert LocalEngine().workers == len(os.sched_getaffinity(0))


def test_numeric_libraries_use_one_thread_in_each_process(engine: LocalEngine) -> None:
    assert set(collect(engine, tasks.threads_of_libraries, range(4))) == {"1"}


def test_arguments_under_way_are_bounded() -> None:
    engine = LocalEngine(3, memory=1)  # each argument is more than that: one at a time
    spans = sorted(collect(engine, tasks.span, range(6)))
    engine.close()
    assert all(earlier[1] <= later[0] for earlier, later in itertools.pairwise(spans))


def test_one_stage_at_a_time(engine: LocalEngine) -> None:
    results = engine.run(tasks.double, [1, 2, 3])
    next(results)
    with pytest.raises(RuntimeError, match="another stage"):
        collect(engine, tasks.double, [1, 2])
    assert len(list(results)) == 2


def test_a_closed_engine_runs_nothing(engine: LocalEngine) -> None:
    engine.close()
    with pytest.raises(RuntimeError, match="closed"):
        collect(engine, tasks.double, [1, 2])


def test_what_a_task_prints_does_not_mix_with_the_answer() -> None:
    script = (
        "from gossamer.engine.local import LocalEngine\nfrom gossamer.engine.contract import collect\n"
        "engine = LocalEngine(2)\ncollect(engine, print, ['noise', 'noise'])\nengine.close()\nprint('answer')"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "answer\n"


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_however_the_engines_process_ends_none_is_left_behind(ending: signal.Signals, tmp_path: Path) -> None:
    script = (
        "import engine_tasks, signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # jobs in the background ignore it
        "from gossamer.engine.local import LocalEngine\n"
        f"list(LocalEngine(2).run(engine_tasks.tell_and_sleep, [({str(tmp_path)!r}, 0), ({str(tmp_path)!r}, 1)]))"
    )
    job = subprocess.Popen(
        [sys.executable, "-c", script], stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(HERE)}
    )
    try:
        wait_until(lambda: len(list(tmp_path.glob("*.pid"))) == 2)
        processes = [int(path.read_text()) for path in tmp_path.glob("*.pid")]
        assert all(is_running(process) for process in processes)
        job.send_signal(ending)
        job.wait(120)
        wait_until(lambda: not any(is_running(process) for process in processes))
    finally:
        job.kill()
        job.wait()


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
