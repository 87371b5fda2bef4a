"""Puts the contract of jobs to Ray: a cluster of one machine with two cores, and pytest against it."""

from __future__ import annotations

import os
import sys

import pytest
from namespace_kit import CONTRACT
from ray_kit import ADDRESS, cluster

if __name__ == "__main__":
    with cluster(machines_die=False) as machines:
        machines.add(cores=2)
        os.environ.update(GOSSAMER_TEST_ENGINE="ray", GOSSAMER_TEST_ENGINE_URL=ADDRESS)
        chosen = "every_engine or built_in_shards"
        sys.exit(pytest.main([str(CONTRACT / "test_jobs.py"), "-k", chosen, "-p", "no:cacheprovider", "--durations=5"]))
