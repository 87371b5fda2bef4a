"""The page of jobs: what is due, what ran and what it said; pause, resume and run now."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from console_kit import ConsoleUnderTest, console_of

from gossamer.data.locks import run_lock
from gossamer.database.database import Database
from gossamer.tables import audit, schedules

PLAN = """
[schedules.nightly]
run = "rank"
at = "03:30"
[schedules.page]
run = "serve"
always = true
[schedules.often]
run = "jobs run vocabulary"
every = "10m"
"""


@pytest.fixture(scope="module")
def planned(crawled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleUnderTest]:
    data = tmp_path_factory.mktemp("jobs") / "data"
    shutil.copytree(crawled, data)
    with (data / "gossamer.toml").open("a") as file:
        file.write(PLAN)
    with console_of(data) as console:
        yield console


@contextlib.contextmanager
def changing(console: ConsoleUnderTest) -> Iterator[Database]:
    db = console.folder.open_database()
    try:
        yield db
    finally:
        db.close()


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_every_entry_is_shown_with_its_next_start(planned: ConsoleUnderTest) -> None:
    page = planned.reader.get("/console/jobs")
    assert page.status_code == 200
    text = text_of(page.text)
    assert "at 03:30" in text and re.search(r"\d+ \w+ \d{4}, \d\d:\d\d UTC", text)
    assert "serve always always" in text and "every 10m" in text
    assert "gossamer run is not running" in text
    assert "vocabulary" in text


def test_runs_are_shown_with_their_result_and_escaped_words(planned: ConsoleUnderTest) -> None:
    with changing(planned) as db:
        for number, (code, said) in enumerate([(0, "ranked 12 pages"), (1, "<script>alert(1)</script> no disk")]):
            began = schedules.begin(db, "", "nightly", 1_700_000_000.0 + number)
            schedules.finish(db, "", schedules.Run("nightly", began, began + 60, code, said))
        schedules.begin(db, "", "often", 1_700_000_500.0)
    page = planned.reader.get("/console/jobs").text
    assert "ranked 12 pages" in page and "failed (1)" in page
    assert "<script>alert" not in page and "&lt;script&gt;alert(1)" in page
    assert "interrupted" in page  # begun, not ended, and nobody runs the plan
    with run_lock(planned.folder):
        assert ">running</span> for" in planned.reader.get("/console/jobs").text
    only = planned.reader.get("/console/jobs", params={"name": "often"}).text
    assert "ranked 12 pages" not in only


def test_who_pauses_the_console_itself_is_asked_first_and_told_the_way_back(planned: ConsoleUnderTest) -> None:
    asked = [one for one in planned.operator.get("/console/jobs").text.split("<tr>") if "Yes: Pause" in one]
    assert len(asked) == 1
    assert f"<code>gossamer schedules resume page --data {planned.data}</code>" in asked[0]


def test_a_reader_sees_no_buttons(planned: ConsoleUnderTest) -> None:
    assert "/console/jobs/pause" not in planned.reader.get("/console/jobs").text
    assert "/console/jobs/pause" in planned.operator.get("/console/jobs").text
    assert planned.send("/console/jobs/pause", {"name": "nightly"}, client=planned.reader).status_code == 403


def test_pause_and_resume_are_done_told_and_written_down(planned: ConsoleUnderTest) -> None:
    page = planned.send("/console/jobs/pause", {"name": "nightly"})
    assert page.status_code == 200 and "Paused nightly" in page.text
    with changing(planned) as db:
        assert list(schedules.pauses(db, "")) == ["nightly"]
    assert planned.send("/console/jobs/pause", {"name": "nightly"}).status_code == 400
    assert "Resumed nightly" in planned.send("/console/jobs/resume", {"name": "nightly"}).text
    with changing(planned) as db:
        assert schedules.pauses(db, "") == {}
        lines = [(one.who, one.action, one.subject) for one in audit.entries(db)][:2]
    assert lines == [("operator", "resume schedule", "nightly"), ("operator", "pause schedule", "nightly")]


def test_run_now_needs_somebody_who_runs_the_plan(planned: ConsoleUnderTest) -> None:
    refused = planned.send("/console/jobs/now", {"name": "nightly"})
    assert refused.status_code == 400 and "gossamer run" in refused.text
    with run_lock(planned.folder):
        with changing(planned) as db:
            schedules.note_plan(db, "", {"nightly": "at 03:30", "page": "always"}, 1_700_000_000.0)
        assert "starts as soon as" in planned.send("/console/jobs/now", {"name": "nightly"}).text
        assert "page restarts now" in planned.send("/console/jobs/now", {"name": "page"}).text
        assert "follows this plan" in text_of(planned.reader.get("/console/jobs").text)
    with changing(planned) as db:
        assert [one.wanted_at is not None for one in schedules.entries(db, "")] == [True, True]


def test_unknown_entries_are_told(planned: ConsoleUnderTest) -> None:
    page = planned.send("/console/jobs/pause", {"name": "<b>x</b>"})
    assert page.status_code == 400 and "<b>x</b>" not in page.text and "nightly" in page.text
