"""Settings for all tests, and which of them `make test` leaves to `make test-long`."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# The same examples each time: a change is judged by what it changes. `make fuzz` looks for new ones.
settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")

HERE = Path(__file__).parent
LONG = [
    HERE / name
    for name in (
        "browser",
        "cluster",
        "crawls/test_alerts_crawl.py",
        "crawls/test_backup.py",
        "crawls/test_browser_escape.py",
        "crawls/test_categories_verb.py",
        "crawls/test_config_verb.py",
        "crawls/test_explain.py",
        "crawls/test_feed_crawl.py",
        "crawls/test_filter_crawl.py",
        "crawls/test_hostile_crawl.py",
        "crawls/test_javascript_crawl.py",
        "crawls/test_lab_replay_verb.py",
        "crawls/test_mirror_crawl.py",
        "crawls/test_older_folders.py",
        "crawls/test_partition_verb.py",
        "crawls/test_pause_crawl.py",
        "crawls/test_qrank_verb.py",
        "crawls/test_rank_verb.py",
        "crawls/test_recorder.py",
        "crawls/test_revisit_crawl.py",
        "crawls/test_rules_verb.py",
        "crawls/test_strategy_crawl.py",
        "crawls/test_takedown.py",
        "crawls/test_thinning.py",
        "crawls/test_unattended.py",
        "crawls/test_useful_first.py",
        "docs/test_documented_commands.py",
        "faults/test_bad_input.py",
        "faults/test_clock_jumps.py",
        "faults/test_frozen_worker.py",
        "faults/test_index_kills.py",
        "faults/test_kill_loop.py",
        "faults/test_postgres_faults.py",
        "faults/test_same_text_race.py",
        "faults/test_ssrf_suite.py",
    )
]
"""Chromium, clusters, and what takes more than 20 seconds of two cores. Verbs, politeness and one loop of kills take
as long and stay in `make test`."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is long."""
    missing = [str(path) for path in LONG if not path.exists()]
    if missing:
        raise pytest.UsageError(f"tests/conftest.py lists what is not there: {', '.join(missing)}")
    for item in items:
        if any(item.path.is_relative_to(path) for path in LONG):
            item.add_marker(pytest.mark.long)
