"""Nested tables as TOML that people can edit: a header for each table, values on a line each.

TOML has no null; keys without a value are left out, and read back as their defaults.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(tables: Mapping[str, Any]) -> str:
    """The text that `tomllib` reads as these tables."""
    return "\n".join(_table((), tables)).strip("\n") + "\n"


def toml_lines(key: str, value: Any) -> list[str]:
    """A key with its value; a list of tables has a line for each."""
    if not _is_tables(value):
        return [f"{_key(key)} = {_value(value)}"]
    return [f"{_key(key)} = [", *(f"    {_value(one)}," for one in value), "]"]


def _table(path: tuple[str, ...], table: Mapping[str, Any]) -> list[str]:
    plain = {key: value for key, value in table.items() if not _is_table(value) and not _is_tables(value)}
    inner = {key: value for key, value in table.items() if _is_table(value)}
    lists = {key: value for key, value in table.items() if _is_tables(value)}
    lines = ["", f"[{_name(path)}]"] if path and (plain or not (inner or lists)) else []
    lines += _lines(plain)
    for key, value in inner.items():
        lines += _table((*path, key), value)
    for key, values in lists.items():
        for value in values:
            lines += ["", f"[[{_name((*path, key))}]]", *_lines(value)]
    return lines


def _lines(table: Mapping[str, Any]) -> list[str]:
    return [f"{_key(key)} = {_value(value)}" for key, value in table.items() if value is not None]


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_tables(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and bool(value) and all(map(_is_table, value))


def _name(path: tuple[str, ...]) -> str:
    return ".".join(map(_key, path))


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _string(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, Mapping):
        inner = (f"{_key(key)} = {_value(one)}" for key, one in value.items() if one is not None)
        return "{" + ", ".join(inner) + "}"
    return "[" + ", ".join(_value(one) for one in value) + "]"


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
