"""What several contract suites ask for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from frontier_kit import DIALECTS


@pytest.fixture(params=["sqlite", "postgres"])
def dialect(request: pytest.FixtureRequest) -> Iterator[str]:
    """A test that asks for this runs on both databases."""
    DIALECTS.append(request.param)
    yield request.param
    DIALECTS.pop()
