"""No change makes a page dearer by accident: calls, copies and instructions of a page stay below ceilings.

The scripts of bench/ count on made-up pages, so the figures do not depend on how fast the machine is, or how busy.
`ceilings.json` holds what they counted last. A change that must cost more raises them, and its message says why; a
change that costs less lowers them, so that nobody spends again what it has saved:

    export FILE=tests/unit/bench/ceilings.json
    python bench/instructions.py --made-up --pages 2 --runs 1 --by calls --ceilings $FILE
    GOSSAMER_PURE=1 python bench/instructions.py --made-up --pages 2 --runs 1 --by calls --ceilings $FILE
    python bench/instructions.py --made-up --pages 2 --runs 1 --by valgrind --ceilings $FILE
    python bench/copies.py --quick --ceilings $FILE

Calls (of functions in Python, and from Python in C) are counted everywhere; they do not see what compiled functions do
inside, which is why the twins in Python are counted, too. Copies need a C compiler. Instructions need valgrind as
well; they differ by a few hundredths of a per cent from run to run, and by more with other builds of Python and its
libraries.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gossamer import compiled
from gossamer.crawl import reading  # asks for the compiled modules

BENCH = Path(__file__).parents[3] / "bench"
CEILINGS = json.loads(Path(__file__).with_name("ceilings.json").read_text())
CALLS, COPIES, INSTRUCTIONS = 1.01, 1.06, 1.1
"""Above the ceiling by this factor is too much. Calls change with the libraries only: one more for each link is 2 %.
Copies change by up to 3 % from run to run, because a block may grow where it is or move; one more of a body is 14 %."""
ENVIRONMENTS = {"compiled": {}, "pure": {compiled.SWITCH: "1"}}

assert reading
needs_compiler = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
needs_compiled = pytest.mark.skipif(not compiled.running(), reason="nothing is compiled here")


def counted(what: str, tmp_path: Path, script: str, *words: str) -> dict[str, float]:
    """What a script counts now, under the names of its ceilings."""
    target = tmp_path / "counted.json"
    environment = {**os.environ, **ENVIRONMENTS[what.rpartition(" ")[2]]}
    command = [sys.executable, str(BENCH / script), "--ceilings", str(target), *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return json.loads(target.read_text())[what]


def above(what: str, found: dict[str, float], factor: float) -> list[str]:
    """What has grown, in words."""
    ceilings = CEILINGS[what]
    assert found.keys() == ceilings.keys(), "the parts are others than those of the ceilings: write these anew"
    return [
        f"{name}: {value:,.1f}, and the ceiling is {ceilings[name]:,.1f}"
        for name, value in found.items()
        if value > ceilings[name] * factor
    ]


@pytest.mark.parametrize("build", [pytest.param("compiled", marks=needs_compiled), "pure"])
def test_a_page_takes_no_more_calls_than_before(build: str, tmp_path: Path) -> None:
    what = f"calls, {build}"
    found = counted(what, tmp_path, "instructions.py", *"--made-up --pages 2 --runs 1 --by calls".split())
    grown = above(what, found, CALLS)
    assert not grown, "; ".join(grown)


@needs_compiler
@needs_compiled
def test_a_page_is_copied_no_more_often_than_before(tmp_path: Path) -> None:
    what = "copies, compiled"
    grown = above(what, counted(what, tmp_path, "copies.py", "--quick"), COPIES)
    assert not grown, "; ".join(grown)


@pytest.mark.long
@needs_compiler
@needs_compiled
@pytest.mark.skipif(not shutil.which("valgrind"), reason="there is no valgrind")
def test_a_page_takes_no_more_instructions_than_before(tmp_path: Path) -> None:
    what = "instructions, compiled"
    found = counted(what, tmp_path, "instructions.py", *"--made-up --pages 2 --runs 1 --by valgrind".split())
    grown = above(what, found, INSTRUCTIONS)
    assert not grown, "; ".join(grown)


def test_growth_is_told_by_name_and_size() -> None:
    what = "calls, pure"
    grown = {name: ceiling * 1.05 for name, ceiling in CEILINGS[what].items()}
    assert len(above(what, grown, CALLS)) == len(CEILINGS[what])
    assert above(what, CEILINGS[what], CALLS) == []
