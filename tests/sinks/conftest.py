"""A crawl at two times, for all tests of this folder."""

import shutil
from collections.abc import Iterator

import pytest
from sink_kit import Crawls, World

from gossamer.testing import FakeWeb


@pytest.fixture(scope="session")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawls]:
    root = tmp_path_factory.mktemp("sinks")
    web = FakeWeb("127.0.142")
    world = World(web, root / "after")
    with web:
        world.crawl()
        shutil.copytree(root / "after", root / "before", symlinks=True, ignore=shutil.ignore_patterns("run"))
        world.change()
    yield Crawls(root / "before", root / "after")
