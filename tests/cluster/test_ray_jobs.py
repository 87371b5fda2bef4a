"""Jobs give the same results on Ray as in one process."""

from __future__ import annotations

import pytest
from namespace_kit import HERE, run_alone

pytest.importorskip("ray", reason="Ray is not installed")


@pytest.mark.timeout(1860)
def test_jobs_give_the_same_results_on_ray() -> None:
    assert " passed" in run_alone(str(HERE / "ray_jobs.py"), seconds=1800)
