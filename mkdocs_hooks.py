"""The documentation's site holds what stands beside `docs/`, too: links to it are led to its copy."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent
BESIDE = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "bench/README.md",
          "deploy/README.md")  # fmt: skip
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages beside `docs/`, under `project/`."""
    for name in BESIDE:
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, f"project/{name}", content=_relinked(text, name, f"project/{name}")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links of the pages in `docs/`."""
    place = page.file.src_uri
    return markdown if place.startswith("project/") else _relinked(markdown, f"docs/{place}", place)


def _relinked(markdown: str, source: str, page: str) -> str:
    """The text of the file `source` with its links as they must be on the page `page`."""

    def one(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), found[3]))
        place = _place(target)
        if place is None:
            # A folder or a file of code is no part of the site: only its name stays. What is nowhere is left for
            # the build to complain about.
            return found[2] if (ROOT / target).exists() else found[0]
        return f"{found[1]}[{found[2]}]({posixpath.relpath(place, posixpath.dirname(page) or '.')}{found[4] or ''})"

    return _LINK.sub(one, markdown)


def _place(target: str) -> str | None:
    if target in BESIDE:
        return f"project/{target}"
    inside = PurePosixPath(target)
    if inside.parts[:1] == ("docs",) and (ROOT / target).is_file():
        return str(inside.relative_to("docs"))
    return None
