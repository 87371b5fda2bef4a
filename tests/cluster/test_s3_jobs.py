"""Jobs on an object store, on an S3 server in a network namespace of its own."""

from __future__ import annotations

import pytest
from namespace_kit import HERE, run_alone

pytest.importorskip("obstore", reason="obstore is not installed")
pytest.importorskip("moto", reason="moto is not installed")


@pytest.mark.timeout(1860)
def test_jobs_work_where_everything_lies_in_an_object_store() -> None:
    arguments = ("-m", "pytest", "-p", "no:cacheprovider", "--durations=5", str(HERE / "s3_jobs.py"))
    assert " passed" in run_alone(*arguments, seconds=1800)
