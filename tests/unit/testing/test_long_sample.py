"""The gate runs the long tests that a change touches, and a bounded part of the others."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from long_sample import UNTIL, in_order, nearness

ROOT = Path(__file__).parents[3]

FAULTS = ROOT / "tests/faults/test_kill_loop.py"
PAGES = ROOT / "tests/docs/test_documented_commands.py"


class Item(NamedTuple):
    """What is looked at of a test when it is ordered."""

    path: Path
    nodeid: str


def ordered(*tests: tuple[Path, str], changed: set[str]) -> list[str]:
    """The tests in the order in which a sample runs them."""
    items = [Item(path, f"{path.name}::{name}") for path, name in tests]
    return [item.nodeid for item in in_order(items, changed, "commit")]


def test_a_test_is_near_to_itself_to_what_it_imports_and_to_the_kits_it_imports() -> None:
    assert nearness(FAULTS, {"tests/faults/test_kill_loop.py"}) == 0
    assert nearness(FAULTS, {"tests/kit/postgres.py"}) == 1
    assert nearness(FAULTS, {"tests/crawls/crawl_kit.py"}) == 1
    assert nearness(FAULTS, {"src/gossamer/testing/__init__.py"}) == 1
    assert nearness(FAULTS, {"src/gossamer/search/query/language.py", "README.md"}) == 2


def test_what_a_change_touches_comes_first_and_files_stay_together() -> None:
    both = [(path, name) for name in ("test_a", "test_b") for path in (PAGES, FAULTS)]
    found = ordered(*both, changed={"tests/faults/test_kill_loop.py"})
    assert [name.split("::")[0] for name in found] == [FAULTS.name] * 2 + [PAGES.name] * 2


def test_a_changed_page_of_the_documentation_comes_before_all() -> None:
    tests = [(FAULTS, "test_a"), (PAGES, "test_page[docs/run.md]"), (PAGES, "test_page[docs/serve.md]")]
    found = ordered(*tests, changed={"docs/serve.md", "tests/faults/test_kill_loop.py"})
    assert found[0] == f"{PAGES.name}::test_page[docs/serve.md]"


def test_no_long_test_begins_after_the_time_of_the_sample() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-m", "long", "-rs", "tests/faults/test_clock_jumps.py"],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, UNTIL: str(time.time() - 1)},
    )  # fmt: skip
    assert done.returncode == 0
    assert "left to make test-long" in done.stdout
    assert " passed" not in done.stdout
