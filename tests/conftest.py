"""Settings for all tests."""

from __future__ import annotations

from hypothesis import settings

# The same examples each time: a change is judged by what it changes. `make fuzz` looks for new ones.
settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")
