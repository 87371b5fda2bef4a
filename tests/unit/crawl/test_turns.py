"""What a crawl does every so often is done every so often, however often the crawl itself is started."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gossamer.clock import SystemClock
from gossamer.crawl.folder import DataFolder
from gossamer.crawl.turns import Turns

DONE, FAILING = "gossamer.crawl.forget_process", "gossamer.crawl.no_such_process"
WEEK = 7 * 86_400.0


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    folder = DataFolder(tmp_path)
    folder.create()
    folder.open_database().close()
    return folder


def took(turns: Turns, folder: DataFolder, caplog: pytest.LogCaptureFixture) -> bool:
    """Whether it is started at once; its end is waited for."""
    caplog.clear()
    caplog.set_level("INFO", "gossamer.crawl.children")
    turns.tick()
    if "started" not in caplog.text:
        return False
    _until(lambda: (turns.tick(), "is done" in caplog.text or "stopped" in caplog.text)[1])
    return True


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def test_the_first_turn_comes_after_its_time_counted_over_all_starts(
    folder: DataFolder, caplog: pytest.LogCaptureFixture
) -> None:
    assert not took(Turns("work", DONE, folder, WEEK), folder, caplog)
    begun = folder.last_turn(DONE)
    assert begun is not None
    folder.note_turn(DONE, begun - WEEK - 1)  # nights and crawls went by
    assert took(Turns("work", DONE, folder, WEEK), folder, caplog)
    ended = folder.last_turn(DONE)
    assert ended is not None and ended >= begun
    assert not took(Turns("work", DONE, folder, WEEK), folder, caplog)


def test_one_that_failed_is_taken_again_at_the_next_start(folder: DataFolder, caplog: pytest.LogCaptureFixture) -> None:
    folder.note_turn(FAILING, 1.0)
    turns = Turns("work", FAILING, folder, WEEK)
    assert took(turns, folder, caplog)
    assert not took(turns, folder, caplog)
    assert took(Turns("work", FAILING, folder, WEEK), folder, caplog)


@pytest.mark.parametrize("text", ["", "yesterday", "nan", "1e400"])
def test_a_note_that_cannot_be_read_is_made_anew(folder: DataFolder, text: str) -> None:
    (folder.root / "run" / f"{DONE}.turn").write_text(text)
    Turns("work", DONE, folder, WEEK)
    noted = folder.last_turn(DONE)
    assert noted is not None and abs(noted - SystemClock().now()) < WEEK


def test_a_clock_that_was_set_back_does_not_put_it_off_for_longer_than_usual(
    folder: DataFolder, caplog: pytest.LogCaptureFixture
) -> None:
    folder.note_turn(DONE, SystemClock().now() + 100 * WEEK)
    turns = Turns("work", DONE, folder, 0.01)
    _until(lambda: took(turns, folder, caplog))


def test_what_is_never_due_or_not_needed_is_not_started(folder: DataFolder, caplog: pytest.LogCaptureFixture) -> None:
    asked = []

    def needed() -> bool:
        asked.append(True)
        return len(asked) > 2

    assert not took(Turns("work", DONE, folder, 0.0), folder, caplog)
    turns = Turns("work", DONE, folder, 0.01, needed)
    _until(lambda: took(turns, folder, caplog))
    assert len(asked) >= 3
