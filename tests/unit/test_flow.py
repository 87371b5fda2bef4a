"""The map, the prose, the picture and the folders tell the same story."""

from __future__ import annotations

from pathlib import Path

import pytest

import gossamer
from reference.flow import CORE, FLOW, rewritten, step_of

PACKAGE = Path(gossamer.__file__).parent
ROOT = PACKAGE.parent.parent
MODULES = [
    str(path.relative_to(PACKAGE))
    for room in CORE
    for path in sorted((PACKAGE / room).glob("**/*.py"))
    if path.name != "__init__.py"
]
MOST = 25


@pytest.mark.parametrize("module", MODULES)
def test_every_module_of_the_core_rooms_belongs_to_a_step(module: str) -> None:
    assert step_of(module) is not None, f"{module}: name it, or its folder, in a step of reference/flow.py"


def test_steps_name_code_that_exists_and_each_piece_once() -> None:
    named = [code for step in FLOW for code in step.code]
    assert len(named) == len(set(named)) and len({step.name for step in FLOW}) == len(FLOW)
    for code in named:
        path = PACKAGE / code
        assert path.is_dir() if code.endswith("/") else path.is_file(), code
    assert {code.split("/")[0] for code in named} - {"model"} == set(CORE)


def test_a_module_belongs_to_one_step() -> None:
    for code in (code for step in FLOW for code in step.code if not code.endswith("/")):
        assert not any(code.startswith(other) for step in FLOW for other in step.code if other.endswith("/")), code


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md"])
def test_the_pages_show_the_map_as_it_is(page: str) -> None:
    """`make docs` writes them."""
    text = (ROOT / page).read_text(encoding="utf-8")
    assert "<!-- flow -->" in text or "<!-- picture -->" in text
    assert text == rewritten(text)


def test_a_folder_has_at_most_25_modules() -> None:
    folders = {path.parent for path in PACKAGE.glob("**/*.py")}
    sizes = {folder: sum(path.name != "__init__.py" for path in folder.glob("*.py")) for folder in folders}
    assert not {str(folder.relative_to(PACKAGE)): size for folder, size in sizes.items() if size > MOST}
