"""One server for the tests that only read, and one console for each module of tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from console_kit import ConsoleUnderTest, finished_crawl, small_console
from web_kit import MemoryService, MemoryStories, client, without_haste

from gossamer.tables import passwords


@pytest.fixture(scope="session", autouse=True)
def cheap_passwords() -> Iterator[None]:
    """Checking one takes no fifth of a second; what it costs elsewhere is tested with the accounts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "COST", (4, 8, 1))
        yield


@pytest.fixture(scope="module", autouse=True)
def patient_servers() -> Iterator[None]:
    with without_haste():
        yield


@pytest.fixture(scope="module")
def service() -> MemoryService:
    return MemoryService()


@pytest.fixture(scope="module")
def site(service: MemoryService) -> Iterator[httpx.Client]:
    with client(service, MemoryStories()) as http:
        yield http


@pytest.fixture(scope="session")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a small finished crawl; nobody changes it."""
    data = tmp_path_factory.mktemp("crawled") / "data"
    finished_crawl(data)
    return data


@pytest.fixture(scope="module")
def console(crawled: Path) -> Iterator[ConsoleUnderTest]:
    """A console over a copy of the crawl, one for the tests of a module."""
    with small_console(crawled) as under_test:
        yield under_test
