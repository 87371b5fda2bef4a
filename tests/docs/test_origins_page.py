"""The page of origins: what it names exists, and every id that code or tests name is a row of it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| (S\d+\.\d+) \| (.+) \| (.+) \| (.+) \|(.*)\|$", re.MULTILINE)
ROWS = ROW.findall((ROOT / "docs" / "origins.md").read_text(encoding="utf-8"))


def named(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_each_demand_is_there_once_with_code_and_a_test() -> None:
    ids = [ident for ident, *_ in ROWS]
    counts = {family: sum(ident.startswith(f"S{family}.") for ident in ids) for family in range(5)}
    assert counts == {0: 16, 1: 7, 2: 8, 3: 12, 4: 7}
    assert len(set(ids)) == len(ids)
    assert [ident for ident, _, code, tests, _ in ROWS if not named(code) or not named(tests)] == []


def test_every_path_exists() -> None:
    for ident, _, code, tests, study in ROWS:
        assert [path for path in named(code) if not (ROOT / "src" / "gossamer" / path).is_file()] == [], ident
        assert [path for path in named(tests) if not (ROOT / "tests" / path).is_file()] == [], ident
        studies = [ROOT / "studies" / name for name in named(study)]
        assert [path for path in studies if not path.is_dir() and not path.with_suffix(".py").is_file()] == [], ident


def test_every_id_in_code_and_tests_is_a_row() -> None:
    known = {ident for ident, *_ in ROWS}
    files = [path for folder in ("src", "studies", "tests") for path in (ROOT / folder).rglob("*.py")]
    used = {ident for path in files for ident in re.findall(r"\bS\d+\.\d+\b", path.read_text(encoding="utf-8"))}
    assert used - known == set()
