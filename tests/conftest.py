"""Settings for all tests, and which of them `make test` leaves to `make test-long`."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from long_sample import UNTIL, changed_files, in_order

# The same examples each time: a change is judged by what it changes. `make fuzz` looks for new ones. A slow machine
# is no failure, and a fixture that serves all examples is meant to.
settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("repeatable")

HERE = Path(__file__).parent
LONG = [HERE / name for name in ("browser", "cluster", "crawls", "faults", "docs/test_documented_commands.py")]
"""Chromium, many machines, whole crawls, kills; elsewhere tests are marked one by one."""
SHORT = [
    HERE / name
    for name in (
        "crawls/test_index_follows.py",
        "crawls/test_politeness.py",
        "crawls/test_verbs.py",
        "faults/test_order_kills.py",
    )
]
"""What of that is run at each change all the same: the verbs, politeness, and a loop of kills."""

FIRST = [HERE / name for name in ("docs/test_documented_commands.py", "faults/test_kill_loop.py")]
"""The longest of all, on one core each: nobody should wait for them in the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is long, and begin with the longest."""
    missing = [str(path) for path in LONG + SHORT + FIRST if not path.exists()]
    if missing:
        raise pytest.UsageError(f"tests/conftest.py names what is not there: {', '.join(missing)}")
    for item in items:
        if any(item.path.is_relative_to(path) for path in LONG) and item.path not in SHORT:
            item.add_marker(pytest.mark.long)
    if os.environ.get(UNTIL):
        items[:] = in_order(items, *changed_files())
    else:
        items.sort(key=lambda item: item.path not in FIRST)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A sample of the long tests ends in time: what has not begun by then is left to `make test-long`."""
    if item.get_closest_marker("long") and time.time() > float(os.environ.get(UNTIL) or "inf"):
        pytest.skip("the time of this sample is up: left to make test-long")
