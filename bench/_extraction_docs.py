"""Documentation pages of Debian packages, whose main text is known from their templates.

What the generators of documentation put around a text is marked by the template, so the truth needs no
annotation: the element that holds the text, without what the template puts into it for navigation.

| package | text | without |
|---|---|---|
| python3.11-doc, cmake-doc (Sphinx) | `div[role=main]` | the `¶` anchors |
| postgresql-doc-15 (DocBook) | `body` | `.navheader`, `.navfooter`, `.toc` |
| gimp-help-ru (DocBook, Russian) | `body` | `.navheader`, `.navfooter`, `.toc` |
| rust-doc (rustdoc, mdBook) | `#main-content`, `main` | buttons, `.anchor`, `.doc-anchor` |
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
from turbohtml import parse

from _data import DOCUMENTATION
from _extraction_data import Sample

_SHORTEST = 200
"""Characters a page's text must have: shorter ones are redirections and empty indices."""


class Template(msgspec.Struct, frozen=True):
    """How a generator of documentation marks the text."""

    name: str
    folder: str
    text: str
    without: str


TEMPLATES = (
    Template("python", "python3.11-doc/html", "div[role=main]", "a.headerlink"),
    Template("cmake", "cmake-doc/html", "div[role=main]", "a.headerlink"),
    Template("postgresql", "postgresql-doc-15/html", "body", ".navheader,.navfooter,.toc"),
    Template("gimp-ru", "gimp-help-ru/html", "body", ".navheader,.navfooter,.toc"),
    Template(
        "rust", "rust-web-doc/html", "#main-content,main", "button,.anchor,.doc-anchor,.out-of-band,.nav-chapters"
    ),
)


def doc_samples(pages: int) -> Iterator[Sample]:
    """Up to `pages` pages of each package that is installed, spread evenly over it."""
    for template in TEMPLATES:
        files = sorted((DOCUMENTATION / template.folder).resolve().rglob("*.html"))
        taken = 0
        for file in files[:: max(len(files) // (2 * pages), 1)]:
            sample = _sample(template, file)
            if sample is not None and taken < pages:
                taken += 1
                yield sample


def _sample(template: Template, file: Path) -> Sample | None:
    html = file.read_bytes()
    document = parse(html.decode("utf-8", "replace"))
    found = document.select(template.text)
    if not found:
        return None
    for part in found[0].select(f"script,style,{template.without}"):
        part.extract()
    truth = found[0].to_text()
    if len(truth) < _SHORTEST:
        return None
    url = f"https://docs.example/{template.folder}/{file.name}"
    return Sample(f"{template.name}/{file.name}", url, template.name, template.name, html, truth)
