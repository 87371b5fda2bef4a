"""Only the table says which outcomes have something in common (`gossamer.model.outcome`)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import gossamer
from gossamer.model.outcome import Outcome

SOURCE = Path(gossamer.__file__).parent
VALUES = {outcome.value for outcome in Outcome}
ALLOWED = {
    "operate/verdict.py": "commands that help after a failed seed; they are functions of that module",
    "robots/verdict.py": "what an answer means for robots.txt (RFC 9309); every outcome, in kinds of that module",
}
_IN_SQL = re.compile(r"outcome (?:not )?in \('", re.IGNORECASE)


def collections_of_outcomes(text: str) -> list[int]:
    """Lines of code on which two or more outcomes stand in a set, a list, the keys of a mapping, or SQL."""
    tree = ast.parse(text)
    aliases = _aliases(tree)
    return sorted({node.lineno for node in ast.walk(tree) if _is_collection(node, aliases)})


def _aliases(tree: ast.AST) -> set[str]:
    names = {"Outcome"}
    for node in ast.walk(tree):
        if isinstance(node, ast.alias) and node.name == "Outcome" and node.asname:
            names.add(node.asname)
        if isinstance(node, ast.Assign):
            for target, value in zip(_elements(node.targets[0]), _elements(node.value), strict=False):
                if isinstance(target, ast.Name) and isinstance(value, ast.Name) and value.id in names:
                    names.add(target.id)
    return names


def _elements(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _is_collection(node: ast.AST, aliases: set[str]) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and _IN_SQL.search(node.value) is not None
    held = list(_held(node))
    if all(isinstance(one, ast.Constant) for one in held):
        texts = {one.value for one in held if isinstance(one, ast.Constant)}
        return len(texts) > 1 and texts <= VALUES
    return sum(_is_member(one, aliases) for one in held) > 1


def _held(node: ast.AST) -> Iterator[ast.expr]:
    """What a collection holds; of a union what its sides hold."""
    if isinstance(node, (ast.Set, ast.Tuple, ast.List)):
        yield from node.elts
    elif isinstance(node, ast.Dict):
        yield from (key for key in node.keys if key is not None)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        yield from _held(node.left)
        yield from _held(node.right)


def _is_member(node: ast.expr, aliases: set[str]) -> bool:
    if isinstance(node, ast.Attribute) and node.attr == "value":
        node = node.value
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases


def test_no_other_module_keeps_a_set_of_outcomes() -> None:
    found: dict[str, list[int]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        lines = collections_of_outcomes(path.read_text(encoding="utf-8")) if name != "model/outcome.py" else []
        if lines:
            found[name] = lines
    assert found.keys() == ALLOWED.keys(), "give the table a column instead (gossamer.model.outcome)"
    assert all(len(lines) == 1 for lines in found.values()), found


@pytest.mark.parametrize(
    "code",
    [
        "READ = frozenset({Outcome.DOCUMENT, Outcome.NOINDEX})",
        "READ = (Outcome.DOCUMENT.value, Outcome.NOINDEX.value)",
        "is_read = outcome in [Outcome.DOCUMENT, Outcome.NOINDEX]",
        "WORDS = {Outcome.ALIAS: 'alias', Outcome.DUPLICATE: 'copy'}",
        "READ = {Outcome.DOCUMENT} | {Outcome.NOINDEX}",
        "_O = Outcome\nREAD = {_O.DOCUMENT, _O.NOINDEX}",
        "_K, _O = Kind, Outcome\nREAD = {_O.DOCUMENT, _O.NOINDEX}",
        "from gossamer.model.outcome import Outcome as End\nREAD = {End.DOCUMENT, End.NOINDEX}",
        "READ = ('document', 'noindex')",
        "SQL = \"SELECT url FROM urls WHERE outcome IN ('document', 'noindex')\"",
        "SQL = f\"SELECT {what} FROM urls WHERE outcome NOT IN ('document', 'noindex')\"",
    ],
)
def test_a_set_of_outcomes_is_seen(code: str) -> None:
    assert collections_of_outcomes(code)


@pytest.mark.parametrize(
    "code",
    [
        "is_read = outcome is Outcome.DOCUMENT",
        "visit.outcome, visit.reason = Outcome.NOINDEX, 'why'",
        "KINDS = {'rss': Outcome.RESOURCE, 'pdf': Outcome.UNSUPPORTED_TYPE}",
        "TOLD = [Outcome.DOCUMENT.value, *TEXTLESS.listed]",
        "SQL = f\"SELECT url FROM urls WHERE outcome IN ({PAGES.sql}) AND state = 'done'\"",
        "WAYS = {Via.REDIRECT, Via.CANONICAL}",
        "ONE_AND_MANY = ('noindex', 'noindex')",
    ],
)
def test_what_is_no_set_of_outcomes_is_not_taken_for_one(code: str) -> None:
    assert collections_of_outcomes(code) == []
