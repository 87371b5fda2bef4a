"""A job as the project's are: map, exchange by key, reduce; files in, files out."""

from __future__ import annotations

import collections
import os
import random
import secrets
import time
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa

from gossamer.engine.contract import Engine, collect
from gossamer.engine.exchange import partition_of, read_part, write_parts
from gossamer.store.place import LocalPlace, open_place

FILES = 24
PARTS = 5


class MapTask(msgspec.Struct, frozen=True):
    work: str
    text: str
    name: str
    seconds: float = 0.0
    """How long it takes at least: time to die in the middle."""


class ReduceTask(msgspec.Struct, frozen=True):
    work: str
    names: tuple[str, ...]
    part: int


def write_texts(folder: Path) -> list[str]:
    """Generated files with words that are common and rare."""
    chance = random.Random(6)
    names = []
    for number in range(FILES):
        words = [f"w{int(chance.paretovariate(0.7)) % 50_000}" for _ in range(20_000)]
        path = folder / f"{number}.txt"
        path.write_text(" ".join(words))
        names.append(str(path))
    return names


def map_words(task: MapTask) -> int:
    place = open_place(task.work)
    # Who ran what, for the test: the parent of a task's process tells the machine.
    place.put(f"started/{task.name}-{os.getppid()}-{secrets.token_hex(4)}", b"")
    counts = collections.Counter(Path(task.text).read_text().split())
    time.sleep(task.seconds)
    words = sorted(counts)
    keys = np.array([int(word[1:]) for word in words])
    table = pa.table({"word": words, "count": [counts[word] for word in words]})
    write_parts(place, task.name, table, partition_of(keys, PARTS), PARTS, memory=100_000)
    place.put(f"ended/{task.name}-{os.getppid()}", b"")
    return len(words)


def reduce_words(task: ReduceTask) -> int:
    place = open_place(task.work)
    counts: collections.Counter[str] = collections.Counter()
    for batch in read_part(place, task.names, task.part):
        for word, count in zip(batch["word"].to_pylist(), batch["count"].to_pylist(), strict=True):
            counts[word] += count
    place.put(f"counts/{task.part}", msgspec.json.encode(sorted(counts.items())))
    return counts.total()


def map_tasks(work: LocalPlace, texts: list[str], seconds: float = 0.0) -> list[MapTask]:
    return [MapTask(work.url, text, f"words/{number}", seconds) for number, text in enumerate(texts)]


def reduce_all(engine: Engine, work: LocalPlace, maps: list[MapTask]) -> list[int]:
    names = tuple(task.name for task in maps)
    return collect(engine, reduce_words, [ReduceTask(work.url, names, part) for part in range(PARTS)])


def answer(work: LocalPlace) -> dict[str, bytes]:
    """Every file that the job is about."""
    return {name: work.get(name) for prefix in ("words/", "counts/") for name in work.names(prefix)}
