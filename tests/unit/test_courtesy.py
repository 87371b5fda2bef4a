"""Who gives way does so to all processes of the machine, also where the kernel weighs sessions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

AUTOGROUP = Path("/proc/self/autogroup")
CODE = """
import os
from pathlib import Path
from gossamer import courtesy
courtesy._PATIENCE = 120.0  # others may wish the same, and the kernel hears one in a tenth of a second
courtesy.give_way(7)
group = Path("/proc/self/autogroup")
print(os.nice(0), *(group.read_text().split()[-1:] if group.exists() else []))
"""


def told(own_session: bool) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True, start_new_session=own_session
    )
    return done.stdout.split()


@pytest.mark.skipif(not AUTOGROUP.exists(), reason="this kernel does not weigh sessions")
def test_a_process_with_a_session_of_its_own_gives_way_with_all_of_it() -> None:
    own = str(min(19, os.nice(0) + 7))
    assert told(own_session=True) == [own, own]


def test_the_session_of_somebody_else_is_left_alone() -> None:
    before = AUTOGROUP.read_text().split()[-1:] if AUTOGROUP.exists() else []
    assert told(own_session=False)[1:] == before
