"""A machine of the cluster dies in the middle of a job."""

from __future__ import annotations

from pathlib import Path

import pytest
from namespace_kit import HERE, run_alone

pytest.importorskip("ray", reason="Ray is not installed")


@pytest.mark.timeout(1860)
def test_a_job_on_three_machines_one_killed_in_the_middle_has_the_same_result(tmp_path: Path) -> None:
    assert "same result" in run_alone(str(HERE / "ray_job.py"), str(tmp_path), seconds=1800)
