"""Logs: one event a line whatever is in it, the fields of the event, and who decides how they look."""

from __future__ import annotations

import io
import json
import logging
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer import logs
from gossamer.cli.main import main
from gossamer.data.logged import log_settings
from gossamer.settings import FILE_NAME, LogSettings

log = logging.getLogger("gossamer.test")

HOSTILE = "a\n2026-01-01T00:00:00Z ERROR all is lost\r\x1b[2J\u2028b\u202ec\x85d"


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every test configures for itself, and leaves nothing behind."""
    for name in (logs.FORMAT_VARIABLE, logs.LEVEL_VARIABLE, "GOSSAMER_LOG_INHERITED"):
        monkeypatch.setenv(name, "")  # what is not set now shall not be set in the end, whoever sets it meanwhile
        monkeypatch.delenv(name)
    root, own = logging.getLogger(), logging.getLogger("gossamer")
    handlers, levels = list(root.handlers), (root.level, own.level)
    yield
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    own.setLevel(levels[1])


def written(format: str, level: str = "info", role: str = "worker w1") -> io.StringIO:
    stream = io.StringIO()
    logs.configure(format, level, role, stream)
    return stream


def events(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_of_json_has_time_level_logger_process_message_and_fields() -> None:
    stream = written("json")
    log.info("committed %d results", 9, extra={"results": 9, "seconds": 0.25, "sites": ["a.test", "b.test"]})
    (event,) = events(stream)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", event.pop("time"))
    assert event.pop("pid") > 0
    assert event == {
        "level": "info", "logger": "gossamer.test", "process": "worker w1", "message": "committed 9 results",
        "results": 9, "seconds": 0.25, "sites": ["a.test", "b.test"],
    }  # fmt: skip


def test_a_field_cannot_take_the_place_of_what_every_event_has() -> None:
    stream = written("json")
    log.info("done", extra={"level": "error", "logger": "somebody else", "time": "never"})
    (event,) = events(stream)
    assert (event["level"], event["logger"]) == ("info", "gossamer.test") and event["time"] != "never"
    assert (event["level_"], event["time_"]) == ("error", "never")


def test_numbers_and_objects_that_json_does_not_have_become_text() -> None:
    stream = written("json")
    log.info("odd", extra={"share": float("nan"), "much": {"x": float("inf")}, "path": Path("/tmp/x"), "set": {1}})
    line = stream.getvalue()
    (event,) = [json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))]
    assert (event["share"], event["much"], event["path"], event["set"]) == ("nan", {"x": "inf"}, "/tmp/x", [1])


@pytest.mark.parametrize("format", logs.FORMATS)
def test_data_cannot_begin_a_line_or_command_a_terminal(format: str) -> None:
    stream = written(format, role=HOSTILE)
    log.warning("asked %s", HOSTILE, extra={"url": HOSTILE})
    text = stream.getvalue()
    assert text.count("\n") == 1 and text.endswith("\n")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]", text)


def test_half_a_character_can_be_written() -> None:
    """Not through the logger: what pytest keeps of it for its report could not be sent to another process."""
    record = logging.makeLogRecord({"name": "gossamer", "msg": "asked \ud800", "url": "\ud800"})
    for form in (logs.PlainLines("r"), logs.JsonLines("r")):
        assert form.format(record).encode("utf-8", "strict")


@given(message=st.text(), field=st.text())
def test_every_text_is_one_line_in_both_forms(message: str, field: str) -> None:
    record = logging.makeLogRecord({"name": "gossamer", "msg": "%s", "args": (message,), "field": field})
    assert len(logs.PlainLines("r").format(record).splitlines()) == 1
    (line,) = logs.JsonLines("r").format(record).splitlines()
    assert (json.loads(line)["message"], json.loads(line)["field"]) == (message, field)


def test_a_traceback_is_one_field_of_json() -> None:
    stream = written("json")
    try:
        raise ValueError(HOSTILE)
    except ValueError:
        log.exception("a request failed")
    (event,) = events(stream)
    assert event["message"] == "a request failed"
    assert "Traceback" in event["traceback"] and "ValueError" in event["traceback"]


def test_a_traceback_for_people_is_indented_so_that_no_line_of_it_looks_like_an_event() -> None:
    stream = written("plain")
    try:
        raise ValueError(HOSTILE)
    except ValueError:
        log.exception("a request failed")
    first, *others = stream.getvalue().splitlines()
    assert first.endswith("ERROR worker w1: a request failed")
    assert others and all(line.startswith("    ") for line in others)


def test_people_see_the_fields_that_the_message_does_not_mention() -> None:
    stream = written("plain")
    log.info("worker w7 started", extra={"worker": "w7", "worker_pid": 12345, "why": "the first"})
    assert stream.getvalue().endswith('worker w1: worker w7 started (worker_pid=12345 why="the first")\n')


def test_a_wrong_log_call_is_still_an_event() -> None:
    record = logging.makeLogRecord({"msg": "%d results", "args": ("many",)})
    assert "many" in json.loads(logs.JsonLines().format(record))["message"]
    assert "many" in logs.PlainLines().format(record)


def test_below_the_level_nothing_is_written_and_other_libraries_are_heard_from_warnings_on() -> None:
    stream = written("json", "info")
    log.debug("unheard")
    logging.getLogger("httpx").info("unheard")
    logging.getLogger("httpx").warning("heard")
    log.info("heard")
    assert [event["message"] for event in events(stream)] == ["heard", "heard"]
    stream = written("plain", "error")
    log.warning("unheard")
    assert stream.getvalue() == ""


def test_the_environment_wins_over_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(logs.FORMAT_VARIABLE, "JSON")
    monkeypatch.setenv(logs.LEVEL_VARIABLE, "debug")
    stream = written("plain", "error")
    log.debug("heard")
    assert events(stream)[0]["message"] == "heard" and logs.is_json()


def test_a_wrong_word_in_the_environment_is_told_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(logs.FORMAT_VARIABLE, "xml")
    stream = written("plain", "warning")
    assert "GOSSAMER_LOG_FORMAT is 'xml' and has no effect: write plain or json" in stream.getvalue()


def test_configuring_twice_writes_each_event_once() -> None:
    first, second = written("plain"), written("json")
    log.info("once")
    assert first.getvalue() == "" and len(events(second)) == 1


def test_a_process_without_settings_writes_as_the_one_that_started_it() -> None:
    written("json", "info")
    code = "from gossamer import logs; import logging; logs.inherit('parser'); logging.getLogger('gossamer').info('hi')"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=True).stderr
    assert (json.loads(said)["process"], json.loads(said)["message"]) == ("parser", "hi")


def test_the_section_of_a_folder_counts_and_a_broken_file_is_for_others_to_complain_of(tmp_path: Path) -> None:
    assert log_settings(tmp_path) == LogSettings()
    (tmp_path / FILE_NAME).write_text('[logs]\nformat = "json"\nlevel = "debug"\n[crawl]\nno_such = 1\n')
    assert log_settings(tmp_path) == LogSettings("json", "debug")
    for broken in ("[logs", '[logs]\nformat = "xml"\n', "logs = 3"):
        (tmp_path / FILE_NAME).write_text(broken)
        assert log_settings(tmp_path) == LogSettings()


def test_the_last_words_of_a_command_are_json_too_where_that_is_wanted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / FILE_NAME).write_text('[logs]\nformat = "json"\n')
    assert main(["status", "--data", str(tmp_path)]) == 2
    (event,) = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert (event["level"], event["process"]) == ("error", "status") and "no crawl in" in event["message"]
