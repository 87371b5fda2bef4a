r"""Refuses selectors that could take minutes on a hostile page, by what they mean and not by how they are spelled.

A selector is read as CSS reads it first: strings and comments are no part of it, and an escape stands for its character
(`:h\61s(` is `:has(`). Refused is what took longest on pages of 250,000 elements, flat, deep and mixed, and hardly
anybody needs:

- two `:has()`, or counting (`:nth-…()`) inside other parentheses: each asks the whole page for each element;
- parts inside parentheses that are joined by a space or `~`: each element looks at all around it.

This spares people a wait. What bounds the time are the limits of the processes in which selectors run: some that pass
(`p:nth-of-type(2n) ~ p:nth-of-type(3n)`) still take minutes on a page made for them.
"""

from __future__ import annotations

import re

from gossamer.errors import UsageError

_SPELLING = re.compile(
    r"""/\*.*?(?:\*/|$) | "(?:\\.|[^"\\])*"? | '(?:\\.|[^'\\])*'? | \\(?P<code>[0-9a-f]{1,6})\s? | \\(?P<letter>.)""",
    re.S | re.I | re.X,
)
_ATTRIBUTE = re.compile(r"\[[^\]]*\]")
_AROUND = re.compile(r"\s*([(),>+~])\s*")
_COUNTED = re.compile(r"(:nth-[\w-]+\()[^()]*?\sof\s", re.I)
_PIECE = re.compile(r"(?P<opened>:[\w-]*)?\(|\)|(?P<lead>(?<=[(,])[>+~])|(?P<join>[\s~])")

_TWICE = ":has() may stand in a selector once: two can take minutes on a hostile page"
_NESTED = "{}() may not stand inside other parentheses, nor hold any: this can take minutes on a hostile page"
_JOINED = (
    "inside parentheses, parts may be joined by > and + only: a space or ~ can take minutes on a hostile page "
    "(for :has(ul li) write :has(li))"
)


def check_cost(selector: str) -> None:
    """`UsageError` where a selector could take minutes."""
    text = _COUNTED.sub(r"\1", _AROUND.sub(r"\1", _ATTRIBUTE.sub("[]", as_read(selector).strip())))
    around: list[str] = []
    for found in _PIECE.finditer(text):
        if found[0].endswith("("):
            around.append((found["opened"] or "").lower())
            counting = [name for name in around if name.startswith(":nth-")]
            if counting and len(around) > 1:
                raise UsageError(_NESTED.format(counting[0]))
        elif found[0] == ")":
            around = around[:-1]
        elif found["join"] and around:
            raise UsageError(_JOINED)
    if text.lower().count(":has(") > 1:
        raise UsageError(_TWICE)


def as_read(selector: str) -> str:
    """The selector without comments and strings; an escaped character that no name can hold is a letter."""
    return _SPELLING.sub(_read, selector)


def _read(found: re.Match[str]) -> str:
    if found["code"] is None and found["letter"] is None:
        return ""
    character = found["letter"] or chr(min(int(found["code"], 16), 0x10FFFF))
    return character if character.isascii() and (character.isalnum() or character == "-") else "_"
