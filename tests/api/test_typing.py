"""Users who check their types see ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gossamer

PROGRAM = """
import asyncio
import gossamer
from gossamer import Page

@gossamer.filter
def no_forums(url: str) -> str | None:
    return None

@gossamer.hook
def press(page: Page) -> dict[str, str] | None:
    return {"category": page.category}

async def main() -> None:
    async with gossamer.crawl("https://a.test/", filters=[no_forums], hooks=[press], strategy=["fit"]) as crawl:
        async for page in crawl:
            reveal_type(page)
    for change in crawl.changes(follow=True):
        reveal_type(change.kind)

reveal_type(gossamer.crawl("https://a.test/").run().search("words")[0].score)
gossamer.crawll("https://a.test/")
raise gossamer.errors.UsageError("it is there")
"""


@pytest.mark.long
def test_the_names_are_typed_and_a_wrong_one_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "program.py"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "MYPYPATH": str(Path(gossamer.__file__).parents[1])},
    )  # fmt: skip
    said = [line.partition(": ")[2] for line in done.stdout.splitlines() if line.startswith("program.py")]
    assert said == [
        'note: Revealed type is "gossamer.api.pages.Page"',
        "note: Revealed type is \"Literal['new'] | Literal['changed'] | Literal['removed']\"",
        'note: Revealed type is "float"',
        'error: Module has no attribute "crawll"  [attr-defined]',
    ], done.stdout
