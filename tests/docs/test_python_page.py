"""docs/python.md: its reference is that of the code, and its programs use names that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import gossamer
from reference.python_page import rewritten

PAGES = [Path(__file__).parents[2] / name for name in ("docs/python.md", "README.md")]
BLOCKS = [
    pytest.param(block, id=f"{page.name} {number}")
    for page in PAGES
    for number, block in enumerate(
        re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    )
]
KINDS = {
    "page": gossamer.Page, "folder": gossamer.Folder, "change": gossamer.Change, "link": gossamer.Link,
    "result": gossamer.Result,
}  # fmt: skip


def test_the_reference_is_the_one_made_from_the_code() -> None:
    page = PAGES[0].read_text(encoding="utf-8")
    assert page == rewritten(page), "run `make docs`"


def test_every_field_and_method_has_a_sentence() -> None:
    rows = re.findall(r"^\| `.*$", PAGES[0].read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) > 80
    assert [row for row in rows if not re.search(r"` \| \S.* \|$|Error", row)] == []


@pytest.mark.parametrize("block", BLOCKS)
def test_programs_use_what_there_is(block: str) -> None:
    is_coroutine = "async " in block
    compile(f"async def f():\n {block.replace(chr(10), chr(10) + ' ')}" if is_coroutine else block, "block", "exec")
    assert {name for name in re.findall(r"\bgossamer\.(\w+)", block) if name != "Page"} <= set(gossamer.__all__)
    for name, kind in KINDS.items():
        for field in re.findall(rf"\b{name}\.(\w+)", block):
            assert hasattr(kind, field) or field in kind.__dataclass_fields__, f"{name}.{field}"


def test_the_page_names_every_error() -> None:
    page = PAGES[0].read_text(encoding="utf-8")
    errors = {name for name, one in vars(gossamer.errors).items() if isinstance(one, type)} - {"LeaseLost"}
    assert {name for name in errors if f"`{name}`" not in page} == set()
