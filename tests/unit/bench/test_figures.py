"""The page of figures: a row for every script, goals judged as they should be, README equal to it."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

sys.path.append(str(Path(__file__).parents[3] / "bench"))
import figures
from _figures import Figure, Measured, conclude, doubts, goal_of, shown
from figures import HEADLINES, PAGE, README, SCRIPTS, best, keep, load, page, verdict, with_headlines

ROOT = Path(__file__).parents[3]


def measured(quick: bool = False, **figure: Any) -> Measured:
    shown_one = Figure(**{"name": "speed", "value": 3.0, **figure})
    return Measured("crawl", "2026-01-02", quick, 0.0, [shown_one], [], None)


# -- the pages of this repository -----------------------------------------------------------------


def test_every_script_of_the_folder_has_a_row() -> None:
    scripts = {path.stem for path in (ROOT / "bench").glob("*.py") if not path.name.startswith("_")} - {"figures"}
    assert set(SCRIPTS) == scripts
    text = PAGE.read_text(encoding="utf-8")
    for script in SCRIPTS:
        section = text.partition(f"\n## {script}.py\n")[2].partition("\n## ")[0]
        rows = [line for line in section.splitlines() if line.startswith("| ")]
        assert len(rows) > 1, script


def test_the_readme_of_the_benchmarks_tells_what_each_script_asks() -> None:
    text = (ROOT / "bench" / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)\.py` \|", text, re.MULTILINE)) == set(SCRIPTS)


def test_page_and_readme_are_what_the_last_runs_say() -> None:
    kept, readme = load(), README.read_text(encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page(kept), "run: python bench/figures.py"
    assert readme == with_headlines(readme, kept), "run: python bench/figures.py"


def test_every_headline_of_readme_is_a_figure_of_the_page() -> None:
    kept = load()
    for script, name in HEADLINES:
        found = best(kept, script)
        assert found and name in [one.name for one in found.figures], (script, name)


def test_what_is_kept_is_possible() -> None:
    assert [doubt for runs in load().values() for found in runs.values() for doubt in doubts(found)] == []


# -- how they are written -------------------------------------------------------------------------


def test_a_full_run_counts_before_a_quick_one_and_a_later_one_before_an_earlier_one() -> None:
    kept: figures.Kept = {}
    keep(kept, measured(quick=True, value=1.0))
    assert best(kept, "crawl").figures[0].value == 1.0
    keep(kept, measured(value=2.0))
    keep(kept, measured(quick=True, value=9.0))
    assert best(kept, "crawl").figures[0].value == 2.0
    keep(kept, measured(value=4.0))
    assert "| speed | 4 | – |  |  | 2026-01-02, full |" in page(kept)


@pytest.mark.parametrize(
    ("figure", "judged"),
    [
        ({"goal": 3.0}, "met"),
        ({"goal": 3.1}, "**missed**"),
        ({"goal": 3.1, "at_most": True}, "met"),
        ({"goal": 2.9, "at_most": True}, "**missed**"),
        ({}, ""),
    ],
)
def test_a_goal_is_met_or_missed(figure: dict[str, Any], judged: str) -> None:
    found = measured(**figure)
    assert verdict(found.figures[0], found) == judged


def test_a_quick_run_is_not_judged() -> None:
    found = measured(quick=True, goal=100.0)
    assert verdict(found.figures[0], found) == "not judged"


def test_what_may_never_happen_is_judged_in_a_quick_run_too() -> None:
    found = measured(quick=True, value=1.0, goal=0, at_most=True)
    assert verdict(found.figures[0], found) == "**missed**"


def test_a_script_that_was_never_run_has_a_row_that_says_so() -> None:
    assert page({}).count("| not measured yet |") == len(SCRIPTS)


def test_a_goal_of_nothing_is_a_goal() -> None:
    assert goal_of(Figure("rude", 0, goal=0, at_most=True)) == "≤ 0"


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (438_389.4, "438,389"), (12.345, "12.3"), (0.00123, "0.00123"), (150.0, "150")]
)
def test_three_digits_are_shown(value: float, text: str) -> None:
    assert shown(value) == text


# -- how runs are judged --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "figure", [{"value": float("nan")}, {"value": float("inf")}, {"value": 1.2, "most": 1}, {"value": -1.0},
               {"beside": {"other": float("nan")}}]
)  # fmt: skip
def test_a_figure_that_cannot_be_is_a_fault_of_the_benchmark(
    figure: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert len(list(doubts(measured(**figure)))) == 1
    monkeypatch.setattr(sys, "argv", ["bench/crawl.py"])
    options = argparse.Namespace(quick=True, json=tmp_path / "out.json")
    with pytest.raises(SystemExit):
        conclude(options, measured(**figure).figures)


def test_a_missed_goal_is_no_fault_and_a_problem_is_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "argv", ["bench/crawl.py"])
    options = argparse.Namespace(quick=True, json=tmp_path / "out.json")
    conclude(options, [Figure("speed", 1.0, goal=2.0)], {"pages": 3})
    found = json.loads(options.json.read_bytes())
    assert found["script"] == "crawl" and found["details"] == {"pages": 3}
    with pytest.raises(SystemExit):
        conclude(options, [Figure("speed", 1.0)], problems=["a page is missing"])
    with pytest.raises(SystemExit):
        conclude(options, [Figure("speed", 1.0)], {"mean": [float("nan")]})
    with pytest.raises(SystemExit):
        conclude(options, [])


def is_running(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] not in "ZX"


def test_a_script_that_fails_or_hangs_leaves_what_was_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    monkeypatch.setattr(figures, "RESULTS", tmp_path / "results")
    (tmp_path / "bench" / "crawl.py").write_text("raise SystemExit('no site is left')")
    assert figures.run("crawl", quick=True) is None
    child = "import os, time; open('child', 'w').write(str(os.getpid())); time.sleep(60)"
    hangs = (
        f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {child!r}], start_new_session=True).wait()"
    )
    (tmp_path / "bench" / "crawl.py").write_text(hangs)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(figures, "QUICK_LIMIT", 5)
    assert figures.run("crawl", quick=True) is None
    deadline = time.monotonic() + 30
    while is_running(int((tmp_path / "child").read_text())):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    done = msgspec.json.encode(measured(quick=True)).decode()
    writes = f"import sys; open(sys.argv[2], 'w').write({done!r}); assert sys.argv[3] == '--quick'"
    (tmp_path / "bench" / "crawl.py").write_text(writes)
    monkeypatch.setattr(figures, "QUICK_LIMIT", 60)
    assert figures.run("crawl", quick=True) == measured(quick=True)


def test_the_command_knows_its_scripts() -> None:
    command = [sys.executable, str(ROOT / "bench" / "figures.py"), "--run", "--only", "dreams"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "no script is called dreams" in done.stderr


def test_what_goes_by_the_clock_is_not_told_of_a_busy_machine() -> None:
    kept: figures.Kept = {}
    keep(kept, msgspec.structs.replace(measured(by_clock=True, goal=1.0), others=1.5))
    assert "| speed | not told | ≥ 1 |  |  | 2026-01-02, full, busy |" in page(kept)
    keep(kept, measured(by_clock=True, goal=1.0))
    assert "| speed | 3 | ≥ 1 | met |  | 2026-01-02, full |" in page(kept)
