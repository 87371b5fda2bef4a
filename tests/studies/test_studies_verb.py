"""`python -m studies` as it is typed: one study, all of them, one that fails among them."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib.font_manager
import pytest

from gossamer.lab.webs.web import load_web
from studies.__main__ import main
from studies.study import STUDIES

ROOT = Path(__file__).parents[2]
STUDY = """
from gossamer.errors import UsageError
from gossamer.lab.tables import Table
from studies.reports.report import Figure, Goal, Panel, Report, Series

def run(options):
    options.tell("looking [closely]")
    found = f"quick {options.quick}, seed {options.seed}, webs {options.webs}, cache {options.cache}"
    return Report(
        "NAME", "A study", "What?", "Little.", found, "Made up.", "They do not.",
        tables=[Table("one", "One", ("n",), [(options.seed,)])],
        figures=[Figure("line", "Line", [Panel("x", "y", [Series("a", [1, 2], [1, 2])])])],
        goals=[Goal("more", "enough", True), Goal("all", "not [all]", False)],
    )
"""
WITHOUT_DATA = "from gossamer.errors import UsageError\ndef run(options):\n    raise UsageError('there are no sites')\n"
CRASHING = "import os, signal\ndef run(options):\n    os.kill(os.getpid(), signal.SIGKILL)\n"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project" / "here"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("GOSSAMER_WEBS", raising=False)
    # A process without a list of fonts makes one, and says so on standard error where that takes five seconds.
    monkeypatch.setenv("MPLCONFIGDIR", matplotlib.get_cachedir())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    return folder


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """The study `useful` is one that takes no time."""
    module = ModuleType("studies.useful")
    exec(STUDY.replace("NAME", "useful"), module.__dict__)
    monkeypatch.setitem(sys.modules, module.__name__, module)


def stand_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **sources: str) -> None:
    """Studies of other processes are these."""
    folder = tmp_path / "stand-ins"
    folder.mkdir()
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source.replace("NAME", name))
    code = f"import studies\nstudies.__path__.insert(0, {str(folder)!r})\n"
    (folder / "sitecustomize.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)


def said(capfd: pytest.CaptureFixture[str]) -> tuple[str, str]:
    out, err = capfd.readouterr()
    return out, err


def report_of(folder: Path, name: str) -> Any:
    return json.loads((folder / name / "report.json").read_text())


# -- one study --------------------------------------------------------------------------------------


def test_a_study_writes_its_page_and_the_index_and_prints_its_goals(
    elsewhere: Path, tiny: None, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["useful"]) == 0
    out, err = said(capfd)
    assert "quick False, seed 1, webs None" in out and "not [all]" in out and "missed" in out
    assert "lab-report/useful/index.html" in out and "useful: looking [closely]" in err
    assert (elsewhere / "lab-report" / "useful" / "line.png").exists()
    assert "A study" in (elsewhere / "lab-report" / "README.md").read_text()


def test_the_page_names_the_command_as_it_was_typed(elsewhere: Path, tiny: None) -> None:
    (elsewhere / "my webs").mkdir()
    words = ["--quick", "--seed", "7", "--webs", "my webs", "--cache", "kept", "--out", "pages"]
    assert main(["useful", *words]) == 0
    stored = report_of(elsewhere / "pages", "useful")
    assert stored["run"]["command"] == f"python -m studies useful {shlex.join(words)}"
    assert stored["run"]["seed"] == 7 and stored["run"]["quick"] is True
    assert stored["report"]["ours"] == "quick True, seed 7, webs my webs, cache kept"


def test_json_is_the_report_and_nothing_else(tiny: None, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["useful", "--json", "--seed", "4"]) == 0
    out, err = said(capfd)
    found = json.loads(out)
    assert found["report"]["tables"][0]["rows"] == [[4]] and err == ""
    assert found["report"]["figures"][0]["panels"][0]["series"][0]["y"] == [1, 2]


def test_webs_come_from_the_option_else_the_variable_else_the_folder_beside_else_nowhere(
    elsewhere: Path, tiny: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def webs(*words: str) -> str:
        assert main(["useful", "--json", *words]) == 0
        ours: str = report_of(elsewhere / "lab-report", "useful")["report"]["ours"]
        return ours.split("webs ")[1].split(", cache")[0]

    assert webs() == "None"
    (elsewhere.parent / "shared" / "data").mkdir(parents=True)
    assert webs() == "../shared/data"
    (elsewhere / "named").mkdir()
    monkeypatch.setenv("GOSSAMER_WEBS", "named")
    assert webs() == "named"
    (elsewhere / "given").mkdir()
    assert webs("--webs", "given") == "given"


def test_webs_are_kept_in_the_users_cache(elsewhere: Path, tiny: None, tmp_path: Path) -> None:
    assert main(["useful", "--json"]) == 0
    ours = report_of(elsewhere / "lab-report", "useful")["report"]["ours"]
    assert ours.endswith(f"cache {tmp_path}/caches/gossamer-lab")


def test_webs_that_are_no_folder_are_wrong_usage(
    elsewhere: Path, tiny: None, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["useful", "--webs", "none"]) == 2
    assert main(["all", "--webs", "none"]) == 2
    assert said(capfd)[1].count("none is no folder") == 2 and not list(elsewhere.iterdir())


def test_a_folder_that_takes_no_pages_is_told_before_anything_is_run(
    tiny: None, elsewhere: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / "file").touch()
    for words in (["useful"], ["all", "--only", "useful"]):
        assert main([*words, "--out", "file"]) == 2
        _, err = said(capfd)
        assert "cannot write into file" in err and "looking" not in err


def test_without_matplotlib_nothing_is_run(
    elsewhere: Path, tiny: None, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["useful"]) == main(["all"]) == 2
    err = said(capfd)[1]
    assert err.count("pip install matplotlib") == 2 and "looking" not in err


# -- all studies ------------------------------------------------------------------------------------


def test_a_study_that_fails_or_crashes_does_not_stop_the_others(
    elsewhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    stand_ins(tmp_path, monkeypatch, useful=WITHOUT_DATA, merge=CRASHING, early=STUDY)
    assert main(["all", "--quick", "--only", "early,useful,merge", "--out", "pages"]) == 1
    out, err = said(capfd)
    assert "there are no sites" in err and "merge failed (killed by signal 9)" in err
    assert "2 of 3 studies failed, see above: useful, merge" in err
    assert "pages/index.html" in out and "merge" not in out
    assert report_of(elsewhere / "pages", "early")["run"]["command"] == "python -m studies early --quick --out pages"
    index = (elsewhere / "pages" / "README.md").read_text()
    assert "early/README.md" in index and "merge/README.md" not in index


def test_all_prints_json_for_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    stand_ins(tmp_path, monkeypatch, growth=STUDY)
    assert main(["all", "--only", "growth", "--seed", "5", "--json"]) == 0
    out, err = said(capfd)
    found = json.loads(out)
    assert [one["report"]["name"] for one in found["studies"]] == ["growth"] and found["failed"] == []
    assert found["studies"][0]["run"]["seed"] == 5 and err == ""


def test_a_study_nobody_knows_is_wrong_usage(elsewhere: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["all", "--only", "useful,dreams"]) == 2
    assert main(["dreams"]) == 2
    assert "'dreams'" in said(capfd)[1] and not list(elsewhere.iterdir())


# -- around them ------------------------------------------------------------------------------------


def test_every_study_is_listed_and_has_a_command_with_its_sentence(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    listed = said(capfd)[0].splitlines()
    assert [line.split(maxsplit=1) for line in listed] == [list(pair) for pair in STUDIES.items()]
    for name, sentence in STUDIES.items():
        assert main([name, "--help"]) == 0
        assert sentence in " ".join(said(capfd)[0].split())


def test_pages_are_made_again_without_running_anything(
    elsewhere: Path, tiny: None, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["useful"]) == 0
    page = elsewhere / "lab-report" / "useful" / "index.html"
    before = page.read_bytes()
    page.write_text("")
    said(capfd)
    assert main(["redraw"]) == 0
    assert page.read_bytes() == before and "looking" not in said(capfd)[1]
    assert main(["redraw", "elsewhere"]) == 2


def test_a_web_is_made_up(elsewhere: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["make-up", "--sites", "1", "--days", "0.1", "-o", "day.web.parquet"]) == 0
    assert len(load_web(elsewhere / "day.web.parquet")) > 20
    assert main(["make-up", "--sites", "0"]) == 2
    assert "one site at least" in said(capfd)[1]


def test_the_documentation_names_every_study_and_no_other() -> None:
    page = (ROOT / "studies" / "README.md").read_text(encoding="utf-8")
    table = page.split("| study |")[1].split("\n\n")[0]
    assert re.findall(r"^\| `([a-z]+)` \|", table, re.MULTILINE) == list(STUDIES)
