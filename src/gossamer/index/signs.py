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
    ":= == === != !== <> <= >= <=> << >> <<= >>= <- -> => ++ -- += -= *= /= %= **= ** // && || &= |= ^= ~= =~ !~ :: |> "
    "<| ?? ?. ..< &^ <-> ~> <~ @@ %%".split()
)
"""What is found without a word beside it."""
_OPERATORS = frozenset(sign.encode() for sign in OPERATORS)
_HINTS = "=<>&|*~"
_AROUND = bytes(32 if chr(code) in "\"'`(),;[]{}" else code for code in range(256))
_BEFORE = frozenset(" \t\n\r\"'`“”‘’«»(),[")
_PLUS = re.compile(r"\+\+|#")
_NAME = re.compile(r"(?<![\w+#])[a-z][a-z0-9]{0,15}\Z", re.ASCII | re.IGNORECASE)
_OVERLOADED = re.compile(r"operator ?(\(\)|\[\]|[-=!<>+*/%&|~^,]{1,3})")
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
    if any(hint in text for hint in _HINTS) or text in OPERATORS:
        cut = text.encode("utf-8", "replace").translate(_AROUND).split()
        found.update((sign.decode(), None) for sign in sorted(_OPERATORS.intersection(cut)))
    return list(found)[:_MOST]


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
        if not at or text[at - 1] in _BEFORE:
            yield match[0].lower()
