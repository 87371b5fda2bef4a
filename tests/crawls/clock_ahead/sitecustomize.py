"""Read by every Python process at its start: puts the clock ahead by what the environment says (`time_kit.later`), or
what a file says that the environment names (`test_clock_jumps.py`)."""

from __future__ import annotations

import os
import time
from pathlib import Path

_true = time.time
_file = os.environ.get("CLOCK_AHEAD_FILE", "")
_ahead = float(Path(_file).read_text() if _file else os.environ.get("CLOCK_AHEAD", "0"))
time.time = lambda: _true() + _ahead
