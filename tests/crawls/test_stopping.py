"""Ctrl-C: the first one finishes what is under way, however busy the parsers are; the second one does not."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from crawl_kit import PATIENCE, exported, run, settings_of, start, write_settings

from gossamer.testing import Ask, FakeWeb, Reply

PAGES = 16
SLOW = """
import sys
if any(name in argument for argument in sys.orig_argv for name in ("nursery_process", "parser_process")):
    import time
    from gossamer.crawl.reading import PageParser
    read = PageParser.read
    def slowly(self, job):
        if "busy.test" in job.url:  # not the page of the rehearsal
            time.sleep(START if job.url.endswith("/") else OTHERS)
        return read(self, job)
    PageParser.read = slowly
"""


class Paper:
    """A start page with many links, and what was asked for."""

    def __init__(self, web: FakeWeb) -> None:
        self.web, self.site = web, web.site("busy.test")
        self.site.handler("/", self)
        self.asked: list[str] = []

    def __call__(self, ask: Ask) -> Reply:
        if ask.target == "/robots.txt":
            return Reply("", 404)
        self.asked.append(ask.target)
        name = ask.target.strip("/") or "start"
        links = "".join(f'<a href="/{number}">{number}</a> ' for number in range(PAGES)) if name == "start" else ""
        prose = " ".join(f"Sentence {n} of the page {name} says {name} and {n}." for n in range(12))
        return Reply(f"<html><head><title>{name}</title></head><body><main><p>{prose}</p></main>{links}</body></html>")


@pytest.fixture
def paper() -> Iterator[Paper]:
    web = FakeWeb("127.0.66")
    paper = Paper(web)
    with web:
        yield paper


def slow_parsers(folder: Path, start: float, others: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parsers that take so many seconds for the start page, and for each other page."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(SLOW.replace("START", str(start)).replace("OTHERS", str(others)))
    monkeypatch.setenv("PYTHONPATH", str(folder))


def until(true: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


def interrupt(process: subprocess.Popen[str]) -> None:
    os.kill(process.pid, signal.SIGINT)


def settings(web: FakeWeb, data: Path, **crawl: float) -> None:
    write_settings(data, settings_of(web, crawl={"linger": 5.0, "index": False, "workers": 1, "parsers": 1, **crawl}))


def test_no_finished_download_is_lost_while_parsers_are_busy(
    paper: Paper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    settings(paper.web, data, parse_timeout=20.0, stop_within=600.0)
    slow_parsers(tmp_path / "slow", 0.0, 1.5, monkeypatch)  # all together longer than one page may take
    process = start("crawl", paper.site.url(), data=data)
    until(lambda: len(paper.asked) == PAGES + 1, process)
    interrupt(process)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert "Stopping … Finishing the downloads and pages under way. Press Ctrl-C again to stop at once" in err
    assert f"Stopped: {PAGES + 1} pages in " in out
    assert f"Make them searchable: gossamer index --data {data}" in out
    assert "URLs left" not in out
    assert len(exported("pages", data)) == PAGES + 1
    monkeypatch.delenv("PYTHONPATH")
    assert run("crawl", data=data).returncode == 0
    assert sorted(paper.asked) == sorted({"/", *(f"/{number}" for number in range(PAGES))})


def test_the_second_ctrl_c_stops_at_once_and_the_next_crawl_makes_up_for_it(
    paper: Paper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    settings(paper.web, data, parse_timeout=3600.0, stop_within=3600.0)
    slow_parsers(tmp_path / "slow", 3600.0, 3600.0, monkeypatch)
    process = start("crawl", paper.site.url(), data=data)
    until(lambda: len(paper.asked) == 1, process)
    interrupt(process)
    assert process.stderr is not None
    assert any("Press Ctrl-C again" in line for line in process.stderr)
    interrupt(process)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert "Stopped: no pages in " in out
    assert f"1 URL left. Run `gossamer crawl --data {data}` to continue" in out
    monkeypatch.delenv("PYTHONPATH")
    done = run("crawl", data=data)
    assert f"Finished: {PAGES + 1} pages in " in done.stdout, done.stderr
