"""Ranks for searches: by key, the newest generation, and never a reason for a search to fail."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from gossamer.index.ranks import StoredRanks
from gossamer.jobs.graph_files import RankInfo, drop_generations, write_ranks
from gossamer.store.place import LocalPlace

INFO = RankInfo("normalised", 0.85, 1e-8, 3, 1e-9, True, 3, 1.0, False, "graph/g1/")


class Time:
    """A clock that stands until it is moved."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def write(place: LocalPlace, generation: str, ranks: dict[int, float]) -> None:
    write_ranks(place, generation, INFO, sorted(ranks), [ranks[key] for key in sorted(ranks)], {})


@pytest.fixture
def place(tmp_path: Path) -> LocalPlace:
    return LocalPlace(tmp_path)


@pytest.fixture
def time() -> Time:
    return Time()


def test_a_rank_is_found_by_key_and_others_are_zero(place: LocalPlace) -> None:
    write(place, "g1", {-5: 0.5, 7: 2.0, 2**62: 0.25})
    asked: Sequence[int] = [7, 8, -5, 2**62, 2**63 - 1, -(2**63), 7]
    assert StoredRanks(place).of(asked) == [2.0, 0.0, 0.5, 0.25, 0.0, 0.0, 2.0]


def test_without_ranks_every_rank_is_zero(place: LocalPlace) -> None:
    ranks = StoredRanks(place)
    assert ranks.of([1, 2]) == [0.0, 0.0]
    assert ranks.generation == ""
    write(place, "g1", {})
    assert StoredRanks(place).of([1]) == [0.0]


def test_a_new_generation_is_used_after_a_second(place: LocalPlace, time: Time) -> None:
    ranks = StoredRanks(place, now=time)
    assert ranks.of([1]) == [0.0]
    write(place, "g1", {1: 0.5})
    assert ranks.of([1]) == [0.0]
    time.now = 1.5
    assert (ranks.of([1]), ranks.generation) == ([0.5], "g1")
    write(place, "g2", {1: 3.0})
    drop_generations(place, "ranks", "g2")
    assert ranks.of([1]) == [0.5]
    time.now = 3.0
    assert (ranks.of([1]), ranks.generation) == ([3.0], "g2")


@pytest.mark.parametrize("damage", ["gone", "cut", "unequal", "text"])
def test_ranks_that_cannot_be_read_leave_those_before_in_use(
    place: LocalPlace, time: Time, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    write(place, "g1", {1: 0.5})
    ranks = StoredRanks(place, now=time)
    assert ranks.of([1]) == [0.5]
    write(place, "g2", {1: 3.0, 2: 1.0})
    file = place.root / "ranks" / "g2" / "ranks.npy"
    if damage == "gone":
        file.unlink()
    elif damage == "cut":
        file.write_bytes(file.read_bytes()[:50])
    elif damage == "unequal":
        file.write_bytes((place.root / "ranks" / "g1" / "ranks.npy").read_bytes())
    else:
        file.write_bytes(b"no array")
    time.now = 2.0
    assert ranks.of([1, 2]) == [0.5, 0.0]
    assert "cannot read new link ranks" in caplog.text
