"""The documentation as a website: it builds without a complaint, is complete, and loads nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PARTS = ["Home", "Tutorials", "How-to", "Reference", "Explanation", "Studies", "Decisions"]
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "object": "data"}
"""What a browser fetches by itself, unlike what a link leads to."""


class _Loaded(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if named.get("rel") != "canonical" and (address := named.get(LOADED.get(tag, ""))):
            self.addresses.append(address)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built in strict mode: a page outside the navigation, a dead link or anchor would be an error."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, timeout=280,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return folder


def pages(entry: Any) -> list[str]:
    """All pages of a part of the navigation."""
    if isinstance(entry, str):
        return [entry]
    return [page for one in (entry.values() if isinstance(entry, dict) else entry) for page in pages(one)]


def navigation() -> list[Any]:
    return list(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])


def test_every_page_has_a_place_in_one_of_the_parts() -> None:
    nav = navigation()
    assert [next(iter(part)) for part in nav] == PARTS
    listed = pages(nav)
    assert len(listed) == len(set(listed))
    docs = ROOT / "docs"
    written = {str(page.relative_to(docs)) for page in docs.rglob("*.md")}
    fragments = {name for name in written if re.fullmatch(r"studies/\w+/(?!README).*", name)}  # tables of a study
    assert written - fragments == {name for name in listed if not name.startswith("project/")}


def test_the_first_page_leads_to_every_other() -> None:
    """Studies and decisions have lists of their own."""
    docs = ROOT / "docs"
    found = re.findall(r"\]\(([^)#:]+)", (docs / "index.md").read_text(encoding="utf-8"))
    linked = {(docs / one).resolve() for one in found}
    listed = {
        ROOT / name.removeprefix("project/") if name.startswith("project/") else docs / name
        for name in pages(navigation())
        if name != "index.md" and not re.match(r"decisions/|studies/\w+/", name)
    }
    assert listed - linked == set()


def test_every_page_of_the_navigation_is_built(site: Path) -> None:
    for name in pages(navigation()):
        built = re.sub(r"README\.md$", "index.md", name).removesuffix(".md") + ".html"
        assert "<h1" in (site / built).read_text(encoding="utf-8"), built


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    built = sorted(site.rglob("*.html"))
    assert len(built) > 40
    for page in built:
        loaded = _Loaded()
        loaded.feed(page.read_text(encoding="utf-8"))
        assert loaded.addresses, page
        assert [one for one in loaded.addresses if re.match(r"(\w+:)?//", one)] == [], page
    for style in site.rglob("*.css"):
        assert re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^)\"';]+", style.read_text()) == [], style


def test_what_is_hidden_in_a_page_is_not_shown(site: Path) -> None:
    """Set-up for the tests stands in comments, which a browser must not show."""
    for page in site.rglob("*.html"):
        text = re.sub(r"<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert re.findall(r"&lt;!-- (?:run|not run|file|stop)\b.*", text) == [], page


def test_no_cell_of_a_table_shows_the_escape_of_its_bars(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert re.findall(r"<td[^>]*>[^\n]*\\\|.*", page.read_text(encoding="utf-8")) == [], page
