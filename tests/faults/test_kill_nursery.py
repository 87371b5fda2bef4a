"""The nursery of a crawl may be killed like any other process: what it forked goes on, and the crawl ends complete."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import (
    command_of,
    descendants,
    exported,
    kill,
    settings_of,
    start,
    wait_until,
    workers_of,
    write_settings,
)

from gossamer.testing import FakeWeb

PAGES = 60


@pytest.mark.parametrize("then_a_worker", [False, True])
def test_a_crawl_does_without_its_nursery(tmp_path: Path, then_a_worker: bool) -> None:
    """Its workers go on; one that dies is followed by a new interpreter."""
    data = tmp_path / "data"
    web = FakeWeb("127.0.53", process=True, log=tmp_path / "log")
    site = web.site("slow.test", pages=PAGES, links=8)
    everybody: set[int] = set()
    with web:
        write_settings(data, settings_of(web, politeness={"delay": 0.1, "backoff_first": 0.2}))
        main = start("crawl", site.url(), "--workers", "1", "--quiet", data=data)
        try:
            wait_until(lambda: len(web.log()) > PAGES // 4)
            everybody = {main.pid, *descendants(main.pid)}
            (worker,) = workers_of(main.pid)
            assert [kill(pid) for pid in everybody if "nursery_process" in command_of(pid)] == [True]
            if then_a_worker:
                assert kill(worker)
            _, said = main.communicate(timeout=600)
        finally:
            for pid in everybody:
                kill(pid)
    assert main.returncode == 0, said
    assert ("died of signal 9" in said) is then_a_worker
    assert len(exported("pages", data)) == PAGES
