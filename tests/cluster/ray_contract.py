"""Puts the contract of engines to Ray: a cluster of one machine with three cores, and pytest against it."""

from __future__ import annotations

import os
import sys

import pytest
from namespace_kit import CONTRACT
from ray_kit import ADDRESS, cluster

if __name__ == "__main__":
    with cluster(machines_die=False) as machines:
        machines.add(cores=3)
        os.environ.update(GOSSAMER_TEST_ENGINE="ray", GOSSAMER_TEST_ENGINE_URL=ADDRESS)
        files = [str(CONTRACT / name) for name in ("test_engine.py", "test_engine_close.py")]
        sys.exit(pytest.main([*files, "-p", "no:cacheprovider", "--durations=5"]))
