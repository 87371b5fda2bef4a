"""Rows get from map to reduce tasks: each to its part, once, in order, within the memory allowed."""

from __future__ import annotations

import collections
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.engine.exchange import PartWriter, partition_of, range_of, read_part, write_parts
from gossamer.errors import CorruptError, StorageError
from gossamer.store.place import LocalPlace

ROWS = st.lists(st.tuples(st.integers(0, 6), st.integers(-(2**63), 2**63 - 1), st.text(max_size=30)), max_size=60)


class Counted(LocalPlace):
    """Counts the bytes that are read."""

    read = 0

    def get_range(self, name: str, start: int, length: int) -> bytes:
        data = super().get_range(name, start, length)
        self.read += len(data)
        return data


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("exchange")


def table_of(rows: list[tuple[int, int, str]]) -> pa.Table:
    columns = {
        "number": pa.array([row[1] for row in rows], pa.int64()),
        "text": pa.array([row[2] for row in rows], "str"),
    }
    return pa.table(columns)


def parts_of(rows: list[tuple[int, int, str]]) -> np.ndarray:
    return np.array([row[0] for row in rows], np.int64)


def rows_of(place: LocalPlace, names: list[str], part: int) -> list[tuple[int, str]]:
    return [(row["number"], row["text"]) for batch in read_part(place, names, part) for row in batch.to_pylist()]


@given(files=st.lists(ROWS, max_size=3), memory=st.sampled_from([1, 200, 3000, 1 << 20]))
def test_every_row_is_in_its_part_once_and_in_order(
    folder: Path, files: list[list[tuple[int, int, str]]], memory: int
) -> None:
    place = LocalPlace(folder)
    names = [f"map/{number}" for number in range(len(files))]
    for name, rows in zip(names, files, strict=True):
        counts = write_parts(place, name, table_of(rows), parts_of(rows), 7, memory)
        assert counts == [sum(row[0] == part for row in rows) for part in range(7)]
    for part in range(7):
        assert rows_of(place, names, part) == [row[1:] for rows in files for row in rows if row[0] == part]


def test_batch_after_batch_is_as_all_at_once(tmp_path: Path) -> None:
    place, rows = LocalPlace(tmp_path), [(number % 5, number, "x" * (number % 40)) for number in range(3000)]
    write_parts(place, "whole", table_of(rows), parts_of(rows), 5)
    with PartWriter(place, "batches", 5, memory=20_000) as writer:
        for start in range(0, 3000, 100):
            some = rows[start : start + 100]
            writer.add(table_of(some).to_batches()[0], parts_of(some))
    for part in range(5):
        assert rows_of(place, ["batches"], part) == rows_of(place, ["whole"], part)


def test_the_same_rows_make_the_same_bytes(tmp_path: Path) -> None:
    place, rows = LocalPlace(tmp_path), [(number % 3, number, str(number)) for number in range(2000)]
    for name in ("once", "again"):
        write_parts(place, name, table_of(rows), parts_of(rows), 3, memory=10_000)
    assert place.get("once") == place.get("again")


def test_a_part_is_read_without_the_others(tmp_path: Path) -> None:
    place, chance = Counted(tmp_path), np.random.default_rng(1)
    table = pa.table({"noise": chance.integers(0, 2**62, 500_000)})
    write_parts(place, "map", table, np.arange(500_000) % 50, 50)
    place.read = 0
    assert sum(batch.num_rows for batch in read_part(place, ["map"], 7)) == 10_000
    assert place.read < (place.size("map") or 0) / 10


def test_one_file_for_each_map_task_however_many_parts(tmp_path: Path) -> None:
    place = LocalPlace(tmp_path)
    write_parts(place, "map", pa.table({"number": np.arange(100)}), np.arange(100) * 100, 10_000, memory=300)
    assert list(place.names()) == ["map"]
    assert [batch.to_pydict() for batch in read_part(place, ["map"], 4200)] == [{"number": [42]}]


def test_an_error_while_writing_leaves_no_file(tmp_path: Path) -> None:
    place = LocalPlace(tmp_path)
    with pytest.raises(KeyError), PartWriter(place, "map", 2, memory=1) as writer:
        writer.add(pa.table({"number": [1, 2]}), np.array([0, 1]))
        raise KeyError
    assert list(place.names()) == []


@pytest.mark.parametrize("parts", [[0], [0, 2], [-1, 0]])
def test_parts_that_do_not_fit_the_rows_are_refused(tmp_path: Path, parts: list[int]) -> None:
    with pytest.raises(ValueError, match="part"):
        write_parts(LocalPlace(tmp_path), "map", pa.table({"number": [1, 2]}), np.array(parts), 2)


def test_files_that_are_missing_or_damaged_are_named(tmp_path: Path) -> None:
    place = LocalPlace(tmp_path)
    with pytest.raises(StorageError, match="gone is missing"):
        list(read_part(place, ["gone"], 0))
    place.put("other", b"something else")
    with pytest.raises(CorruptError, match="other is not a whole file of parts"):
        list(read_part(place, ["other"], 0))
    write_parts(place, "map", pa.table({"number": np.arange(1000)}), np.zeros(1000, np.int64), 1)
    place.put("broken", b"\0" * 200 + place.get("map")[200:])
    with pytest.raises(CorruptError, match="broken: part 0 is damaged"):
        list(read_part(place, ["broken"], 0))


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=50), st.integers(1, 1000))
def test_a_key_always_has_the_same_part(keys: list[int], parts: int) -> None:
    found = partition_of(np.array(keys, np.int64), parts)
    assert [int(partition_of(np.array([key], np.int64), parts)[0]) for key in keys] == found.tolist()
    assert all(0 <= part < parts for part in found)


def test_parts_of_keys_are_for_ever() -> None:
    assert partition_of(np.array([-1, 0, 1, 2, 2**40], np.int64), 1000).tolist() == [67, 0, 789, 730, 568]


@pytest.mark.parametrize("shift", [0, 8, 40])
def test_keys_that_look_alike_are_spread_evenly(shift: int) -> None:
    sizes = collections.Counter(partition_of(np.arange(10_000, dtype=np.int64) << shift, 10).tolist())
    assert len(sizes) == 10
    assert max(sizes.values()) < 1.15 * min(sizes.values())


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=50), st.integers(1, 1000))
def test_parts_by_range_follow_each_other(keys: list[int], parts: int) -> None:
    found = range_of(np.array(sorted(keys), np.int64), parts).tolist()
    assert found == sorted(found)
    assert all(0 <= part < parts for part in found)
    ends = range_of(np.array([-(2**63), 2**63 - 1], np.int64), parts).tolist()
    assert ends == [0, parts - 1]
