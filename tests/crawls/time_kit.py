"""Days that pass in no time: whatever is started meanwhile sees a clock that is ahead.

The crawler plans in days. Its processes read the wall clock once, at their start, so a test that comes back
"in a week" starts them with another wall clock; nothing in the data folder has to be changed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from crawl_kit import run
from inside import Done, gossamer

HOUR, DAY = 3600.0, 86_400.0
_FOLDER = Path(__file__).parent / "clock_ahead"
_true = time.time


@contextmanager
def later(seconds: float) -> Iterator[None]:
    """Commands inside, in this process or in their own, run so many seconds later."""
    path = os.pathsep.join(filter(None, (str(_FOLDER), os.environ.get("PYTHONPATH", ""))))
    environment = mock.patch.dict(os.environ, {"PYTHONPATH": path, "CLOCK_AHEAD": repr(seconds)})
    with environment, mock.patch.object(time, "time", lambda: _true() + seconds):
        yield


def crawl_later(data: Path, seconds: float) -> None:
    """Go on with a crawl so many seconds later, to its end."""
    with later(seconds):
        done = run("crawl", "--quiet", data=data)
    assert done.returncode == 0, done.stderr


def gossamer_later(*arguments: str, data: Path, seconds: float) -> Done:
    """One verb, so many seconds later."""
    with later(seconds):
        return gossamer(*arguments, data=data)
