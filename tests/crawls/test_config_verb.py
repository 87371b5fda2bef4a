"""`gossamer config`: what is in force, and one file that carries it to another folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from crawl_kit import crawl, run

from gossamer.testing import FakeWeb


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that somebody has made decisions about."""
    web, folder = FakeWeb(), tmp_path_factory.mktemp("config") / "data"
    site = web.site("config.test", pages=6, links=3)
    with web:
        crawl(web, folder, [site.url("/")], serve={"title": "Ours"}, alerts={"secret": "hush-hush"})
    for command in (
        ["pause", site.host + f":{web.port}", "--reason", "they asked"],
        ["remove", site.generated[-1]],
    ):
        done = run(*command, data=folder)
        assert done.returncode == 0, done.stderr
    done = run("desk", "publish", "-", data=folder, stdin='[[synonym]]\nwords = ["bike", "bicycle"]\n')
    assert done.returncode == 0, done.stderr
    return folder


def test_what_is_in_force_is_shown_with_its_origin_and_without_secrets(data: Path) -> None:
    shown = run("config", "show", data=data).stdout
    assert 'serve.title = "Ours"  # gossamer.toml' in shown
    assert "hush-hush" not in shown and "crawl.parsers" not in shown
    assert "crawl.parsers = 2  # default" in run("config", "show", "crawl.parsers", data=data).stdout


def test_a_file_carries_everything_to_another_folder(data: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "crawl.toml", tmp_path / "other"
    assert run("config", "export", "-o", str(file), "--secrets", data=data).returncode == 0
    would = run("config", "import", str(file), "--dry-run", data=other)
    assert would.returncode == 0 and "+ removals" in would.stdout and not (other / "gossamer.toml").exists()
    done = run("config", "import", str(file), data=other)
    assert done.returncode == 0, done.stderr
    again = run("config", "export", "--secrets", data=other)
    assert again.stdout == file.read_text()
    assert "they asked" in again.stdout
    assert "+ desk synonym bike = bicycle" in would.stdout
    assert '"bicycle"' in run("desk", "show", data=other).stdout
    none = json.loads(run("config", "import", str(file), "--dry-run", "--replace", "--json", data=other).stdout)
    assert none["changes"] == []


def test_without_secrets_the_other_folder_keeps_its_own(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "crawl.json"
    run("config", "export", "-o", str(file), data=data)
    assert "hush-hush" not in file.read_text()
    other = tmp_path / "other"
    other.mkdir()
    (other / "gossamer.toml").write_text('[alerts]\nsecret = "own-secret"\n')
    done = run("config", "import", str(file), "--replace", data=other)
    assert done.returncode == 0, done.stderr
    assert "own-secret" in (other / "gossamer.toml").read_text()


def test_wrong_settings_and_plans_are_told(tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text('[schedules.x]\nrun = "rank --nonsense"\nevery = "1h"\n')
    done = run("config", "check", data=tmp_path)
    assert done.returncode == 2 and "[schedules.x]" in done.stderr
    (tmp_path / "gossamer.toml").write_text('[schedules.x]\nrun = "rank"\nevery = "1h"\n')
    assert run("config", "check", data=tmp_path).returncode == 0
    assert run("config", "import", str(tmp_path / "nothing.toml"), data=tmp_path).returncode == 2
