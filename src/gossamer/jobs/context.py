"""The environment of a job, and how it runs its stages.

A job is written once: it cuts its input into tasks, runs them stage by stage on any engine, and passes large data as
files of the work place. Only the process that started the job talks to the database; tasks get names and numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.database.database import Database
from gossamer.engine.contract import Engine
from gossamer.engine.exchange import read_part
from gossamer.errors import CorruptError
from gossamer.store.place import Place, open_place

A = TypeVar("A")
R = TypeVar("R")

Tell = Callable[[str, int, int], None]
"""Called with the stage, tasks done, and tasks in all."""
ROWS_OF_A_PART = 1_000_000
"""Rows of a partition, roughly: what one task holds in memory at a time."""


def silent(_stage: str, _done: int, _total: int) -> None:
    """Reports nothing."""


class JobContext(msgspec.Struct, frozen=True):
    """Where a job runs, reads and writes."""

    engine: Engine
    db: Database
    segments: str
    """URL of the place of the segments."""
    work: str
    """URL of a place that only this run of the job writes to."""
    parts: int = 0
    """Partitions of every exchange; 0: by the engine's workers and the size of the data."""
    tell: Tell = silent

    @property
    def place(self) -> Place:
        """The work place."""
        return open_place(self.work)

    def parts_for(self, rows: int, of_a_part: int = ROWS_OF_A_PART) -> int:
        """How many partitions so many rows are cut into."""
        return self.parts or max(self.engine.workers, -(-rows // of_a_part))


class Stages(Protocol):
    """Where stages run: a `JobContext`, or a `Run` that needs no database."""

    @property
    def engine(self) -> Engine:
        """The engine that runs the tasks."""
        ...

    @property
    def tell(self) -> Tell:
        """Receives progress."""
        ...


class Run(NamedTuple):
    """An engine, and a receiver of progress."""

    engine: Engine
    tell: Tell = silent


def run_stage(on: Stages, stage: str, function: Callable[[A], R], arguments: Sequence[A]) -> list[R]:
    """Run the tasks of a stage and report progress; the results are in the order of the arguments."""
    found: dict[int, R] = {}
    on.tell(stage, 0, len(arguments))
    for place, result in on.engine.run(function, arguments):
        found[place] = result
        on.tell(stage, len(found), len(arguments))
    return [found[place] for place in range(len(arguments))]


def put_table(place: Place, name: str, table: pa.Table) -> None:
    """Write a table as a Parquet file; the same table makes the same bytes."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", store_schema=False)
    place.put(name, memoryview(sink.getvalue()).cast("B"))


def get_table(place: Place, name: str, columns: Sequence[str] | None = None) -> pa.Table:
    """A table of the work place, all of its columns or some."""
    path = place.path(name)
    try:
        # Not as a data set: a name such as `x=1` in the path would become a column.
        return pq.ParquetFile(path).read(columns=columns)
    except (OSError, ValueError) as error:
        raise CorruptError(f"{path} is damaged ({error}): run the job again") from error


def result_table(place: Place, names: Iterable[str], order: Sequence[str]) -> pa.Table:
    """The files of a result as one table in the order of some columns: the same however it was cut."""
    whole = pa.concat_tables([get_table(place, name) for name in names])
    return whole.sort_by([(column, "ascending") for column in order]).combine_chunks()


def part_table(place: Place, names: Iterable[str], part: int, schema: pa.Schema) -> pa.Table:
    """All rows that an exchange sent to a part."""
    return pa.Table.from_batches(read_part(place, names, part), schema)


def numbered(folder: str, number: int, ending: str = "") -> str:
    """The name of a numbered file."""
    return f"{folder}/{number:05d}{ending}"
