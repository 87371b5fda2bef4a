"""`gossamer export pages --since --follow`: the changes of a crawl as JSON lines, each once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sink_kit import PAGES, World

import gossamer
from gossamer.testing import FakeWeb

pytestmark = pytest.mark.long

EXPORT = [sys.executable, "-m", "gossamer.cli", "export", "pages"]


def lines(data: Path, *options: str) -> list[dict[str, Any]]:
    done = subprocess.run([*EXPORT, "--data", str(data), *options], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_reader_killed_anywhere_gets_each_change_once(tmp_path: Path) -> None:
    dice = random.Random(7)
    web = FakeWeb("127.0.141")
    world = World(web, tmp_path / "data")
    with web:
        world.crawl()
        plain = {row["url"]: row for row in lines(world.data, "--markdown")}
        assert len(plain) == PAGES + 1
        kept: list[dict[str, Any]] = []
        kept += killed_after(world.data, kept, dice.randrange(1, PAGES))
        kept += killed_after(world.data, kept, PAGES + 1 - len(kept))
        assert sorted(line["url"] for line in kept) == sorted(plain)
        heads = ("position", "change", "kind")
        assert [{name: line[name] for name in line if name not in heads} for line in kept] == [
            plain[line["url"]] for line in kept
        ]

        follower = start(world.data, kept, "--follow")
        folder = world.change()
        for _ in range(len(list(folder.changes(kept[-1]["position"])))):
            assert follower.stdout is not None
            kept.append(json.loads(follower.stdout.readline()))
        os.kill(follower.pid, signal.SIGKILL)
        follower.communicate()

    assert lines(world.data, "--since", kept[-1]["position"]) == []
    assert len({line["position"] for line in kept}) == len(kept)
    removed = [line for line in kept if line["kind"] == "removed"]
    assert len(removed) == PAGES // 4 and set(removed[0]) == {"position", "change", "kind", "url"}
    assert pages_of(kept) == {page.url: page.text for page in gossamer.open(world.data).pages()}


def start(data: Path, kept: list[dict[str, Any]], *options: str) -> subprocess.Popen[str]:
    since = kept[-1]["position"] if kept else "0"
    command = [*EXPORT, "--data", str(data), "--since", since, "--markdown", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def killed_after(data: Path, kept: list[dict[str, Any]], many: int) -> list[dict[str, Any]]:
    """So many lines of an export that is killed then."""
    process = start(data, kept, "--follow")
    assert process.stdout is not None
    found = [json.loads(process.stdout.readline()) for _ in range(many)]
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    return found


def pages_of(kept: list[dict[str, Any]]) -> dict[str, str]:
    """What a reader knows who did what each line says."""
    known: dict[str, str] = {}
    for line in kept:
        if line["kind"] == "removed":
            known.pop(line["url"], None)
        else:
            known[line["url"]] = line["text"]
    return known


def test_it_says_what_it_cannot_do(tmp_path: Path) -> None:
    for wrong in (["links", "--since", "0"], ["pages", "--follow", "--format", "csv"]):
        done = subprocess.run([*EXPORT[:-1], *wrong, "--data", str(tmp_path)], capture_output=True, text=True)
        assert done.returncode == 2 and "--since and --follow write pages" in done.stderr
