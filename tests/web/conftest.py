"""One server for the tests that only read."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from web_kit import MemoryService, MemoryStories, client


@pytest.fixture(scope="module")
def service() -> MemoryService:
    return MemoryService()


@pytest.fixture(scope="module")
def site(service: MemoryService) -> Iterator[httpx.Client]:
    with client(service, MemoryStories()) as http:
        yield http
