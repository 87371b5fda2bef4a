"""Segments in an object store, on an S3 server in a network namespace of its own."""

from __future__ import annotations

import pytest
from namespace_kit import HERE, run_alone

pytest.importorskip("obstore", reason="obstore is not installed")
pytest.importorskip("moto", reason="moto is not installed")


@pytest.mark.timeout(1860)
@pytest.mark.parametrize("file", ["s3_place.py", "s3_segments.py"])
def test_an_object_store_is_a_place_for_segments(file: str) -> None:
    arguments = ("-m", "pytest", "-p", "no:cacheprovider", "--durations=9", str(HERE / file))
    assert " passed" in run_alone(*arguments, seconds=1800)
