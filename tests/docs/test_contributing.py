"""The recipes of CONTRIBUTING and the promises of README name files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "gossamer"
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
RECIPES = {
    part.partition("\n")[0]: part.partition("\n")[2]
    for part in CONTRIBUTING.partition("## Recipes")[2].split("\n### ")[1:]
}
PROMISES = re.findall(
    r"^\d\. \*\*.*?(?=^\d\. \*\*|^## )", README.partition("## What it promises")[2], re.MULTILINE | re.DOTALL
)
ROOMS = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}


def test_there_is_a_recipe_for_each_common_change() -> None:
    things = (
        "outcome, strategy, setting, stored column, console page, query operator, near-duplicate method, database, "
    )
    assert list(RECIPES) == [f"A new {thing.strip()}" for thing in (things + "job, document type").split(",")]


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_names_files_that_exist(recipe: str) -> None:
    named = re.findall(r"`([\w./-]+(?:/|\.(?:py|md)))`|\((docs/[\w/.-]+)\)", RECIPES[recipe])
    paths = [one or other for one, other in named]
    assert len(paths) >= 3
    for path in paths:
        root = ROOT if path.startswith(("tests/", "docs/")) else PACKAGE
        assert (root / path).exists(), path


def test_every_room_is_in_the_table() -> None:
    table = CONTRIBUTING.partition("## Where things are")[2].partition("\nBeside")[0]
    named = {
        name
        for row in table.splitlines()[3:]
        for name in re.findall(r"`(\w+)`", row.split("|")[1] if "|" in row else "")
    }
    assert named == ROOMS


def test_every_promise_links_to_a_test() -> None:
    assert len(PROMISES) == 8
    for promise in PROMISES:
        tests = re.findall(r"\]\((tests/[\w/]+\.py)\)", promise)
        assert tests and all((ROOT / test).is_file() for test in tests), promise


def test_readme_is_short() -> None:
    assert len(README.splitlines()) <= 120
