"""What the documentation's site has beside the pages of `docs/`.

It holds the pages that stand beside `docs/`, and links to them lead to their copies; the colours and the icon of the
search page; a list of the decisions; dark pictures beside the light ones; and buttons that copy of a block of commands
what the tests run of it.
"""

from __future__ import annotations

import html
import posixpath
import re
import sys
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent
sys.path.append(str(ROOT / "tests/docs"))
from doc_commands import commands_of  # noqa: E402 - it is a module of the tests

BESIDE = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "bench/README.md",
          "deploy/README.md", "examples/README.md", "studies/README.md")  # fmt: skip
STATIC = ROOT / "src/gossamer/web/static"
DECISIONS = "decisions/README.md"
_CONSOLE = re.compile(r'<div class="language-console highlight">(.*?)</div>', re.DOTALL)
_CELL = re.compile(r"<td.*?</td>", re.DOTALL)
_PICTURE = re.compile(r'<img [^>]*src="[^"]*pictures/[\w-]+-light\.webp"[^>]*>')
_TAG = re.compile(r"<[^>]+>")
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages beside `docs/`, under `project/`, and the colours and the icon of the search page."""
    for name in BESIDE:
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, f"project/{name}", content=_relinked(text, name, f"project/{name}")))
    files.append(File.generated(config, "theme/colours.css", content=_colours()))
    files.append(File.generated(config, "theme/favicon.svg", content=(STATIC / "favicon.svg").read_text()))
    return files


def _colours() -> str:
    """The product's colours, light and dark, under the names by which the theme switches between the two."""
    light, dark = re.findall(r":root \{(.*?)\}", (STATIC / "colours.css").read_text(encoding="utf-8"), re.DOTALL)
    schemes = {"default": ("light", light), "slate": ("dark", light + dark)}
    return "\n".join(
        f'[data-md-color-scheme="{name}"] {{{names}color-scheme: {kind};\n}}' for name, (kind, names) in schemes.items()
    )


def on_page_markdown(markdown: str, page: Any, files: Files, **_: Any) -> str:
    """Links of the pages in `docs/`."""
    place = page.file.src_uri
    if place == "index.md":
        page.meta["hide"] = ["navigation"]  # all of it is on the page
    if place == DECISIONS:
        markdown += "\n" + _decisions(files)
    return markdown if place.startswith("project/") else _relinked(markdown, f"docs/{place}", place)


def on_page_content(content: str, **_: Any) -> str:
    """Blocks of commands with what their buttons copy, which is the commands without prompts; pictures twice."""
    content = _CELL.sub(lambda cell: cell[0].replace(r"\|", "|"), content)  # the parser leaves the escape in code
    return _PICTURE.sub(_in_both_schemes, _CONSOLE.sub(_with_copy, content))


def _in_both_schemes(picture: re.Match[str]) -> str:
    """A page names the light picture; the site shows the dark one in its place where colours are dark."""
    light, dark = (
        picture[0].replace("<img ", '<img class="when-light" '),
        picture[0].replace("-light.webp", "-dark.webp"),
    )
    return light + dark.replace("<img ", '<img class="when-dark" ')


def _with_copy(block: re.Match[str]) -> str:
    commands = "\n".join(commands_of(html.unescape(_TAG.sub("", block[1]))))
    return block[0].replace(">", f' data-copy="{html.escape(commands)}">', 1) if commands else block[0]


def _decisions(files: Files) -> str:
    """A list of all decisions, by their headings."""
    pages = sorted(file.src_uri for file in files.documentation_pages() if re.match(r"decisions/\d", file.src_uri))
    heads = [(ROOT / "docs" / page).read_text(encoding="utf-8").partition("\n")[0] for page in pages]
    return "\n".join(
        f"- [{head.removeprefix('# ')}]({posixpath.basename(page)})" for head, page in zip(heads, pages, strict=True)
    )


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
