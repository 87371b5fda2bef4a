"""Other users of a machine cannot read a data folder: it holds passwords and queries."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.cli.crawling.init import command as init
from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.data.storage import remember_storage
from gossamer.operate.doctor.checks import Patient
from gossamer.operate.doctor.crawl import privacy
from gossamer.privacy import exposed
from gossamer.settings import load

SECRETS = ("gossamer.toml", "storage.json", "frontier.db")


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_folder_is_its_owners_alone(tmp_path: Path) -> None:
    data = tmp_path / "a" / "data"
    init(data)
    remember_storage(data, None, "")
    DataFolder(data).open_database().close()
    assert mode(data) == 0o700
    assert {mode(data / name) for name in SECRETS} == {0o600}
    assert mode(data.parent) == 0o755, "the way to it is not ours"


def test_the_files_of_a_database_that_is_open_are_closed_to_others(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)  # a folder that many use is left as it is
    db = DataFolder(tmp_path).open_database()
    with db.transaction():
        db.execute("INSERT INTO meta VALUES ('x', 'y')")
    assert {path.name: mode(path) for path in tmp_path.glob("frontier.db*") if mode(path) != 0o600} == {}
    db.close()


@pytest.mark.parametrize("opened", [DataFolder.create, DataFolder.open_database])
def test_a_folder_of_an_earlier_version_is_closed_when_it_is_opened_for_writing(tmp_path: Path, opened: object) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    for name in SECRETS[:2]:
        (data / name).write_text("{}" if name.endswith("json") else "")
        (data / name).chmod(0o664)
    folder = DataFolder(data)
    done = opened(folder)
    if done is not None:
        done.close()
    assert mode(data) == 0o700
    assert {mode(data / name) for name in SECRETS[:2]} == {0o600}


def test_a_folder_that_is_not_ours_alone_stays_and_what_we_put_there_is_closed(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "foreign.txt").write_text("x")
    (shared / "foreign").mkdir()
    folder = DataFolder(shared)
    folder.create()
    for name in ("cache", "index", "graph", "ranks", "jobs"):
        (shared / name).mkdir()
    for name in ("categories.model", "qrank.model"):
        (shared / name).write_text("x")
    folder.create()
    assert mode(shared) == 0o1777
    ours = [path for path in shared.iterdir() if not path.name.startswith("foreign")]
    assert {path.name: mode(path) for path in ours if mode(path) & 0o077} == {}
    assert {"run", "segments"} < {path.name for path in ours}
    assert (mode(shared / "foreign.txt"), mode(shared / "foreign")) == (0o644, 0o755)


def test_the_home_folder_and_what_lies_at_the_top_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    tmp_path.chmod(0o755)
    (tmp_path / "gossamer.toml").write_text("")
    DataFolder(tmp_path).create()
    assert mode(tmp_path) == 0o755
    assert mode(tmp_path / "gossamer.toml") == 0o600
    assert Path("/usr") not in exposed(Path("/usr"))


def test_a_settings_file_elsewhere_that_is_linked_here_is_not_touched(tmp_path: Path) -> None:
    data, elsewhere = tmp_path / "data", tmp_path / "shared.toml"
    elsewhere.write_text("")
    data.mkdir()
    (data / "gossamer.toml").symlink_to(elsewhere)
    DataFolder(data).create()
    assert mode(elsewhere) == 0o644


def test_doctor_names_what_others_can_read_and_the_command_that_closes_it(tmp_path: Path) -> None:
    data = tmp_path / "data"
    DataFolder(data).open_database().close()
    patient = Patient(data, load, SystemClock())
    assert list(privacy(patient)) == []
    data.chmod(0o750)
    (finding,) = privacy(patient)
    assert str(data) in finding.sentence
    assert finding.advice == f"chmod go-rwx {data}"
