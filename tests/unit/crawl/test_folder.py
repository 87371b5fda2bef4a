"""The data folder: who may use it, what dead workers leave, and a clock that went back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gossamer.data.crawl_settings import last_options, note_settings
from gossamer.data.folder import DataFolder
from gossamer.data.locks import crawl_lock, is_locked, worker_lock
from gossamer.data.opening import open_frontier
from gossamer.data.recovery import check_clock, recover
from gossamer.errors import BusyError, ClockError
from gossamer.frontier.sql import SqlFrontier
from gossamer.model.records import Discovered
from gossamer.settings import Settings
from gossamer.store.layout import new_segment_id

NOW = 1_700_000_000.0


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    made = DataFolder(tmp_path / "data")
    made.create()
    return made


@pytest.fixture
def frontier(folder: DataFolder) -> SqlFrontier:
    return open_frontier(folder, Settings())


def test_one_crawl_at_a_time(folder: DataFolder) -> None:
    with crawl_lock(folder), pytest.raises(BusyError, match="gossamer inject"), crawl_lock(DataFolder(folder.root)):
        pass
    with crawl_lock(folder):
        pass


def test_a_worker_is_alive_while_its_process_is(folder: DataFolder) -> None:
    code = "from gossamer.data.folder import DataFolder; from gossamer.data.locks import worker_lock\n"
    code += "from pathlib import Path; import sys\n"
    code += "with worker_lock(DataFolder(Path(sys.argv[1])), 'w1'): print('held', flush=True); sys.stdin.read()"
    process = subprocess.Popen([sys.executable, "-c", code, str(folder.root)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    assert is_locked(folder, "w1")
    with pytest.raises(BusyError, match="w1"), worker_lock(folder, "w1"):
        pass
    process.kill()
    process.communicate()
    assert not is_locked(folder, "w1")


def test_recovery_takes_from_the_dead_and_not_from_the_living(folder: DataFolder, frontier: SqlFrontier) -> None:
    frontier.add([Discovered(f"http://{host}.test/") for host in "ab"], NOW)
    frontier.register("dead", NOW)
    frontier.register("alive", NOW)
    assert len(frontier.take("dead", NOW, 1, 10)) == len(frontier.take("alive", NOW, 1, 10)) == 1
    for worker in ("dead", "alive"):
        folder.segments.build(new_segment_id(worker, NOW, 1))
    with worker_lock(folder, "alive"):
        told = recover(folder, frontier, NOW)
        assert any("dead" in line for line in told) and not any("alive" in line for line in told)
        assert folder.segments.unfinished() == [new_segment_id("alive", NOW, 1)]
        assert [row[0] for row in frontier.db.execute("SELECT id FROM workers")] == ["alive"]
        assert recover(folder, frontier, NOW) == []


def test_a_clock_behind_the_last_crawl_is_refused_until_accepted(frontier: SqlFrontier) -> None:
    check_clock(frontier, NOW, accept=False)
    check_clock(frontier, NOW - 60, accept=False)  # clocks are corrected by seconds all the time
    check_clock(frontier, NOW, accept=False)
    with pytest.raises(ClockError, match="--accept-clock"):
        check_clock(frontier, NOW - 86_400, accept=False)
    check_clock(frontier, NOW - 86_400, accept=True)
    check_clock(frontier, NOW - 86_000, accept=False)


def test_accepting_the_clock_keeps_waits_as_long_as_they_were(frontier: SqlFrontier) -> None:
    frontier.add([Discovered("http://a.test/")], NOW)
    frontier.block_until("a.test", NOW + 300, "it asked for it")
    check_clock(frontier, NOW, accept=False)
    check_clock(frontier, NOW - 86_400, accept=True)
    rows = frontier.db.execute("SELECT s.not_before, p.ready_at FROM sites s JOIN parts p ON p.site_id = s.id")
    assert rows == [(NOW - 86_400 + 300, NOW - 86_400 + 300)]


def test_options_of_the_last_crawl_are_remembered(folder: DataFolder, frontier: SqlFrontier) -> None:
    assert last_options(folder) == {}
    for options in ({"scope": {"mode": "domain"}}, {"crawl": {"workers": 2}}):
        note_settings(frontier.db, Settings(), options)
        assert last_options(folder) == options
