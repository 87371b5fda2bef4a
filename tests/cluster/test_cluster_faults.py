"""Crawls on PostgreSQL and an object store outlast the faults of both, and of their workers."""

from __future__ import annotations

import pytest
from machines_kit import run_as_user
from namespace_kit import HERE

from kit.postgres import has_postgres

pytest.importorskip("obstore", reason="obstore is not installed")
pytest.importorskip("moto", reason="moto is not installed")


@pytest.mark.timeout(3060)
@pytest.mark.skipif(not has_postgres(), reason="PostgreSQL is not installed")
def test_crawls_outlast_database_store_and_workers() -> None:
    arguments = ("-m", "pytest", "-p", "no:cacheprovider", "--durations=9", str(HERE / "cluster_faults.py"))
    output = run_as_user(*arguments, seconds=3000)
    assert " passed" in output
    assert "skipped" not in output
