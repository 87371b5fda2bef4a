"""The pictures of README and docs can be taken anew at any time."""

from __future__ import annotations

import re
from pathlib import Path

import pictures
from PIL import Image
from playwright.sync_api import Browser

ROOT = Path(__file__).parents[2]


def test_every_picture_is_taken_from_the_running_demo_and_is_of_modest_size(browser: Browser, tmp_path: Path) -> None:
    taken = pictures.take(tmp_path, browser)
    assert sorted(path.stem for path in taken) == sorted(
        f"{n}-{s}" for n in pictures.PICTURES for s in pictures.SCHEMES
    )
    for path in taken:
        with Image.open(path) as picture:
            assert picture.size == (1280, 800)
            brightness = picture.convert("L").resize((1, 1)).getpixel((0, 0))
        assert path.stat().st_size < pictures.MOST_BYTES
        assert isinstance(brightness, int) and (brightness < 90) is path.stem.endswith("-dark"), path


def test_the_stored_pictures_are_those_that_the_script_takes_and_all_are_used() -> None:
    stored = {path.stem: path for path in (ROOT / "docs/pictures").glob("*.webp")}
    assert set(stored) == {f"{name}-{scheme}" for name in pictures.PICTURES for scheme in pictures.SCHEMES}
    assert all(path.stat().st_size < pictures.MOST_BYTES for path in stored.values())
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    used = {name for page in pages for name in re.findall(r"pictures/([\w-]+)-light\.webp\)", page.read_text("utf-8"))}
    assert used == set(pictures.PICTURES)
