"""Settings that a page shows are settings that the program takes.

Those that the commands of their page use (`<!-- file: … -->`) are tried there.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from gossamer.settings import FILE_NAME, load

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "deploy" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_SHOWN = re.compile(r"(?<!-->\n)^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = [
    pytest.param(block, id=f"{page.name} {block.split()[0]}")
    for page in PAGES
    for block in _SHOWN.findall(page.read_text(encoding="utf-8"))
    if not {"rule", "project"} & tomllib.loads(block).keys()  # those are files of other kinds
]


def test_pages_show_settings() -> None:
    assert len(BLOCKS) > 10


@pytest.mark.parametrize("block", BLOCKS)
def test_settings_of_a_page_are_valid(block: str, tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text(block)
    load(tmp_path).check()
