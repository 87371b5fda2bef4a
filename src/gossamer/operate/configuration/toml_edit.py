"""Changes values in a TOML file that a person wrote and keeps the rest: comments, order, blank lines.

Only values that differ are touched. The result is read again; if it does not say what is wanted, the whole file is
written anew. TOML has no null: a key whose value is None is left out, and reads back as its default.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

import tomli_w
import tomlkit

_HEADER = re.compile(r"\s*\[([\w-]+)\]\s*(#.*)?")
_DEFAULT = re.compile(r"\s*#\s*([\w-]+)\s*=")


def toml_text(tables: Mapping[str, Any]) -> str:
    """The text that `tomllib` reads as these tables."""
    return tomli_w.dumps(_without_null(tables))


def edited(text: str, wanted: Mapping[str, Any]) -> str:
    """The text with the new values."""
    present, tables = tomllib.loads(text), _without_null(wanted)
    try:
        made = _changed(_with_places(text, present, tables), tables)
    except Exception:  # tomlkit raises an IndexError, say, if a table is written in two places
        return toml_text(tables)
    return made if text.strip() and _says(made, tables) else toml_text(tables)


def _changed(text: str, wanted: dict[str, Any]) -> str:
    document = tomlkit.parse(text)
    _change(document, {name: {} for name in document} | wanted)
    _drop_uncommented(document, [name for name in document if name not in wanted])
    return tomlkit.dumps(document)


def _with_places(text: str, present: dict[str, Any], wanted: dict[str, Any]) -> str:
    """`gossamer init` writes every default as a comment: a new value gets a line below its default."""
    lines: list[str] = []
    missing: set[str] = set()
    for line in text.split("\n"):
        lines.append(line)
        if header := _HEADER.fullmatch(line):
            missing = set(wanted.get(header[1], ())) - set(present.get(header[1], ()))
        elif (default := _DEFAULT.match(line)) and default[1] in missing:
            missing.remove(default[1])
            lines.append(f"{default[1]} = 0")
    return "\n".join(lines)


def _change(table: Any, wanted: Mapping[str, Any]) -> None:
    for key in [key for key in table if key not in wanted]:
        del table[key]
    for key, value in wanted.items():
        if isinstance(value, Mapping) and isinstance(table.get(key), Mapping):
            _change(table[key], value)
        elif key not in table or table[key] != value:
            table[key] = _item(value)


def _drop_uncommented(document: Any, emptied: list[str]) -> None:
    """A section that is not wanted keeps its comments and loses its values."""
    for name in emptied:
        if "#" not in tomlkit.dumps(document[name]):
            del document[name]


def _item(value: Any) -> Any:
    """A list of tables inline, a line for each: [[headers]] would end the section."""
    if not (isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value)):
        return value
    rows = tomlkit.array()
    rows.extend(tomlkit.inline_table() | one for one in value)
    return rows.multiline(True)


def _says(text: str, wanted: Mapping[str, Any]) -> bool:
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return _filled(found) == _filled(wanted)


def _filled(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Drop empty sections."""
    return {name: table for name, table in tables.items() if table != {}}


def _without_null(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_null(one) for key, one in value.items() if one is not None}
    return [_without_null(one) for one in value] if isinstance(value, (list, tuple)) else value
