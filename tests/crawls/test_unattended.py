"""`gossamer run`: the plan is kept by real processes, whatever is killed, and nothing outlives it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from crawl_kit import (
    PATIENCE,
    command_of,
    crawl,
    descendants,
    kill,
    run,
    settings_of,
    start,
    wait_until,
    write_settings,
)

from gossamer.clock import WallClock
from gossamer.data.folder import DataFolder
from gossamer.data.locks import is_run
from gossamer.database.database import open_database, read_database
from gossamer.schedule.config import Schedule
from gossamer.supervise import tasks, unattended
from gossamer.tables import schedules
from gossamer.testing import FakeWeb


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FakeWeb, Path]]:
    """A small crawl that is over; tests that change it use a folder of their own."""
    web = FakeWeb()
    site = web.site("plan.test", pages=4)
    with web:
        data = tmp_path_factory.mktemp("plan") / "data"
        crawl(web, data, [site.url("/")])
        yield web, data


def planned(web: FakeWeb, data: Path, **entries: dict[str, Any]) -> None:
    """Give a data folder a plan."""
    sections = {f"schedules.{name}": values for name, values in entries.items()}
    write_settings(data, settings_of(web, serve={"port": 0}, **sections))


@pytest.fixture
def folder(crawled: tuple[FakeWeb, Path], tmp_path: Path) -> tuple[FakeWeb, Path]:
    web, _ = crawled
    data = tmp_path / "data"
    data.mkdir()
    open_database(data / "frontier.db").close()
    return web, data


@contextlib.contextmanager
def running(data: Path) -> Iterator[subprocess.Popen[str]]:
    process = start("run", data=data)
    try:
        yield process
    finally:
        below = descendants(process.pid)
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
        for pid in [process.pid, *below]:
            kill(pid)
        process.communicate()


def run_until(plant: unattended.Unattended, waited_for: Callable[[], None]) -> None:
    """Run a plan until what is waited for, beside it, has happened; it fails where that does."""

    def wait_and_stop() -> None:
        try:
            waited_for()
        finally:
            plant.stop()

    with ThreadPoolExecutor(1) as beside:
        waiting = beside.submit(wait_and_stop)
        plant.run(30)
        waiting.result()


def runs(data: Path, name: str = "") -> list[schedules.Run]:
    db = read_database(data / "frontier.db")
    try:
        return schedules.runs(db, "", name)
    finally:
        db.close()


def ended(data: Path, name: str = "") -> list[schedules.Run]:
    return [one for one in runs(data, name) if one.ended_at is not None]


def child(process: subprocess.Popen[str], words: str) -> int:
    """The process of an entry, by a part of its command; 0 where there is none."""
    found = [pid for pid in descendants(process.pid) if "cli.leash" in command_of(pid) and words in command_of(pid)]
    return found[0] if found else 0


def exists(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]
    except OSError:
        return False


def test_what_is_due_is_run_and_its_result_and_last_words_are_kept(folder: tuple[FakeWeb, Path]) -> None:
    web, data = folder
    planned(web, data, look={"run": "status", "every": "1h"}, wrong={"run": "search spider", "every": "1h"})
    with running(data) as process:
        wait_until(lambda: len(ended(data)) == 2)
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "look: pages" in errors and "every 1h" in output
    by_name = {one.name: one for one in runs(data)}
    assert by_name["look"].code == 0 and "pages" in by_name["look"].words
    assert by_name["wrong"].code and "no index" in by_name["wrong"].words
    listed = {one["name"]: one for one in json.loads(run("schedules", "list", "--json", data=data).stdout)}
    assert listed["look"]["result"] == "done" and listed["wrong"]["result"].startswith("failed")
    assert listed["look"]["next_at"] == pytest.approx(by_name["look"].began_at + 3600)


def test_a_clock_that_was_set_back_holds_nothing_up(folder: tuple[FakeWeb, Path]) -> None:
    web, data = folder
    planned(web, data, often={"run": "stats", "every": "1s"})
    ahead = time.time() + 10 * 86_400
    db = open_database(data / "frontier.db")
    schedules.note_plan(db, "", {"often": "every 1s"}, ahead)
    began = schedules.begin(db, "", "often", ahead)
    schedules.finish(db, "", schedules.Run("often", began, ahead + 1, 0, "in the future"))
    db.close()
    with running(data):
        wait_until(lambda: any(run.words != "in the future" for run in ended(data)))


def test_a_process_that_cannot_be_started_ends_nothing_and_is_tried_again(
    folder: tuple[FakeWeb, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, data = folder
    starts: list[str] = []

    def busy_at_first(name: str, *arguments: Any) -> tasks.Task:
        starts.append(name)
        if len(starts) == 1:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        return tasks.Task(name, *arguments)

    monkeypatch.setattr(unattended, "Task", busy_at_first)
    db = open_database(data / "frontier.db")
    plan = {"look": Schedule(run="status", always=True)}
    plant = unattended.Unattended(data, "", db, plan, WallClock(), lambda *_: None)
    run_until(plant, lambda: wait_until(lambda: any(one.code == 0 for one in ended(data))))
    db.close()
    first = ended(data)[-1]
    assert (first.code, len(starts) > 1) == (1, True)
    assert "cannot start it" in first.words


def test_a_database_that_is_locked_for_long_is_waited_for(
    folder: tuple[FakeWeb, Path], caplog: pytest.LogCaptureFixture
) -> None:
    """A plan that runs for years does not end because one writer stands still; what ended meanwhile is noted."""
    _, data = folder
    db = open_database(data / "frontier.db", wait=0.2)
    plan = {"look": Schedule(run="status", always=True)}
    plant = unattended.Unattended(data, "", db, plan, WallClock(), lambda *_: None)

    def locked_for_a_while() -> None:
        wait_until(lambda: runs(data))
        other = open_database(data / "frontier.db")  # of this thread
        with other.transaction():
            wait_until(lambda: "waiting for the database" in caplog.text)
        other.close()
        noted = len(ended(data))
        wait_until(lambda: len(ended(data)) > noted)

    run_until(plant, locked_for_a_while)
    db.close()
    assert {one.code for one in ended(data)} == {0}


def test_a_run_that_was_told_to_end_before_it_listened_did_not_fail(tmp_path: Path) -> None:
    db = open_database(tmp_path / "frontier.db")
    plan = {"crawl": Schedule(run="crawl --watch", always=True)}
    plant = unattended.Unattended(tmp_path, "", db, plan, WallClock(), lambda *_: None)
    schedules.note_plan(db, "", {"crawl": "always"}, 0.0)
    plant._start("crawl")
    process = plant._tasks["crawl"]._process
    process.send_signal(signal.SIGTERM)  # as its leash does, at the very beginning
    plant._tasks["crawl"].ask_to_end()
    process.wait()
    plant._bury()
    [run] = schedules.runs(db, "", "crawl")
    db.close()
    assert (process.returncode, run.code, run.result, run.words) == (-15, 0, "done", "ended on request")


@pytest.mark.parametrize("listens", [True, False])
def test_a_run_that_takes_too_long_is_ended_and_others_get_their_turn(
    folder: tuple[FakeWeb, Path], monkeypatch: pytest.MonkeyPatch, listens: bool
) -> None:
    class Deaf(tasks.Task):
        def ask_to_end(self) -> None:
            self.is_told_to_end = True

    if not listens:
        monkeypatch.setattr(unattended, "Task", Deaf)
    monkeypatch.setattr(unattended, "_LATE", 3600.0 if listens else 1.0)
    web, data = folder
    planned(web, data)
    db = open_database(data / "frontier.db")
    crawling = "crawl http://plan.test/ --watch --for 1h --quiet"
    most = "20m" if listens else "3s"
    plan = {"long": Schedule(run=crawling, every="1s", most=most), "look": Schedule(run="status", every="2s")}
    plant = unattended.Unattended(data, "", db, plan, WallClock(), lambda *_: None)

    def both_ended() -> None:
        if listens:  # it can when it has started, however long that takes; then its time is up
            wait_until(lambda: any("worker_process" in command_of(pid) for pid in descendants(os.getpid())))
            plant._latest["long"] = time.monotonic() - 1
        wait_until(lambda: ended(data, "long") and ended(data, "look"))

    run_until(plant, both_ended)
    db.close()
    late = ended(data, "long")[-1]
    assert f"longer than {most}" in late.words
    assert late.code == (0 if listens else -9)


def test_serialised_work_is_done_one_after_another_and_other_work_beside_it(folder: tuple[FakeWeb, Path]) -> None:
    web, data = folder
    entries = {f"heavy{n}": {"run": "stats", "every": "1s"} for n in range(3)}
    planned(web, data, **entries, light={"run": "status", "every": "1s", "serialise": False})
    with running(data):
        wait_until(lambda: len(ended(data)) >= 8 and {one.name for one in ended(data)} == {*entries, "light"})
    heavy = sorted((one.began_at, one.ended_at or 0) for one in runs(data) if one.name != "light")
    assert all(earlier[1] <= later[0] for earlier, later in pairwise(heavy))


def test_nothing_is_started_twice_at_once(folder: tuple[FakeWeb, Path]) -> None:
    web, data = folder
    # It takes longer to start than the time between two starts.
    planned(web, data, often={"run": "status", "every": "1s", "serialise": False})
    with running(data) as process:
        most = 0
        while len(ended(data)) < 4:
            most = max(most, sum("cli.leash" in command_of(pid) for pid in descendants(process.pid)))
    assert most == 1
    spans = sorted((one.began_at, one.ended_at or 0) for one in runs(data))
    assert all(earlier[1] <= later[0] for earlier, later in pairwise(spans))


def test_what_runs_always_is_started_again_when_it_dies(crawled: tuple[FakeWeb, Path]) -> None:
    web, data = crawled
    planned(web, data, page={"run": "serve", "always": True})
    with running(data) as process:
        wait_until(lambda: child(process, "serve"))
        first = child(process, "serve")
        kill(first)
        wait_until(lambda: child(process, "serve") not in (0, first))
        wait_until(lambda: any(one.code == -9 for one in ended(data, "page")))


def test_what_keeps_dying_is_started_less_and_less_often(folder: tuple[FakeWeb, Path]) -> None:
    web, data = folder
    planned(web, data, dying={"run": "search spider", "always": True})
    with running(data):
        wait_until(lambda: len(ended(data)) >= 3)
    spans = sorted((one.began_at, one.ended_at or 0) for one in ended(data))
    waits = [later[0] - earlier[1] for earlier, later in pairwise(spans)]
    # At least the wait that is meant; how much longer depends on the machine.
    assert waits[0] >= 1.0 and waits[1] >= 2.0


def test_a_kill_ends_all_that_was_started_and_a_restart_goes_on(crawled: tuple[FakeWeb, Path]) -> None:
    web, data = crawled
    planned(web, data, news={"run": "crawl --watch --quiet", "always": True}, page={"run": "serve", "always": True})
    with running(data) as process:
        wait_until(lambda: child(process, "crawl") and child(process, "serve"))
        wait_until(lambda: any("worker_process" in command_of(pid) for pid in descendants(process.pid)))
        below = descendants(process.pid)
        kill(process.pid)
        wait_until(lambda: not any(exists(pid) for pid in below))
    before = {one.began_at for one in runs(data)}
    with running(data) as again:
        wait_until(lambda: child(again, "crawl") and child(again, "serve"))
        assert all(one.ended_at is not None for one in runs(data) if one.began_at in before)
        assert any(one.result == "interrupted" for one in runs(data))


def test_sigterm_ends_everything_in_good_order(crawled: tuple[FakeWeb, Path]) -> None:
    web, data = crawled
    planned(web, data, news={"run": "crawl --watch --quiet", "always": True})
    with running(data) as process:
        wait_until(lambda: any("worker_process" in command_of(pid) for pid in descendants(process.pid)))
        below = descendants(process.pid)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        wait_until(lambda: not any(exists(pid) for pid in below))
    last = runs(data, "news")[0]
    assert last.code == 0
    db = read_database(data / "frontier.db")
    assert db.execute("SELECT COUNT(*) FROM workers") == [(0,)]
    db.close()


def test_a_data_folder_has_one_run(folder: tuple[FakeWeb, Path]) -> None:
    web, data = folder
    planned(web, data, look={"run": "status", "at": "03:30"})
    with running(data) as process:
        wait_until(lambda: (data / "run" / "run.lock").exists() and process.poll() is None)
        wait_until(lambda: run("schedules", "now", "look", data=data).stdout.startswith("`gossamer run`"))
        second = run("run", data=data)
        assert second.returncode == 1 and "another `gossamer run`" in second.stderr


def test_a_pause_survives_restarts_and_ends_with_resume(folder: tuple[FakeWeb, Path]) -> None:
    web, data = folder
    planned(web, data, often={"run": "status", "every": "1s"}, mark={"run": "stats", "every": "1s"})
    assert run("schedules", "pause", "often", data=data).returncode == 0
    for _ in range(2):
        with running(data):
            count = len(ended(data, "mark"))
            wait_until(lambda count=count: len(ended(data, "mark")) >= count + 2)
    assert runs(data, "often") == []
    listed = {one["name"]: one for one in json.loads(run("schedules", "list", "--json", data=data).stdout)}
    assert listed["often"]["paused_at"] and listed["often"]["next_at"] is None
    with running(data):
        assert run("schedules", "resume", "often", data=data).returncode == 0
        wait_until(lambda: ended(data, "often"))
    db = read_database(data / "frontier.db")
    actions = [row[0] for row in db.execute("SELECT action FROM audit ORDER BY at")]
    db.close()
    assert actions == ["pause schedule", "resume schedule"]


def test_pausing_what_runs_always_ends_it(crawled: tuple[FakeWeb, Path]) -> None:
    web, data = crawled
    planned(web, data, page={"run": "serve", "always": True})
    with running(data) as process:
        wait_until(lambda: child(process, "serve"))
        run("schedules", "pause", "page", data=data)
        wait_until(lambda: not child(process, "serve"))
        run("schedules", "resume", "page", data=data)
        wait_until(lambda: child(process, "serve"))


def test_now_is_done_by_the_run_that_runs_or_else_at_once(folder: tuple[FakeWeb, Path]) -> None:
    web, data = folder
    planned(web, data, monthly={"run": "status", "at": "1 03:30"}, wrong={"run": "search spider", "at": "3:00"})
    here = run("schedules", "now", "monthly", data=data)
    assert here.returncode == 0 and "pages" in here.stdout
    assert [one.code for one in runs(data, "monthly")] == [0]
    failed = run("schedules", "now", "wrong", data=data)
    assert failed.returncode == 1 and "exit code" in failed.stderr
    with running(data):
        wait_until(lambda: is_run(DataFolder(data)))
        assert "starts monthly" in run("schedules", "now", "monthly", data=data).stdout
        wait_until(lambda: len(ended(data, "monthly")) >= 2)


def test_without_a_plan_it_crawls_and_serves(crawled: tuple[FakeWeb, Path]) -> None:
    web, data = crawled
    planned(web, data)
    with running(data) as process:
        wait_until(lambda: child(process, "crawl --watch") and child(process, "serve"))
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=PATIENCE)
    assert "No schedules" in output


def test_a_command_that_is_not_understood_is_told_before_anything_starts(folder: tuple[FakeWeb, Path]) -> None:
    web, data = folder
    planned(web, data, good={"run": "status", "every": "1s"}, bad={"run": "rank --no-such-option", "every": "1h"})
    done = run("run", data=data)
    assert done.returncode == 2 and "[schedules.bad]" in done.stderr and "no-such-option" in done.stderr
    assert runs(data) == []


def test_in_an_empty_folder_it_serves_and_crawls_what_is_named_later(
    crawled: tuple[FakeWeb, Path], tmp_path: Path
) -> None:
    web, data = crawled[0], tmp_path / "new"
    planned(web, data)
    with running(data) as process:
        wait_until(lambda: child(process, "serve"))
        assert not child(process, "crawl --watch")
        assert run("inject", web.sites["plan.test"].url("/"), data=data).returncode == 0
        wait_until(lambda: json.loads(run("status", "--json", data=data).stdout)["pages"] == 4)
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=PATIENCE)
    assert "Nothing to crawl yet: add a site on the console" in output
    assert [one.result for one in runs(data, "crawl")] == ["done"]  # it was not tried before there was a seed


def test_what_runs_always_is_started_anew_where_somebody_asks_for_it(crawled: tuple[FakeWeb, Path]) -> None:
    web, data = crawled
    planned(web, data, page={"run": "serve", "always": True})
    assert run("schedules", "now", "page", data=data).returncode == 2  # nobody is there to do it
    with running(data) as process:
        wait_until(lambda: child(process, "serve"))
        before = child(process, "serve")
        assert "restarts page" in run("schedules", "now", "page", data=data).stdout
        wait_until(lambda: child(process, "serve") not in (0, before))


def test_unknown_names_are_told_with_those_that_there_are(folder: tuple[FakeWeb, Path]) -> None:
    web, data = folder
    planned(web, data, nightly={"run": "status", "at": "03:30"})
    for verb in ("pause", "resume", "now"):
        done = run("schedules", verb, "nigthly", data=data)
        assert done.returncode == 2 and "nightly" in done.stderr
