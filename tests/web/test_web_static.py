"""Style, script and templates: cached well, small, self-contained, and readable in both colour schemes."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

import gossamer.web

FOLDER = Path(gossamer.web.__file__).parent
COLOURS = (FOLDER / "static/colours.css").read_text()
CSS = (FOLDER / "static/site.css").read_text()
CONSOLE = (FOLDER.parent / "console/static/console.css").read_text()
SCRIPT = (FOLDER / "static/search.js").read_text()
TEMPLATES = {path.name: path.read_text() for path in (FOLDER / "templates").iterdir()}

TEXT_PAIRS = [
    ("text", "bg"), ("text", "surface"), ("text", "notice"), ("muted", "bg"), ("muted", "surface"), ("link", "bg"),
    ("link", "surface"), ("link", "notice"), ("visited", "bg"), ("accent", "bg"), ("on-accent", "accent"),
    ("on-mark", "mark"), ("text", "added"), ("text", "removed"), ("link", "removed"), ("link", "added"),
    ("bad", "bg"), ("bad", "surface"), ("warn", "bg"), ("warn", "surface"), ("good", "bg"), ("good", "surface"),
    ("on-bad", "bad"), ("muted", "removed"),
]  # fmt: skip
SHAPE_PAIRS = [
    ("edge", "bg"), ("edge", "surface"), ("accent", "bg"), ("accent", "surface"), ("accent", "removed"),
    *((f"series-{number}", ground) for number in range(6) for ground in ("bg", "surface")),
]  # fmt: skip
"""Borders of controls, bars and the outline of what has the focus."""


def palette(dark: bool) -> dict[str, str]:
    roots = re.findall(r":root\s*{([^}]*)}", COLOURS)
    light, night = (dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6})", root)) for root in roots)
    return {**light, **night} if dark else light


def contrast(one: str, other: str) -> float:
    """Contrast ratio by WCAG 2."""

    def luminance(colour: str) -> float:
        channels = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_contrast_formula_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_colours_that_meet_have_the_contrast_of_wcag_aa(dark: bool) -> None:
    colours = palette(dark)
    for front, back in TEXT_PAIRS:
        assert contrast(colours[front], colours[back]) >= 4.5, (front, back)
    for front, back in SHAPE_PAIRS:
        assert contrast(colours[front], colours[back]) >= 3, (front, back)


def test_both_schemes_name_the_same_colours_and_no_others_are_used() -> None:
    roots = re.findall(r":root\s*{([^}]*)}", COLOURS)
    light, dark = (set(re.findall(r"--([\w-]+):\s*#", root)) for root in roots)
    assert light == dark
    for rules in (re.sub(r":root\s*{[^}]*}", "", COLOURS), CSS, CONSOLE):
        assert not re.search(r"#[0-9a-fA-F]{3,8}\b|rgb|hsl", rules)
        assert set(re.findall(r"var\(--([\w-]+)\)", rules)) <= light | {"radius", "shadow"}


def test_the_style_is_small_and_fetches_nothing() -> None:
    assert len(CSS) < 20_000
    assert "url(" not in CSS and "@import" not in CSS


def test_the_script_is_small_and_writes_no_markup() -> None:
    assert len(SCRIPT) < 10_000
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "http://"):
        assert word not in SCRIPT, word


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_hold_no_inline_script_or_style_and_escape_always(name: str) -> None:
    template = TEMPLATES[name]
    assert not re.search(r"\sstyle=|\son\w+=|<style|javascript:", template)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", template))
    assert not re.search(r"\|\s*safe\b|autoescape", template)
    assert not re.search(r"https?://", template)


def test_motion_is_only_for_those_who_did_not_ask_for_less() -> None:
    outside = re.sub(r"@media \(prefers-reduced-motion: no-preference\) {.*?\n}", "", CSS, flags=re.DOTALL)
    assert "transition" not in outside and "animation" not in outside


def test_static_files_are_kept_by_browsers_as_long_as_they_are_the_same(site: httpx.Client) -> None:
    (address,) = re.findall(r'href="(/static/site\.css[^"]*)"', site.get("/").text)
    response = site.get(address)
    assert response.headers["content-type"] == "text/css; charset=utf-8"
    assert "immutable" in response.headers["cache-control"]
    assert response.text == CSS
    again = site.get(address, headers={"If-None-Match": response.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert "immutable" not in site.get("/static/site.css?v=old").headers["cache-control"]


def test_static_files_come_compressed_to_those_who_can_read_it(site: httpx.Client) -> None:
    packed = site.get("/static/site.css")
    plain = site.get("/static/site.css", headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip" and "content-encoding" not in plain.headers
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) / 2
    assert packed.text == plain.text
    assert site.get("/search?q=orbit").headers["content-encoding"] == "gzip"


@pytest.mark.parametrize("name", ["..%2fapp.py", "%2e%2e/app.py", "site.css%00", "../templates/base.html", "."])
def test_nothing_else_is_served(site: httpx.Client, name: str) -> None:
    assert site.get(f"/static/{name}").status_code == 404


def test_results_are_asked_for_again_each_time(site: httpx.Client) -> None:
    for path in ("/", "/search?q=a", "/api/v1/search?q=a", "/feed.atom?q=a"):
        assert site.get(path).headers["cache-control"] == "no-cache"
