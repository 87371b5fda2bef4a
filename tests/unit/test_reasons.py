"""Whatever is pinned or silenced says why, on the same line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PIN = re.compile(r'"[\w.-]+(\[\w+\])?[<>=]')
RULE = re.compile(r'"[A-Z]+\d+"')
NOQA = re.compile(r"#\s*noqa\b(?!: [A-Z]+\d+(, [A-Z]+\d+)* - \w)")
IGNORE = re.compile(r"#\s*type: ignore\b(?!\[[\w, -]+\]\s+# \w)")
AFTER_PATH = "# noqa: E402"
"""An import below the line that makes it possible: the line above says why."""


def unexplained(text: str) -> list[str]:
    """Lines of a Python file that silence a checker without a reason."""
    lines = [line for line in text.splitlines() if NOQA.search(line) or IGNORE.search(line)]
    return [line.strip() for line in lines if not ("sys.path" in text and line.endswith(AFTER_PATH))]


def sources() -> list[Path]:
    return [path for folder in ("src", "tests", "bench", "training", "fuzz") for path in (ROOT / folder).rglob("*.py")]


def test_every_pin_and_every_rule_left_out_has_its_reason_beside_it() -> None:
    lines = (ROOT / "pyproject.toml").read_text().splitlines()
    said = [line for line in lines if PIN.search(line) or (RULE.search(line) and not line.startswith("select"))]
    assert len(said) > 60
    assert [line for line in said if not re.search(r"# \w", line)] == []


def test_every_silenced_checker_has_its_reason_beside_it() -> None:
    files = [path for path in sources() if path != Path(__file__)]
    assert len(files) > 500
    found = {str(path.relative_to(ROOT)): unexplained(path.read_text()) for path in files}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("line", "is_explained"),
    [
        ("x = 1  # noqa: E731 - a row of the table", True),
        ("x = 1  # noqa: E731", False),
        ("x = 1  # noqa", False),
        ("x = 1  # type: ignore[index]  # it may be empty", True),
        ("x = 1  # type: ignore[union-attr, call-arg] # it may be empty", True),
        ("x = 1  # type: ignore[index]", False),
        ("x = 1  # type: ignore", False),
        ("import x  # noqa: E402", False),
        ("sys.path.insert(0, place)\nimport x  # noqa: E402", True),
    ],
)
def test_a_reason_is_words_behind_the_code(line: str, is_explained: bool) -> None:
    assert (unexplained(line) == []) is is_explained
