"""Spark keeps the contract of engines."""

from __future__ import annotations

from pathlib import Path

import pytest
from namespace_kit import CONTRACT, run_alone

pytest.importorskip("pyspark", reason="pyspark is not installed: it is for those who have a Spark cluster")


@pytest.mark.timeout(1860)
def test_spark_keeps_the_contract_of_engines() -> None:
    contract = [str(CONTRACT / "test_engine.py"), "-p", "no:cacheprovider", "--durations=5"]
    # Two cores, and as many attempts for each task as on a cluster.
    master = {"GOSSAMER_TEST_ENGINE": "spark", "GOSSAMER_TEST_ENGINE_URL": "local[2,4]"}
    assert " passed" in run_alone("-m", "pytest", *contract, seconds=1800, **master)


@pytest.mark.timeout(1860)
def test_without_java_people_are_told(tmp_path: Path) -> None:
    lines = ["from gossamer.engine.spark import SparkEngine", "try: SparkEngine('local')"]
    script = "\n".join([*lines, "except Exception as error: print([error])"])
    told = run_alone("-c", script, seconds=1800, JAVA_HOME=str(tmp_path))
    assert "OperationError('Spark does not start: is Java" in told
