"""The public names: all are there, listed, typed, and cost nothing until they are used."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import gossamer

STUB = Path(gossamer.__file__).with_name("__init__.pyi")


def test_importing_gossamer_loads_nothing() -> None:
    code = (
        f"import sys, importlib; sys.path[:] = {sys.path!r}; before = set(sys.modules); import gossamer; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["gossamer"]


def test_every_name_is_listed_and_there() -> None:
    assert set(gossamer.__all__) <= set(dir(gossamer))
    for name in gossamer.__all__:
        assert getattr(gossamer, name) is not None


def test_the_stub_has_the_same_names() -> None:
    names = set()
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            names |= {alias.asname for alias in node.names}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    assert names - {"__all__"} == set(gossamer.__all__)


def test_every_name_has_a_docstring() -> None:
    for name in gossamer.__all__:
        if name != "__version__":
            assert inspect.getdoc(getattr(gossamer, name)), name


def test_a_wrong_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'crawll'"):
        gossamer.crawll  # type: ignore[attr-defined]  # noqa: B018 - the error is what is asked for
