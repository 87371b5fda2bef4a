"""The map, the prose and the folders tell the same story."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import gossamer
from gossamer.flow import FLOW, Stage

PACKAGE = Path(gossamer.__file__).parent
PROSE = PACKAGE.parent.parent / "ARCHITECTURE.md"
BESIDE = {
    "alerts",
    "cli",
    "console",
    "data",
    "database",
    "demo",
    "evaluate",
    "indexer",
    "lab",
    "notify",
    "operate",
    "schedule",
    "serving",
    "supervise",
    "tables",
    "testing",
    "upkeep",
}
"""Folders that a URL does not pass through."""


@pytest.mark.parametrize("stage", FLOW, ids=lambda stage: stage.name)
def test_every_stage_names_code_that_exists(stage: Stage) -> None:
    assert (PACKAGE / stage.code).exists()
    assert all(stage), "every field says something"


def test_every_folder_is_a_stage_or_beside_the_flow() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert {stage.code.split("/")[0] for stage in FLOW} == folders - BESIDE


def test_stages_have_names_of_their_own() -> None:
    assert len({stage.name for stage in FLOW}) == len(FLOW)


@pytest.mark.parametrize("stage", FLOW, ids=lambda stage: stage.name)
def test_the_prose_names_the_code_of_every_stage(stage: Stage) -> None:
    assert re.search(rf"`{re.escape(stage.code)}[/`]", PROSE.read_text(encoding="utf-8"))


def test_the_prose_names_only_code_that_exists() -> None:
    numbered = [line for line in PROSE.read_text(encoding="utf-8").splitlines() if " — `" in line]
    assert len(numbered) >= len(FLOW)
    for line in numbered:
        for path in re.findall(r"`([\w/]+(?:/|\.py))`", line.rpartition(" — ")[2]):
            assert (PACKAGE / path).exists(), path
