"""Ray keeps the contract of engines, and says clearly what is wrong with a cluster."""

from __future__ import annotations

import pytest
from namespace_kit import HERE, run_alone

pytest.importorskip("ray", reason="Ray is not installed")


@pytest.mark.timeout(1860)
def test_ray_keeps_the_contract_of_engines() -> None:
    assert " passed" in run_alone(str(HERE / "ray_contract.py"), seconds=1800)


@pytest.mark.timeout(1860)
def test_people_are_told_what_is_wrong_with_a_cluster() -> None:
    tests = str(HERE / "ray_errors.py")
    assert " passed" in run_alone("-m", "pytest", "-p", "no:cacheprovider", "--durations=9", tests, seconds=1800)
