"""Signs that are names: `c++`, `c#`, `.net`, `__init__`, `operator<<`, `:=`.

The words of a text are letters and digits, so `c++` is `c` to the index, and `:=` nothing at all. People ask for them
by these names. Each is a term of its own beside the stems, once for a text however often it stands there: it tells
which pages have it, and costs one entry.

Most texts have none. So each kind is preceded by a search for characters without which there is none, which takes a
thousandth of the time; and each expression begins with such a character, so that the engine can look for it quickly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_MOST = 64
"""Signs of one text."""
_LONGEST = 500_000
"""Characters of a text that are looked through."""

OPERATORS = frozenset(
    ":= == === != !== <> <= >= <=> << >> <<= >>= <- -> => += -= *= /= %= **= ** && || &= |= ^= ~= =~ !~ :: |> <| &^ "
    "<-> ~> <~ ..= ..<".split()
)
"""What is found without a word beside it."""
_TELLING = "=<>&|*~"
"""Each operator has one of these characters, but for `::`."""
_MOST_PLACES = 64
"""Places of each of them that are looked at."""
_BEFORE = frozenset(["", *" \t\n\r\"'`“”‘’«»(),["])
_AFTER = _BEFORE | frozenset(".:;!?)]")
_OPERATING = frozenset("".join(OPERATORS)) - {"."}
_DOTS = ".."
"""What an operator may begin with, though it often ends a sentence."""
_LONGEST_OPERATOR = 3
_PLUS = re.compile(r"\+\+|#")
_NAME = re.compile(r"(?<![\w+#])[a-z][a-z0-9]{0,15}\Z", re.ASCII | re.IGNORECASE)
_OVERLOADED = re.compile(r"operator ?(\(\)|\[\]|[-=!<>+*/%&|~^]{1,3})")
_DUNDER = re.compile(r"__[a-z0-9]\w{0,40}?__(?!\w)", re.ASCII | re.IGNORECASE)
_DOTTED = re.compile(r"\.[a-z][a-z0-9_-]{1,24}(?!\w|\.\w)", re.ASCII | re.IGNORECASE)


def signs(text: str) -> list[str]:
    """The signs of a text, in small letters, each once."""
    text = text[:_LONGEST]
    found: dict[str, None] = {}
    if "#" in text or ("+" in text and "++" in text):
        found.update((name, None) for name in _with_plus(text))
    if "operator" in text:
        found.update((f"operator{sign}", None) for sign in _OVERLOADED.findall(text))
    if "_" in text and "__" in text:
        found.update((name, None) for name in _standing_alone(_DUNDER, text))
    if " ." in text or "\n." in text or text[:1] == ".":
        found.update((name, None) for name in _standing_alone(_DOTTED, text))
    for hint in _TELLING:
        if hint in text:
            found.update((sign, None) for sign in _operators(text, hint))
    if ":" in text and "::" in text:
        found.update((sign, None) for sign in _operators(text, "::"))
    return list(found)[:_MOST]


def _operators(text: str, hint: str) -> Iterator[str]:
    """The operators with these characters that stand alone."""
    at = text.find(hint)
    for _ in range(_MOST_PLACES):
        if at < 0:
            break
        start, end = at, at + len(hint)
        while start and at - start < _LONGEST_OPERATOR and text[start - 1] in _OPERATING:
            start -= 1
        while end < len(text) and end - at < _LONGEST_OPERATOR and text[end] in _OPERATING:
            end += 1
        if text.endswith(_DOTS, 0, start):
            start -= len(_DOTS)
        sign = text[start:end]
        if sign in OPERATORS and text[max(0, start - 1) : start] in _BEFORE and text[end : end + 1] in _AFTER:
            yield sign
        at = text.find(hint, end)


def _with_plus(text: str) -> Iterator[str]:
    """`c++`, `c#`."""
    for match in _PLUS.finditer(text):
        at, end = match.span()
        name = _NAME.search(text[max(0, at - 17) : at])
        if name is not None and text[end : end + 1] not in ("+", "#"):
            yield name[0].lower() + match[0]


def _standing_alone(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    for match in pattern.finditer(text):
        at = match.start()
        if text[max(0, at - 1) : at] in _BEFORE:
            yield match[0].lower()
