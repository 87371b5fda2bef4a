"""Changes values in a TOML file that a person wrote, and leaves the rest as it is: comments, order, blank lines.

Only what differs is touched, line by line. The result is read again: where it does not say what is wanted, as with
shapes of TOML that nobody uses for settings, the whole file is written anew instead.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from gossamer.operate.configuration.toml_text import toml_lines, toml_text

_HEADER = re.compile(r"\s*\[")


def edited(text: str, wanted: Mapping[str, Any]) -> str:
    """The text with other values."""
    present, lines = tomllib.loads(text), text.splitlines()
    if not text.strip():
        return toml_text(wanted)
    for section in {**present, **wanted}:
        before, after = present.get(section, {}), wanted.get(section, {})
        if not (isinstance(before, Mapping) and isinstance(after, Mapping)):
            return toml_text(wanted)
        for key in {**before, **after}:
            if before.get(key) != after.get(key):
                _set(lines, section, key, after.get(key))
    made = "\n".join(lines) + "\n"
    return made if _says(made, wanted) else toml_text(wanted)


def _says(text: str, wanted: Mapping[str, Any]) -> bool:
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return _filled(found) == _filled(wanted)


def _filled(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Without sections that say nothing."""
    return {name: table for name, table in tables.items() if table != {}}


def _set(lines: list[str], section: str, key: str, value: Any) -> None:
    """Give a key another value, or take it out where that is None."""
    _drop_tables(lines, section, key)
    new = toml_lines(key, value) if value is not None else []
    header = next((at for at, line in enumerate(lines) if re.fullmatch(rf"\s*\[{section}\]\s*(#.*)?", line)), None)
    if header is None:
        lines += ["", f"[{section}]", *new] if new else []
        return
    end = next((at for at in range(header + 1, len(lines)) if _HEADER.match(lines[at])), len(lines))
    for at in range(header + 1, end):
        if re.match(rf"\s*{re.escape(key)}\s*=", lines[at]):
            last = _last_line(lines, at)
            if new:
                new[-1] += _comment(lines[at]) if at == last else ""
            lines[at : last + 1] = new
            return
    # A file that `gossamer init` wrote has every default as a comment: the value goes below its own.
    default = (at for at in range(header + 1, end) if re.match(rf"\s*#\s*{re.escape(key)}\s*=", lines[at]))
    filled = (at for at in range(end - 1, header, -1) if lines[at].strip())
    place = next(default, next(filled, header)) + 1
    lines[place:place] = new


def _drop_tables(lines: list[str], section: str, key: str) -> None:
    """Take out a list that is written as [[section.key]]."""
    header = re.compile(rf"\s*\[\[\s*{section}\.{re.escape(key)}\s*\]\]")
    at = 0
    while at < len(lines):
        if not header.match(lines[at]):
            at += 1
            continue
        end = next((to for to in range(at + 1, len(lines)) if _HEADER.match(lines[to])), len(lines))
        del lines[at:end]


def _last_line(lines: list[str], at: int) -> int:
    """Where a value that begins on a line ends."""
    for last in range(at, len(lines)):
        try:
            tomllib.loads("\n".join(lines[at : last + 1]))
        except tomllib.TOMLDecodeError:
            continue
        return last
    return at


def _comment(line: str) -> str:
    """What stands behind a value."""
    before, mark, words = line.rpartition("#")
    try:
        return f"{before[len(before.rstrip()) :]}#{words}" if mark and tomllib.loads(before) else ""
    except tomllib.TOMLDecodeError:
        return ""
