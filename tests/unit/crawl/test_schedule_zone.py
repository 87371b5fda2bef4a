"""Schedules go by the clock of the machine, however its time zone is named."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from gossamer.supervise import schedule_runs
from gossamer.supervise.schedule_runs import local_zone
from gossamer.supervise.unattended import rest_after

ZONES = Path("/usr/share/zoneinfo")
BERLIN = ZONES / "Europe/Berlin"
pytestmark = pytest.mark.skipif(not BERLIN.exists(), reason="no files of time zones here")


def hour_there() -> int:
    """Which hour it is in the zone of the schedules at noon of Greenwich, in summer."""
    return datetime.fromisoformat("2026-07-01T12:00:00+00:00").astimezone(local_zone()).hour


@pytest.fixture(autouse=True)
def zone_of_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Japan, by a file as Debian has it."""
    file = tmp_path / "localtime"
    file.symlink_to(ZONES / "Asia/Tokyo")
    monkeypatch.setattr(schedule_runs, "_LOCAL", file)
    return file


@pytest.mark.parametrize("name", ["Europe/Berlin", ":Europe/Berlin", str(BERLIN), f":{BERLIN}"])
def test_the_environment_names_a_zone_or_its_file(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("TZ", name)
    assert hour_there() == 14


@pytest.mark.parametrize("name", ["", "CET-1CEST,M3.5.0,M10.5.0/3", "No/Where", "/no/file"])
def test_else_it_is_the_machine_s_own(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("TZ", name)
    assert hour_there() == 21


def test_without_any_it_is_that_of_greenwich(monkeypatch: pytest.MonkeyPatch, zone_of_the_machine: Path) -> None:
    monkeypatch.delenv("TZ", raising=False)
    zone_of_the_machine.unlink()
    assert hour_there() == 12


def test_what_dies_for_months_is_started_again_every_five_minutes() -> None:
    assert [rest_after(deaths) for deaths in (1, 2, 3, 9, 10, 100_000)] == [1, 2, 4, 256, 300, 300]
