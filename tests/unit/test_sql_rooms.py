"""SQL for the frontier database stands in three rooms; all others ask functions of theirs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import gossamer

PACKAGE = Path(gossamer.__file__).parent
SQL_ROOMS = {"database", "frontier", "tables", "testing"}
OWN_TABLES = {"index/anchors.py", "sinks/postgres_table.py"}
"""Modules with a database of their own."""
STUDIES = "lab/studies/"
"""Studies make up tables by the million, and compare ways to write them."""
STATEMENT = re.compile(
    r"\s*(SELECT|INSERT (OR \w+ )?INTO|UPDATE \w+ SET|DELETE FROM|(CREATE|DROP|ALTER) (TABLE|INDEX)|PRAGMA) \S"
)
RUNNERS = {"execute", "executemany", "many", "each", "iterate"}


def said(node: ast.AST) -> str:
    """The text that a string constant, or an f-string, begins with."""
    if isinstance(node, ast.JoinedStr) and node.values:
        node = node.values[0]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def runs_sql(node: ast.AST) -> bool:
    """`Database.find` puts a statement together from columns, a table and keys."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
        return False
    return node.func.attr in RUNNERS or (node.func.attr == "find" and len(node.args) == 4)


def sql_in(tree: ast.AST) -> set[int]:
    """Lines with a statement, or with a call that runs one."""
    found = (node for node in ast.walk(tree) if STATEMENT.match(said(node)) or runs_sql(node))
    return {node.lineno for node in found if isinstance(node, ast.expr)}


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name.split("/")[0] not in SQL_ROOMS and name not in OWN_TABLES and not name.startswith(STUDIES):
            yield name, path


def test_no_sql_outside_its_rooms() -> None:
    found = [
        f"{name}:{line}"
        for name, path in modules()
        for line in sorted(sql_in(ast.parse(path.read_text(encoding="utf-8"))))
    ]
    assert not found, "move the query into a function of frontier/views, frontier/steering or tables"


@pytest.mark.parametrize("code", [
    'db.execute("SELECT 1 FROM meta")',
    'SQL = f"UPDATE urls SET state = {DONE}"',
    "rows = db.iterate(sql)",
    'db.find("key", "urls", ("site_id", "key"), wanted)',
])  # fmt: skip
def test_a_statement_is_seen(code: str) -> None:
    assert sql_in(ast.parse(code)) == {1}


@pytest.mark.parametrize("code", ['text.find("x", 2)', '"""Select what you want."""', 'say("DELETE this")'])
def test_other_words_are_left_alone(code: str) -> None:
    assert not sql_in(ast.parse(code))
