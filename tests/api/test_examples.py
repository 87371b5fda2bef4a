"""The programs of examples/ do what they say, on a small site."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from api_kit import quick, run, write_settings

from gossamer.testing import FakeWeb

pytestmark = pytest.mark.long

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAMS = {"titles", "read_one_page", "markdown_for_a_model", "broken_links", "keep_in_step", "own_rules"}


def prose(topic: str) -> str:
    return "".join(f"<p>Sentence {n} tells at some length what the {topic} did on that day.</p>" for n in range(9))


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    web = FakeWeb("127.0.135")
    site = web.site("e.test")
    page = '<html lang="en"><head><title>{0}</title></head><body><main><h1>{0}</h1>{1}</main>{2}</body></html>'
    links = '<a href="/news/rocket">Rocket</a> <a href="/missing">Lost</a> <a href="/print/news/rocket">Print</a>'
    site.page("/", page.format("Start", prose("harbour"), links))
    site.page("/news/rocket", page.format("A rocket", prose("rocket") + "<h2>Later</h2>" + prose("second rocket"), ""))
    site.page("/print/news/rocket", page.format("A rocket, printed", prose("printer"), ""))
    with web:
        yield web


@pytest.fixture
def place(web: FakeWeb, tmp_path: Path) -> Path:
    """A folder in which every example crawls quickly."""
    for name in ("titles", "model", "links", "rules", "notebook", "step"):
        write_settings(tmp_path / f"{name}-data", quick(web))
    return tmp_path


def test_there_are_six_and_the_readme_names_them() -> None:
    found = {path.stem for path in EXAMPLES.glob("*.py")}
    assert found == PROGRAMS | {"notebook"}
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"({name}.py)" in readme for name in found)


def test_titles(web: FakeWeb, place: Path) -> None:
    said = run(EXAMPLES / "titles.py", web.url("e.test"), cwd=place)
    assert "A rocket" in said and len(said.splitlines()) == 3


def test_read_one_page(place: Path) -> None:
    (place / "page.html").write_text(f"<html lang=en><title>One</title><article><h1>One</h1>{prose('cat')}</article>")
    said = run(EXAMPLES / "read_one_page.py", "page.html", "https://www.example.org/one", cwd=place)
    assert said.startswith("# One\nlanguage en,") and "Sentence 3" in said


def test_markdown_for_a_model(web: FakeWeb, place: Path) -> None:
    run(EXAMPLES / "markdown_for_a_model.py", web.url("e.test"), "pieces.jsonl", cwd=place)
    rows = [json.loads(line) for line in (place / "pieces.jsonl").read_text(encoding="utf-8").splitlines()]
    later = next(row for row in rows if row["text"].startswith("## Later"))
    assert later["url"] == web.url("e.test", "/news/rocket") and "second rocket" in later["text"]


def test_broken_links(web: FakeWeb, place: Path) -> None:
    said = run(EXAMPLES / "broken_links.py", web.url("e.test"), cwd=place)
    assert said.startswith(f"{web.url('e.test')}: 'Lost' leads to {web.url('e.test', '/missing')}")
    assert len(said.splitlines()) == 1


def test_own_rules_and_keep_in_step(web: FakeWeb, place: Path) -> None:
    said = run(EXAMPLES / "own_rules.py", web.url("e.test"), "rocket", cwd=place)
    assert "A rocket  [news]" in said and "/print/" not in said
    for expected in (2, 0):
        lines = run(EXAMPLES / "keep_in_step.py", "rules-data", "pages.sqlite", cwd=place).splitlines()
        assert len(lines) == expected
    with sqlite3.connect(place / "pages.sqlite") as table:
        assert sorted(title for (title,) in table.execute("SELECT title FROM pages")) == ["A rocket", "Start"]


def test_the_notebook(web: FakeWeb, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cells, one after the other in one namespace, as a notebook runs them."""
    monkeypatch.setenv("SITE", web.url("e.test"))
    said = run(EXAMPLES / "notebook.py", cwd=place)
    assert "shape: (3, 3)" in said and "Factor(" in said
    cells = (EXAMPLES / "notebook.py").read_text(encoding="utf-8").split("\n# %%")
    assert len(cells) > 8 and os.environ["SITE"] and sys.executable
