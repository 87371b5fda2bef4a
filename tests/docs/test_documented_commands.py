"""Every command in the documentation works as it is written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from doc_commands import steps_of
from run_page import ARRIVED

ROOT = Path(__file__).parents[2]
STUDIES = ROOT / "docs" / "studies"
"""Written by `python -m studies` itself: each page names the command that made it, which takes minutes to hours."""
PAGES = [
    ROOT / "README.md", *(page for page in sorted((ROOT / "docs").rglob("*.md")) if STUDIES not in page.parents)
]  # fmt: skip
RUN = [page for page in PAGES if any(not step.reason for step in steps_of(page))]
_ALONE = ["unshare", "-r", "-n", "-m", "-p", "-f", "--kill-child=SIGKILL", "--mount-proc"]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.timeout(2400)
@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_the_commands_of_a_page_work_in_their_order(page: Path) -> None:
    if subprocess.run([*_ALONE, "ip", "link", "set", "lo", "up"], capture_output=True, check=False).returncode:
        pytest.skip("this system allows no namespaces (unshare -rnm)")
    with tempfile.TemporaryDirectory(prefix="gossamer-docs-", ignore_cleanup_errors=True) as folder:
        done = subprocess.run(
            [
                *_ALONE, "sh", "-c", 'ip link set lo up && "$0" "$@"; exit $?', sys.executable,
                str(Path(__file__).with_name("run_page.py")), str(page), folder,
            ],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=2340, check=False,
            env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    if page.name == "tutorial-news.md":
        arrived = re.search(rf"^{ARRIVED} .+$", done.stdout, re.MULTILINE)
        assert arrived, f"the alert of the tutorial names no new article:\n{done.stdout[-6000:]}"
        print(arrived[0])


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_stand_where_they_are_run(page: Path) -> None:
    """An indented `gossamer …` would be a command that no test runs."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"^(?: {4}|\t)\s*(?:\$ )?gossamer .*$", text, re.MULTILINE) == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_what_is_not_run_says_why(page: Path) -> None:
    assert all(len(step.reason) > 5 for step in steps_of(page) if step.reason)
