"""Crawling from a program: each page once, whatever becomes of the loop."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from api_kit import PATIENCE, quick, run, start, write_settings

import gossamer
from gossamer.errors import BusyError, OperationError, UsageError
from gossamer.testing import FakeWeb, violations

pytestmark = pytest.mark.long

PAGES = 120
DELAY = 0.02


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    web = FakeWeb("127.0.133", process=True)
    web.site("a.test", pages=PAGES, links=6, seed=1)
    web.site("b.test", pages=20, links=4, seed=2)
    web.site("gone.test")
    with web:
        yield web


@pytest.fixture(scope="module")
def undisturbed(web: FakeWeb, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """URL and text of each page of a crawl that nobody disturbs."""
    data = tmp_path_factory.mktemp("undisturbed") / "data"
    folder = gossamer.crawl(web.url("a.test"), folder=data, settings=quick(web)).run()
    return {page.url: page.text for page in folder.pages()}


def stored(data: Path) -> dict[str, str]:
    return {page.url: page.text for page in gossamer.open(data).pages()}


def test_the_loop_gets_each_page_once(web: FakeWeb, undisturbed: dict[str, str], tmp_path: Path) -> None:
    data = tmp_path / "data"
    crawl = gossamer.crawl(web.url("a.test"), folder=data, settings=quick(web))
    seen = Counter(page.url for page in crawl)
    assert len(undisturbed) == PAGES
    assert seen == Counter(undisturbed.keys()) and not crawl.is_running
    assert stored(data) == undisturbed
    assert list(gossamer.crawl(folder=data, settings=quick(web))) == []
    assert crawl.folder.search("spider").total > 0  # the index is complete when the loop ends


def test_break_and_an_exception_lose_nothing(web: FakeWeb, undisturbed: dict[str, str], tmp_path: Path) -> None:
    data, seen = tmp_path / "data", list[str]()
    for page in gossamer.crawl(web.url("a.test"), folder=data, settings=quick(web)):
        seen.append(page.url)
        if len(seen) == 10:
            break
    with pytest.raises(ZeroDivisionError):
        for number, page in enumerate(gossamer.crawl(web.url("a.test"), folder=data, settings=quick(web)), 1):
            if number == 10:
                1 / 0  # noqa: B018 - the caller's mistake
            seen.append(page.url)
    seen += [page.url for page in gossamer.crawl(folder=data, settings=quick(web))]
    # The page at which the caller left is not done, so it comes again.
    assert set(seen) == set(undisturbed) and len(seen) <= len(undisturbed) + 2
    assert stored(data) == undisturbed


def test_an_event_loop_gets_pages_too(web: FakeWeb, tmp_path: Path) -> None:
    data = tmp_path / "data"

    async def crawl_some() -> list[str]:
        seen, ticks = list[str](), 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.01)

        ticking = asyncio.create_task(tick())
        async with gossamer.crawl(web.url("b.test"), folder=data, settings=quick(web)) as crawl:
            async for page in crawl:
                seen.append(page.url)
                if len(seen) == 5:
                    break
        ticking.cancel()
        assert ticks > 10 and not crawl.is_running
        # A notebook has a running event loop, and its cells use `for`.
        seen += [page.url for page in gossamer.crawl(folder=data, settings=quick(web))]
        return seen

    assert len(set(asyncio.run(crawl_some()))) == 20


SCRIPT = """
import sys
import gossamer
seen = open("seen.txt", "a")
for page in gossamer.crawl(sys.argv[1], folder="data"):
    seen.write(page.url + "\\n")
    seen.flush()
print("whole")
"""


def test_ctrl_c_ends_a_program_in_good_order(web: FakeWeb, undisturbed: dict[str, str], tmp_path: Path) -> None:
    script, seen = tmp_path / "script.py", tmp_path / "seen.txt"
    script.write_text(SCRIPT)
    write_settings(tmp_path / "data", quick(web, politeness={"delay": DELAY}))
    process = start(script, web.url("a.test"), cwd=tmp_path)
    _wait_for_lines(seen, 10, process)
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert "KeyboardInterrupt" in err and process.returncode != 0
    assert not _left_over(tmp_path)
    assert 10 <= len(stored(tmp_path / "data")) < PAGES
    assert run(script, web.url("a.test"), cwd=tmp_path).endswith("whole\n")
    lines = seen.read_text().split()
    assert set(lines) == set(undisturbed) and len(lines) <= PAGES + 1
    assert stored(tmp_path / "data") == undisturbed


ASYNC = """
import asyncio, sys
import gossamer
async def main():
    seen = open("seen.txt", "a")
    async for page in gossamer.crawl(sys.argv[1], folder="data"):
        seen.write(page.url + "\\n")
        seen.flush()
