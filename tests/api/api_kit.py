"""What the tests of the Python API share: settings for a FakeWeb, and programs in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from gossamer.settings import toml_value
from gossamer.testing import FakeWeb

PATIENCE = 600.0
"""Seconds after which a program hangs."""


def quick(web: FakeWeb, **sections: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Settings under which a FakeWeb is crawled quickly."""
    settings: dict[str, dict[str, Any]] = {
        "network": {"allow": ["127.0.0.0/8"], "resolve": web.resolve},
        "politeness": {"delay": 0.0, "backoff_first": 0.2},
        "crawl": {"linger": 3.0, "workers": 1, "parsers": 1, "parse_timeout": 240.0},
        "fetch": {"connect_timeout": 60.0, "idle_timeout": 60.0, "total_timeout": 240.0},
    }
    for name, values in sections.items():
        settings.setdefault(name, {}).update(values)
    return settings


def write_settings(folder: Path, settings: dict[str, dict[str, Any]]) -> None:
    """The same as the `gossamer.toml` of a data folder."""
    folder.mkdir(parents=True, exist_ok=True)
    lines: list[str] = []
    for section, values in settings.items():
        lines += [f"[{section}]", *(f"{name} = {toml_value(value)}" for name, value in values.items())]
    (folder / "gossamer.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def start(script: Path, *arguments: str, cwd: Path) -> subprocess.Popen[str]:
    """A program under way."""
    return subprocess.Popen(
        [sys.executable, str(script), *arguments], cwd=cwd, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip


def run(script: Path, *arguments: str, cwd: Path) -> str:
    """A program, to its end; what it printed."""
    process = start(script, *arguments, cwd=cwd)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    return out
