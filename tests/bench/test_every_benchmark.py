"""Every script of bench/ measures: its `--quick` run ends, and its figures are finite and possible numbers.

The data are made up, so the figures say nothing of the product's quality; a goal that is missed here is no failure.
"""

from __future__ import annotations

import math
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from made_up_data import write_documentation, write_shared

sys.path.append(str(Path(__file__).parents[2] / "bench"))
from _figures import Measured, doubts
from figures import SCRIPTS

pytestmark = pytest.mark.long

BENCH = Path(__file__).parents[2] / "bench"
NEED_NOTHING = set(
    "copies feeds frontier_cost frontier_growth frontier_postgres house instructions polite rendering scale".split()
)
"""Scripts that make up what they measure with."""
LONGEST = 600


def environment(folder: Path) -> dict[str, str]:
    own = {"GOSSAMER_SHARED": "shared", "GOSSAMER_DEBIAN": "share", "XDG_CACHE_HOME": "cache"}
    return os.environ | {name: str(folder / place) for name, place in own.items()}


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("benchmarks")
    write_shared(folder / "shared")
    write_documentation(folder / "share")
    return environment(folder)


def run(script: str, environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCH / f"{script}.py"), "--quick", *words]
    if 'add("--port"' in (BENCH / f"{script}.py").read_text(encoding="utf-8"):
        command += ["--port", str(free_port())]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=LONGEST)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_quick_run_ends_with_figures_that_are_possible(script: str, made_up: dict[str, str], tmp_path: Path) -> None:
    target = tmp_path / "figures.json"
    done = run(script, made_up, "--json", str(target))
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    found = msgspec.json.decode(target.read_bytes(), type=Measured)
    assert found.script == script and found.quick
    assert found.figures and list(doubts(found)) == []
    assert all(math.isfinite(number) for one in found.figures for number in (one.value, *one.beside.values()))
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found.date)


@pytest.mark.parametrize("script", [script for script in SCRIPTS if script not in NEED_NOTHING])
def test_a_script_without_anything_to_measure_says_so_and_fails(script: str, tmp_path: Path) -> None:
    target = tmp_path / "figures.json"
    done = run(script, environment(tmp_path), "--json", str(target))
    assert done.returncode != 0 and not target.exists()
    assert "Traceback" not in done.stderr and done.stderr.strip()