asyncio.run(main())
print("whole")
"""
FORGOTTEN = """
import sys
import gossamer
pages = iter(gossamer.crawl(sys.argv[1], folder="data"))
open("seen.txt", "a").write(next(pages).url + "\\n")
"""


@pytest.mark.parametrize(("program", "signals"), [(ASYNC, 1), (FORGOTTEN, 0)], ids=["async", "forgotten"])
def test_a_program_that_ends_leaves_nothing_behind(web: FakeWeb, tmp_path: Path, program: str, signals: int) -> None:
    """A coroutine ended by Ctrl-C, and a program that has a crawl under way when it ends."""
    script, seen = tmp_path / "script.py", tmp_path / "seen.txt"
    script.write_text(program)
    write_settings(tmp_path / "data", quick(web, politeness={"delay": 0.1}))
    process = start(script, web.url("b.test"), cwd=tmp_path)
    _wait_for_lines(seen, 1, process)
    if signals:
        os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert out == "" and (process.returncode == 0) is not bool(signals), err
    assert not _left_over(tmp_path)
    script.write_text(SCRIPT)
    assert run(script, web.url("b.test"), cwd=tmp_path).endswith("whole\n")
    assert len(set(seen.read_text().split())) == 20 == len(stored(tmp_path / "data"))


def test_kill_9_loses_nothing(web: FakeWeb, undisturbed: dict[str, str], tmp_path: Path) -> None:
    script, seen, chance = tmp_path / "script.py", tmp_path / "seen.txt", random.Random(20261120)
    script.write_text(SCRIPT)
    write_settings(tmp_path / "data", quick(web, politeness={"delay": DELAY}))
    kills, wanted = 0, 5
    before = len(web.log())
    while True:
        process = start(script, web.url("a.test"), cwd=tmp_path)
        if kills < 5:
            _wait_for_lines(seen, wanted + chance.randrange(10), process)
            time.sleep(chance.uniform(0.0, 0.2))
            process.kill()
            kills += 1
            wanted = len(seen.read_text().split()) + 5
        out, err = process.communicate(timeout=PATIENCE)
        if process.returncode == 0:
            assert out.endswith("whole\n")
            break
        assert process.returncode == -signal.SIGKILL, err
        _wait_until_free(tmp_path)
    lines = seen.read_text().split()
    assert kills == 5
    assert set(lines) == set(undisturbed) and len(lines) <= PAGES + kills
    assert stored(tmp_path / "data") == undisturbed
    assert violations(type(web.log())(web.log()[before:], web.log().connections), DELAY, DELAY) == []


def test_two_crawls_do_not_mix(web: FakeWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_settings(tmp_path / "gossamer-data", quick(web))
    for _ in gossamer.crawl(web.url("b.test"), pages=5):
        with pytest.raises(BusyError):
            gossamer.crawl(web.url("b.test"), settings=quick(web)).run()
        break
    with pytest.raises(UsageError, match=r"holds the crawl of .*b\.test.*name another folder"):
        gossamer.crawl(web.url("a.test")).run()
    assert gossamer.crawl(web.url("b.test"), pages=5).run().path == tmp_path / "gossamer-data"


def test_what_is_wrong_is_said_in_words_of_a_program(web: FakeWeb, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="pages=0"):
        gossamer.crawl(web.url("a.test"), folder=tmp_path, pages=0)
    with pytest.raises(UsageError, match=r"crawl\(\*urls\)"):
        gossamer.crawl([web.url("a.test")], folder=tmp_path)  # type: ignore[arg-type]  # the mistake that is made
    with pytest.raises(UsageError, match="needs contact= "):
        gossamer.crawl("https://www.example.org/", folder=tmp_path).run()
    with pytest.raises(UsageError, match=r"unknown setting dilay in \[politeness\]"):
        gossamer.crawl(web.url("a.test"), folder=tmp_path, settings={"politeness": {"dilay": 1}}).run()
    with pytest.raises(UsageError, match="nothing to crawl"):
        gossamer.crawl(folder=tmp_path / "new").run()
    with pytest.raises(OperationError, match=r"gone\.test.* failed"):
        list(gossamer.crawl(web.url("gone.test"), folder=tmp_path / "gone", settings=quick(web)))


def _wait_for_lines(path: Path, count: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not path.exists() or len(path.read_text().split()) < count:
        assert time.monotonic() < deadline
        if process.poll() is not None:
            return
        time.sleep(0.02)


def _left_over(folder: Path) -> list[str]:
    """Processes that name a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder).encode() in path.read_bytes():
                found.append(path.read_text())
        except OSError:
            continue
    return found


def _wait_until_free(folder: Path) -> None:
    """Until the processes of a killed program have noticed it, and ended."""
    deadline = time.monotonic() + PATIENCE
    while _left_over(folder):
        assert time.monotonic() < deadline
        time.sleep(0.05)
