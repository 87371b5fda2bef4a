"""A job on three machines, of which one is killed in the middle: run by test_ray_job.py, alone in a network."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from ray_kit import ADDRESS, Cluster, cluster
from wordcount_job import FILES, answer, map_tasks, map_words, reduce_all, write_texts

from gossamer.engine.config import EngineConfig
from gossamer.engine.contract import Engine, InlineEngine, collect
from gossamer.engine.opening import open_engine
from gossamer.store.place import LocalPlace

SECONDS = 0.7


def main(folder: Path) -> None:
    texts = write_texts(folder)
    expected = on_one_machine(LocalPlace(folder / "inline"), texts)
    with cluster() as machines:
        machines.add(cores=1)
        victim = machines.add(cores=1)
        machines.add(cores=1)
        engine = open_engine(EngineConfig(kind="ray", url=ADDRESS))
        assert engine.workers == 3
        work = LocalPlace(folder / "cluster")
        found = with_a_death(engine, machines, victim, work, texts)
        engine.close()
    assert found == expected
    begun = len(list(work.names("started/")))
    assert begun > FILES, "no task was lost with the machine"
    print(f"same result; {begun} tasks begun for {FILES}")


def on_one_machine(work: LocalPlace, texts: list[str]) -> tuple[list[int], list[int], dict[str, bytes]]:
    maps = map_tasks(work, texts)
    return collect(InlineEngine(), map_words, maps), reduce_all(InlineEngine(), work, maps), answer(work)


def with_a_death(
    engine: Engine, machines: Cluster, victim: int, work: LocalPlace, texts: list[str]
) -> tuple[list[int], list[int], dict[str, bytes]]:
    maps, found = map_tasks(work, texts, SECONDS), {}
    for number, (place, result) in enumerate(engine.run(map_words, maps)):
        found[place] = result
        if number == FILES // 4:
            wait_for_a_task(work, machines.processes(victim))
            machines.kill(victim)
    assert sorted(found) == list(range(FILES))
    return [found[place] for place in range(FILES)], reduce_all(engine, work, maps), answer(work)


def wait_for_a_task(work: LocalPlace, processes: set[int]) -> None:
    """Until one of those processes has a child that is in the middle of a task."""
    while True:
        started = [name.removeprefix("started/").rsplit("-", 1)[0] for name in work.names("started/")]
        ended = {name.removeprefix("ended/") for name in work.names("ended/")}
        if any(task not in ended and int(task.rsplit("-", 1)[1]) in processes for task in started):
            return
        time.sleep(0.02)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
