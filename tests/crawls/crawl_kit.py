"""Running the real crawler in tests: the command line in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gossamer.clock import SystemClock
from gossamer.database.database import open_database
from gossamer.tables import holds
from gossamer.testing import FakeWeb

GOSSAMER = [sys.executable, "-m", "gossamer.cli"]
PATIENCE = 600.0
"""Seconds after which a command hangs. None takes a tenth of that, but a busy machine has its own idea of seconds."""


def settings_of(web: FakeWeb, **sections: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Settings under which a FakeWeb can be crawled quickly, and no page is given up because the machine is busy."""
    settings: dict[str, dict[str, Any]] = {
        "network": {"allow": ["127.0.0.0/8"], "resolve": web.resolve},
        "politeness": {"delay": 0.0, "backoff_first": 0.2},
        "crawl": {"linger": 5.0, "index": False, "parse_timeout": 240.0},
        "fetch": {"connect_timeout": 60.0, "idle_timeout": 60.0, "total_timeout": 240.0},
    }
    for name, values in sections.items():
        settings.setdefault(name, {}).update(values)
    return settings


def write_settings(data: Path, settings: dict[str, dict[str, Any]]) -> None:
    from gossamer.settings import toml_value

    data.mkdir(parents=True, exist_ok=True)
    lines = []
    for section, values in settings.items():
        lines.append(f"[{section}]")
        lines += [f"{name} = {toml_value(value)}" for name, value in values.items()]
    (data / "gossamer.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def start(*arguments: str, data: Path) -> subprocess.Popen[str]:
    """A gossamer command under way, in a session of its own so that it can be killed with all its children."""
    return subprocess.Popen(
        [*GOSSAMER, *arguments, "--data", str(data)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, start_new_session=True,
    )  # fmt: skip


def run(*arguments: str, data: Path, timeout: float = PATIENCE, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """A gossamer command, to its end."""
    command = [*GOSSAMER, *arguments, "--data", str(data)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, input=stdin, check=False)


def crawl(web: FakeWeb, data: Path, seeds: Sequence[str], *options: str, **sections: dict[str, Any]) -> dict[str, Any]:
    """A whole crawl; returns its final status. Seeds that bring nothing are its caller's affair."""
    write_settings(data, settings_of(web, **sections))
    done = run("crawl", *seeds, "--json", *options, data=data)
    assert done.stdout, done.stderr
    found = dict(json.loads(done.stdout))
    assert done.returncode == (0 if found["verdict"]["ok"] else 1), done.stderr
    return found


@contextlib.contextmanager
def unmerged(data: Path) -> Iterator[None]:
    """Meanwhile segments stay as they are written: a slow machine commits more often, and ten would become one."""
    data.mkdir(parents=True, exist_ok=True)
    db = open_database(data / "frontier.db")
    try:
        holds.take(db, "several segments", SystemClock().now())
        yield
        holds.forget_all(db)
    finally:
        db.close()


def exported(what: str, data: Path) -> list[dict[str, Any]]:
    """`gossamer export` as rows."""
    done = run("export", what, data=data)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def descendants(pid: int) -> list[int]:
    """All processes below one, nearest first."""
    found, todo = [], [pid]
    while todo:
        parent = todo.pop(0)
        with contextlib.suppress(OSError):  # it may end while it is looked at
            for task in Path(f"/proc/{parent}/task").iterdir():
                children = [int(child) for child in (task / "children").read_text().split()]
                found += children
                todo += children
    return found


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def workers_of(pid: int) -> list[int]:
    """The worker processes of a running crawl."""
    return [child for child in descendants(pid) if "worker_process" in command_of(child)]


def kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def wait_until(condition: Any, timeout: float = PATIENCE) -> None:
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
