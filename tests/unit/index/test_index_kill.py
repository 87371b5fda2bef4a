"""SIGKILL at any moment: the index opens, holds exactly what its position says, and is carried on."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from multiprocessing.process import BaseProcess
from pathlib import Path
from pkgutil import resolve_name
from random import Random

import pytest
from indexing_kit import Batch, contents, documents, expected, model_at, new_index, open_writer, page

from gossamer.index import commits

KILLS = 25
STEPS = ("os.link", "os.fsync", "pathlib.Path.replace", "pathlib.Path.unlink", "pathlib.Path.mkdir", "shutil.rmtree")
"""Calls that change what is on the disk."""


def index_without_end(folder: Path, reports: Path) -> None:
    """The process that is killed: says after each batch which position is safe."""
    writer = open_writer(folder)
    with reports.open("ab", buffering=0) as said:
        while True:
            Batch(writer.position + 1).apply(writer)
            said.write(b"%d\n" % writer.position)


def update_and_die(folder: Path, step: int) -> None:
    """One update, with a merge to bring in, that ends at its `step`th change of the disk."""
    writer = open_writer(folder)
    writer.merge_some()
    if writer._merging is not None:
        writer._merging.result.result()
    steps = count(1)
    for name in STEPS:
        module, _, function = name.rpartition(".")
        _die_at(resolve_name(module), function, steps, step)
    writer.apply(documents([page(3, 7), page(70, 7)]), {page(4).key}, 17, 1.0)
    writer.merge_some(wait=True)
    os._exit(0)


def _die_at(place: object, function: str, steps: Iterator[int], step: int) -> None:
    act = getattr(place, function)

    def die_or_act(*values: object, **named: object) -> object:
        if next(steps) == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return act(*values, **named)

    setattr(place, function, die_or_act)


def started(target: Callable[..., None], *values: object) -> BaseProcess:
    """A process forked from a server that has no threads: a copy of this one could hold their locks for ever."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["indexing_kit"])
    process = context.Process(target=target, args=values)
    process.start()
    return process


@contextmanager
def indexing(folder: Path, reports: Path) -> Iterator[BaseProcess]:
    """An indexing process, killed in the end."""
    process = started(index_without_end, folder, reports)
    try:
        yield process
    finally:
        process.kill()
        process.join()


def wait_for_batches(process: BaseProcess, reports: Path, batches: int) -> None:
    """Progress is counted, not timed, so that a slow machine is killed in the same places."""
    wanted = reports.read_bytes().count(b"\n") + batches
    while reports.read_bytes().count(b"\n") < wanted:
        assert process.is_alive()
        time.sleep(0.001)


def test_twenty_five_kills_lose_nothing_and_double_nothing(tmp_path):
    folder, reports, dice = new_index(tmp_path), tmp_path / "reports", Random(3)
    reports.touch()
    for _ in range(KILLS):
        with indexing(folder, reports) as process:
            wait_for_batches(process, reports, dice.randint(0, 6))
            time.sleep(dice.uniform(0, 0.06))
        position = commits.read(folder).payload.position
        safe = reports.read_bytes().split()[-1:] or [b"0"]
        assert position >= int(safe[0]), "what was reported as committed is there"
        assert contents(folder) == expected(model_at(position))
    assert position > KILLS, "the next process carried on where the killed one was"
    writer = open_writer(folder)
    assert writer.position == position
    Batch(position + 1).apply(writer)
    writer.merge_some(wait=True)
    writer.close()
    assert contents(folder) == expected(model_at(position + 1))
    assert not (folder.parent / "scratch").exists()
    counting = {path.name for segment in commits.read(folder).segments for path in segment.files(folder)}
    left = {path.name for path in folder.iterdir() if not path.name.startswith((".", commits.META))}
    assert left == counting, "nothing is left of the killed ones"


@pytest.mark.long
def test_a_kill_before_any_change_of_the_disk_leaves_the_old_state_or_the_new_one(tmp_path):
    """Every step of an update with replaced, new and removed pages and a merge that comes in, one after the other."""
    base = new_index(tmp_path / "base")
    writer = open_writer(base)
    for number in range(16):
        writer.apply(documents([page(number), page(100 + number)]), (), number + 1, 1.0)
    writer.close()
    old = {page(n).url: page(n).text for start in (0, 100) for n in range(start, start + 16)}
    new = old | {page(3).url: page(3, 7).text, page(70).url: page(70, 7).text}
    del new[page(4).url]
    seen, step = [], 0
    while True:
        step += 1 if 17 not in seen else 6  # once it counts, most steps delete one file each
        shutil.copytree(tmp_path / "base", tmp_path / "copy")
        folder = tmp_path / "copy" / base.relative_to(tmp_path / "base")
        process = started(update_and_die, folder, step)
        process.join()
        position = commits.read(folder).payload.position
        assert contents(folder) == expected({16: old, 17: new}[position]), f"step {step}"
        seen.append(position)
        if process.exitcode == 0:
            break
        assert process.exitcode == -signal.SIGKILL
        writer = open_writer(folder)
        writer.apply(documents([page(3, 7), page(70, 7)]), {page(4).key}, 17, 1.0)
        writer.merge_some(wait=True)
        writer.close()
        assert contents(folder) == expected(new), f"carried on after step {step}"
        shutil.rmtree(tmp_path / "copy")
    assert seen == sorted(seen)
    assert seen.count(16) > 10
    assert seen.count(17) > 10
