"""The reference of the Python API: signatures and first sentences, from the code, for docs/python.md.

`python -m reference.python_page docs/python.md` writes it; a test checks that it is up to date.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gossamer

MARK = "<!-- reference -->"
_ORDER = (
    *("read_page", "crawl", "open", "filter", "strategy", "hook", "reader"),
    *("Crawl", "Folder", "Page", "Link", "Change", "Results", "Result", "Explanation"),
)
_HIDDEN = ("more", "explained")
"""Fields by which a value gets the rest of itself."""


def rewritten(page: str) -> str:
    """A page with the reference as the code has it."""
    return page[: page.index(MARK) + len(MARK)] + "\n\n" + "\n".join(_lines()).rstrip() + "\n"


def _lines() -> Iterator[str]:
    assert set(_ORDER) == set(gossamer.__all__) - {"__version__", "errors"}
    for name in _ORDER:
        value = getattr(gossamer, name)
        yield from (f"### gossamer.{name}", "")
        if isinstance(value, type):
            yield from _of_class(value)
        else:
            yield from _of_function(name, value)


def _of_function(name: str, value: Any) -> Iterator[str]:
    function = _function(value)
    yield from (f"`{name}{_signature(function)}`", "", _first(function.__doc__), "")
    parameters = _parameters(function.__doc__ or "")
    if parameters:
        yield from ("| parameter | |", "|---|---|", *(f"| `{one}` | {words} |" for one, words in parameters), "")


def _of_class(value: type) -> Iterator[str]:
    yield from (_first(value.__doc__), "")
    rows = [*_fields(value), *_properties(value)]
    if rows:
        yield from ("| field | |", "|---|---|", *(f"| `{name}` | {words} |" for name, words in rows), "")
    methods = [*_methods(value)]
    if methods:
        yield from ("| method | |", "|---|---|", *(f"| `{call}` | {words} |" for call, words in methods), "")


def _fields(value: type) -> Iterator[tuple[str, str]]:
    if not dataclasses.is_dataclass(value):
        return
    said = _field_sentences(value)
    for field in dataclasses.fields(value):
        if field.name not in _HIDDEN:
            yield field.name, said.get(field.name, "")


def _field_sentences(value: type) -> dict[str, str]:
    """The docstring under each field."""
    import ast

    body = ast.parse(inspect.getsource(value)).body[0]
    assert isinstance(body, ast.ClassDef)
    found = {}
    for node, after in zip(body.body, body.body[1:], strict=False):
        is_said = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and is_said:
            assert isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            found[node.target.id] = _plain(str(after.value.value))
    return found


def _properties(value: type) -> Iterator[tuple[str, str]]:
    for name, one in vars(value).items():
        made = one.func if hasattr(one, "func") else one.fget if isinstance(one, property) else None
        if made is not None and not name.startswith("_"):
            yield name, _first(made.__doc__)


def _methods(value: type) -> Iterator[tuple[str, str]]:
    for name, one in vars(value).items():
        if inspect.isfunction(one) and not name.startswith("_"):
            yield f"{name}{_signature(one)}", _first(one.__doc__)


def _function(value: Any) -> Any:
    """The function behind `gossamer.crawl`, which is a folder, too."""
    if inspect.isfunction(value):
        return value
    from gossamer.api.crawling import crawl

    return crawl


def _signature(function: Any) -> str:
    """Parameters with their defaults, without types: those are for editors."""
    parts, is_star_written = [], False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not is_star_written:
            parts.append("*")
            is_star_written = True
        if parameter.kind is parameter.VAR_POSITIONAL:
            parts.append(f"*{parameter.name}")
            is_star_written = True
        else:
            default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
            parts.append(f"{parameter.name}{default}")
    return f"({', '.join(parts)})"


def _parameters(text: str) -> list[tuple[str, str]]:
    """The parameters of a docstring that lists them."""
    lines = inspect.cleandoc(text).partition("Parameters\n----------\n")[2].partition("\n\nRaises")[0]
    found = re.findall(r"^(\w+)\n((?:    .+\n?)+)", lines, re.MULTILINE)
    return [(name, _plain(words)) for name, words in found]


def _first(text: str | None) -> str:
    """The first paragraph."""
    return _plain(inspect.cleandoc(text or "").split("\n\n")[0])


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main(path: Path) -> None:
    """Write the reference into a page."""
    path.write_text(rewritten(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
