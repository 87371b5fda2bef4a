"""The page of the docs on the JSON API, from the description that the server itself gives of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gossamer.web.openapi import document
from gossamer.web.views import schema_words

_HEAD = """# API

`gossamer serve` answers these requests with JSON ([how to ask](serve.md#for-programs)). A running server describes
itself at `/api` for people and at `/api/v1/openapi.json` for programs. This page is generated from the code
(`make docs`)."""


def api_page() -> str:
    """All operations and answers as a Markdown page."""
    description = document("Gossamer", "")
    lines = [_HEAD, "", description["info"]["description"]]
    for path, item in description["paths"].items():
        lines += _operation(path, item["get"])
    lines += ["", "## Answers"]
    for name, schema in description["components"]["schemas"].items():
        lines += _answer(name, schema)
    return "\n".join(lines) + "\n"


def _operation(path: str, operation: dict[str, Any]) -> Iterator[str]:
    yield from ("", f"## GET {path}", "", operation["summary"])
    if operation["parameters"]:
        yield from ("", "| parameter | value | meaning |", "|---|---|---|")
        for one in operation["parameters"]:
            yield _row(f"`{one['name']}`", schema_words(one["schema"]) + _default(one), one["description"])
    answer = schema_words(operation["responses"]["200"]["content"]["application/json"]["schema"])
    yield from ("", f"Answer: [{answer}](#{answer.lower()})")


def _default(parameter: dict[str, Any]) -> str:
    if parameter["required"]:
        return ", required"
    default = parameter["schema"].get("default")
    return "" if default in ("", None) else f", default `{str(default).lower()}`"


def _answer(name: str, schema: dict[str, Any]) -> Iterator[str]:
    yield from ("", f"### {name}", "", schema.get("description", ""), "", "| field | type |", "|---|---|")
    for field, value in schema["properties"].items():
        yield _row(f"`{field}`", schema_words(value))


def _row(*cells: str) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"
