"""JSON-LD as it is found on real pages.

It is written by hand and by template: with comments, CDATA marks, trailing commas, raw newlines
inside strings, HTML entities, several objects in a row. A script is first read strictly, which
takes microseconds; what fails is washed and read once more, leniently, and what then still fails
is nothing.

Size, depth and number of everything are bounded, and nothing here raises.
"""

from __future__ import annotations

import html as entities
import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from gossamer.parse.html import Tree

MAX_SCRIPTS = 40
MAX_SCRIPT_CHARS = 1_000_000
MAX_OBJECTS = 400
_DEPTH = 4
"""Levels of lists, graphs and main entities that are opened."""

_MARKS = re.compile(
    r"<!--|-->|//\s?<!\[CDATA\[|//\s?\]\]>|(?:/\*\s?)?(?:<!\[CDATA\[|\]\]>)(?:\s?\*/)?|^[ \t]{0,200}//.*$", re.M
)
_COMMENTS = re.compile(r"(^|[\[{,])[ \t]{0,200}/\*[^*]{0,2000}\*/", re.M)
_TRAILING = re.compile(r",(?=\s{0,200}[}\]])")
_LENIENT = json.JSONDecoder(strict=False)


def objects_in(tree: Tree) -> list[dict[str, Any]]:
    """The objects at the top of a page's scripts: of lists, of graphs, and main entities of others; never raises."""
    found: list[dict[str, Any]] = []
    for script in _scripts(tree):
        for value in _values(script):
            _open(value, found, 0)
    return found


def _scripts(tree: Tree) -> Iterator[str]:
    for element in tree.select("script[type*=json]")[:MAX_SCRIPTS]:
        if "ld+json" in (element.attr("type") or ""):
            text = element.text
            if len(text) <= MAX_SCRIPT_CHARS:
                yield text


def _values(text: str) -> list[Any]:
    """The JSON values of a script, however it was written."""
    try:
        return [msgspec.json.decode(text)]
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        pass
    text = _MARKS.sub("", text)
    if "&quot;" in text and text.count("&quot;") > text.count('"'):
        text = entities.unescape(text)
    text = _TRAILING.sub("", _COMMENTS.sub(r"\1", text))
    values: list[Any] = []
    position = 0
    while len(values) < MAX_SCRIPTS:
        position = min((at for at in (text.find("{", position), text.find("[", position)) if at >= 0), default=-1)
        if position < 0:
            break
        try:
            value, position = _LENIENT.raw_decode(text, position)
        except (ValueError, RecursionError):
            break
        values.append(value)
    return values


def _open(value: Any, found: list[dict[str, Any]], depth: int) -> None:
    if len(found) >= MAX_OBJECTS or depth > _DEPTH:
        return
    if isinstance(value, list):
        for item in value[:MAX_OBJECTS]:
            _open(item, found, depth + 1)
    elif isinstance(value, dict):
        graph = value.get("@graph")
        if graph is not None:
            _open(graph, found, depth + 1)
        if "@type" in value or "@id" in value:
            found.append(value)
            _open(value.get("mainEntity"), found, depth + 1)
