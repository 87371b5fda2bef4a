"""Which long tests the gate runs: those that a change touches first, then others, until the time is up.

All of `make test-long` takes most of an hour; a gate that long is a gate that people avoid. So `.ci/run` runs as many
of them as fit. The order is a function of the commit: whoever runs the gate on the same commit starts with the same
tests, and over many commits every test has its turn.
"""

from __future__ import annotations

import ast
import os
import random
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
UNTIL = "GOSSAMER_SAMPLE_UNTIL"
"""Environment: the second (since 1970) after which no further long test begins."""
BASE = "GOSSAMER_SAMPLE_BASE"
"""Environment: the commit to compare with; without it, the newest that is `_HOURS` older than HEAD."""
_HOURS = 12


def in_order(items: Sequence[pytest.Item], changed: set[str], commit: str) -> list[pytest.Item]:
    """File by file, since the tests of one file share what they set up: the changed ones, those that a change
    touches, the rest; within each group as the commit's hash draws them."""
    files = sorted({item.path for item in items})
    random.Random(commit).shuffle(files)
    rank = {path: (nearness(path, changed), place) for place, path in enumerate(files)}
    return sorted(items, key=lambda item: (_is_named(item, changed), rank[item.path]))


def nearness(test: Path, changed: set[str]) -> int:
    """0 for a test that changed itself, 1 for one that imports what changed, 2 for all others."""
    if _name(test) in changed:
        return 0
    return 1 if any(name in changed for name in _imported(test)) else 2


def _is_named(item: pytest.Item, changed: set[str]) -> bool:
    """False, which sorts first, for the test of a page of the documentation that changed."""
    return not any(f"[{name}]" in item.nodeid for name in changed)


@cache
def _imported(test: Path) -> frozenset[str]:
    """What a test imports, as paths below the root: modules of the package, and the kits of the tests with theirs."""
    found: set[str] = set()
    todo = [test]
    while todo:
        for module in _modules(todo.pop()):
            for path in _places(module):
                if _name(path) not in found:
                    found.add(_name(path))
                    if path.is_relative_to(ROOT / "tests"):
                        todo.append(path)
    return frozenset(found)


def _modules(path: Path) -> Iterable[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


def _places(module: str) -> Iterable[Path]:
    stems = [folder / module.replace(".", "/") for folder in (ROOT / "src", ROOT / "tests", ROOT)]
    kits = (ROOT / "tests").glob(f"*/{module}.py") if "." not in module else ()
    modules = (path for stem in stems for path in (stem.with_suffix(".py"), stem / "__init__.py"))
    return (path for path in (*modules, *kits) if path.is_file())


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def changed_files() -> tuple[set[str], str]:
    """The paths that differ from the base, and the commit that is tested; nothing where this is no repository."""
    commit = _git("rev-parse", "HEAD").strip()
    if not commit:
        return set(), ""
    made = int(_git("show", "-s", "--format=%ct", "HEAD"))
    base = os.environ.get(BASE) or _git("rev-list", "-1", f"--before={made - _HOURS * 3600}", "HEAD").strip()
    return (set(_git("diff", "--name-only", base).splitlines()) if base else set()), commit


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout
