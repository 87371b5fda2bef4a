"""What a crawl does every so often is done every so often, however often the crawl itself is started."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.data.notes import read_note, write_note
from gossamer.supervise import chores as chores_module
from gossamer.supervise.chores import Chore

DONE, FAILING = "forget", "no such chore"
WEEK = 7 * 86_400.0


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    folder = DataFolder(tmp_path)
    folder.create()
    folder.open_database().close()
    return folder


def took(chore: Chore, caplog: pytest.LogCaptureFixture) -> bool:
    """Whether it is started at once; its end is waited for."""
    caplog.clear()
    caplog.set_level("INFO", "gossamer.supervise.children")
    chore.tick()
    if "started" not in caplog.text:
        return False
    _until(lambda: (chore.tick(), "is done" in caplog.text or "failed" in caplog.text)[1])
    return True


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


@pytest.fixture(autouse=True)
def no_settling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chores_module, "SETTLE", 0.0)


def noted(folder: DataFolder, name: str) -> float:
    return float(read_note(folder, f"{name}.chore") or "nan")


def test_the_first_turn_comes_after_its_time_counted_over_all_starts(
    folder: DataFolder, caplog: pytest.LogCaptureFixture
) -> None:
    assert not took(Chore("work", DONE, folder, WEEK), caplog)
    begun = noted(folder, DONE)
    write_note(folder, f"{DONE}.chore", repr(begun - WEEK - 1))  # nights and crawls went by
    assert took(Chore("work", DONE, folder, WEEK), caplog)
    assert noted(folder, DONE) >= begun
    assert not took(Chore("work", DONE, folder, WEEK), caplog)


def test_what_is_overdue_lets_a_crawl_begin(
    folder: DataFolder, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chores_module, "SETTLE", 60.0)
    write_note(folder, f"{DONE}.chore", "1.0")
    assert not took(Chore("work", DONE, folder, WEEK), caplog)


def test_one_that_the_end_of_the_crawl_cut_off_is_not_begun_at_every_start(
    folder: DataFolder, caplog: pytest.LogCaptureFixture
) -> None:
    write_note(folder, f"{DONE}.chore", "1.0")
    cut_off = Chore("work", DONE, folder, WEEK)
    cut_off.tick()
    cut_off.kill()
    assert not took(Chore("work", DONE, folder, WEEK), caplog)


def test_one_that_failed_is_tried_again_after_minutes_also_by_the_next_crawl(
    folder: DataFolder, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_note(folder, f"{FAILING}.chore", "1.0")
    chore = Chore("work", FAILING, folder, WEEK)
    assert took(chore, caplog)
    assert not took(chore, caplog)
    assert 0 < noted(folder, FAILING) + WEEK - SystemClock().now() <= chores_module.AGAIN
    monkeypatch.setattr(chores_module, "AGAIN", 0.0)
    write_note(folder, f"{FAILING}.chore", "1.0")
    chore = Chore("work", FAILING, folder, WEEK)
    caplog.clear()
    _until(lambda: (chore.tick(), caplog.text.count("started") >= 3)[1])
    chore.kill()


@pytest.mark.parametrize("text", ["", "yesterday", "nan", "1e400", repr(4e9)])
def test_a_note_that_cannot_be_is_made_anew(folder: DataFolder, text: str) -> None:
    """Of a clock that was wrong once, too."""
    write_note(folder, f"{DONE}.chore", text)
    Chore("work", DONE, folder, WEEK)
    assert noted(folder, DONE) <= SystemClock().now()


def test_what_is_never_due_or_not_needed_is_not_started(folder: DataFolder, caplog: pytest.LogCaptureFixture) -> None:
    asked = []

    def needed() -> bool:
        asked.append(True)
        return len(asked) > 2

    assert not took(Chore("work", DONE, folder, 0.0), caplog)
    chore = Chore("work", DONE, folder, 0.01, needed)
    _until(lambda: took(chore, caplog))
    assert len(asked) >= 3
