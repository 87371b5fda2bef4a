"""Read by every Python process at its start: puts the clock ahead by what the environment says (`time_kit.later`)."""

from __future__ import annotations

import os
import time

_true = time.time
_ahead = float(os.environ.get("CLOCK_AHEAD", "0"))
time.time = lambda: _true() + _ahead
