"""Pieces of a study on several processes: in order, and nothing is left behind or waited for in vain."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

import pytest

from gossamer.errors import OperationError
from gossamer.lab import parallel


@pytest.fixture(autouse=True)
def two_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "PROCESSES", 2)


def test_results_come_in_the_order_of_the_pieces() -> None:
    mine = os.getpid()
    found = parallel.each(lambda piece: (piece, os.getpid() != mine), [3, 1, 2])
    assert found == [(3, True), (1, True), (2, True)]


def test_a_piece_may_have_pieces_of_its_own() -> None:
    assert parallel.each(lambda n: parallel.each(lambda m: n * m, [1, 2]), [10, 20]) == [[10, 20], [20, 40]]


def test_an_error_of_a_piece_is_told() -> None:
    with pytest.raises(ZeroDivisionError):
        parallel.each(lambda piece: 1 / piece, [1, 0])
    assert parallel.each(lambda piece: piece, [1, 2]) == [1, 2]


def test_processes_end_when_they_are_told_to_though_the_one_that_began_them_would_not() -> None:
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        assert parallel.each(lambda _piece: signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, [1, 2]) == [True, True]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_process_that_was_killed_is_not_waited_for() -> None:
    def die_on_one(piece: int) -> int:
        if piece == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return piece

    with pytest.raises(OperationError, match="killed"):
        parallel.each(die_on_one, [0, 1, 2])


def test_nothing_is_left_of_a_process_that_could_not_clear_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def begin_and_die(piece: int) -> None:
        Path(tempfile.mkdtemp(), "half").touch()
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(OperationError):
        parallel.each(begin_and_die, [0, 1])
    assert list(tmp_path.iterdir()) == []
