"""A worker that is asked to stop commits everything it has fetched."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gossamer.clock import SystemClock
from gossamer.crawl import worker as worker_module
from gossamer.crawl.pending import Committer
from gossamer.crawl.thread import DatabaseThread
from gossamer.crawl.worker import Worker
from gossamer.data.folder import DataFolder
from gossamer.data.opening import open_frontier
from gossamer.discover.seeds import read_seeds
from gossamer.errors import StorageError
from gossamer.frontier.views.inspect import status
from gossamer.settings import Settings
from gossamer.supervise.seeding import add_seeds
from gossamer.testing import FakeWeb


class BusyThread(DatabaseThread):
    """A thread that is always busy: what it is asked waits a little for its turn, and may be cancelled meanwhile."""

    async def run(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if "commit" in getattr(function, "__name__", ""):
            await asyncio.sleep(0.15)
        return await super().run(function, *args, **kwargs)


def prepare(web: FakeWeb, data: Path) -> tuple[Settings, DataFolder]:
    tables = {
        "network": {"allow": ["127.0.0.0/8"], "resolve": web.resolve},
        "politeness": {"delay": 0.02},
        "crawl": {"commit_seconds": 0.1},
    }
    settings = msgspec.convert(tables, Settings)
    folder = DataFolder(data)
    folder.create()
    frontier = open_frontier(folder, settings)
    add_seeds(frontier, settings, read_seeds([web.url(host) for host in web.sites]), SystemClock().now())
    frontier.db.close()
    return settings, folder


@pytest.mark.parametrize("after", [0.5, 0.6, 0.7])
async def test_what_was_fetched_is_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: float) -> None:
    monkeypatch.setattr(worker_module, "DatabaseThread", BusyThread)
    web = FakeWeb("127.0.28")
    for host in ("a.test", "b.test"):
        web.site(host, pages=500, links=5, seed=len(host))
    with web:
        settings, folder = prepare(web, tmp_path)
        worker = Worker(settings, folder, SystemClock())

        async def stop_later() -> None:
            while len(web.log()) < 20:  # two are for robots.txt
                await asyncio.sleep(0.02)
            await asyncio.sleep(after)
            worker.stop()

        await asyncio.gather(worker.run(), stop_later())
        requests = [request for request in web.log() if request.path != "/robots.txt"]
        standing = status(folder.read(), SystemClock().now())
        assert standing.fetched == len(requests) > 10
        assert standing.pages == len(requests)
        assert (standing.workers, standing.sites_active) == (0, 0)


async def test_a_last_commit_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "DatabaseThread", BusyThread)
    web = FakeWeb("127.0.28")
    web.site("a.test", pages=500, links=5)
    stopping = asyncio.Event()

    def failing(committer: Committer, *args: Any) -> Any:
        if stopping.is_set():
            raise StorageError("the disk is full")
        return commit(committer, *args)

    commit = Committer.commit
    monkeypatch.setattr(Committer, "commit", failing)
    with web:
        settings, folder = prepare(web, tmp_path)
        worker = Worker(settings, folder, SystemClock())

        async def stop_later() -> None:
            while len(web.log()) < 10:
                await asyncio.sleep(0.02)
            stopping.set()
            worker.stop()

        with pytest.raises(StorageError, match="the disk is full"):
            await asyncio.gather(worker.run(), stop_later())
