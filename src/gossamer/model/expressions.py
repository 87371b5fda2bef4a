r"""Regular expressions that people write, matched in time that grows with the text only as its length.

Python's own engine goes back and tries again: `([^-]*[^-][^-]*-){9}` keeps it busy for years. RE2 follows all ways at
once. It has no look-around, back-references, atomic groups or possessive repetitions, which no engine of
this kind can have; whoever writes one is told what to write instead.

An expression may become `LARGEST` instructions. This bounds the time (some 30 ms for 2,000 hostile
characters) and, with `_MEMORY`, rules out the one case in which a set of expressions would answer "no match" because
it ran out of memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import re2

MAX_PATTERN = 500
"""Characters of a pattern that a person writes, in a rule or a filter."""
LARGEST = 2000
"""Instructions that an expression may become: `.` takes 9, a letter 1, and `{100}` a hundred times as many."""
_TOGETHER = 2 * LARGEST
"""Instructions of the expressions that are compiled into one set."""
_MEMORY = 8 << 20
"""Bytes that a set may use while it matches; twenty times what one step of the largest needs."""

_IN_PYTHON = re.compile(r"\\Z|\{,(?=\d+\})|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.S)
"""What RE2 spells in another way, between escapes and classes, which stay as they are."""
_IN_RE2 = {r"\Z": r"\z", "{,": "{0,"}
_ENDLESS = re.compile(r"(?<!\\)\{\d*,?\d{9}")
_INSTEAD = (
    (
        re.compile(r"\(\?<?[=!]|\(\?<$"),
        "look-ahead and look-behind ({}) cannot be used: name the exceptions in a pattern of their own "
        "(a rule's not_urls; a filter above this one)",
    ),
    (
        re.compile(r"\\[1-9]$|\(\?P$|\(\?\("),
        "back-references ({}) cannot be used: write out what is repeated, or leave it open with .*",
    ),
    (
        re.compile(r"\(\?>|[*+?}]\+$"),
        "atomic groups and possessive repetitions ({}) are not needed here, matching never goes back: write (?:…) "
        "and leave out the second +",
    ),
    (re.compile(r"\\[uU]$"), r"{} cannot be used: write \x{{…}}, such as \x{{44f}} for \u044f"),
)
"""Constructs of other engines by what RE2 says of them, and what to do without them."""


class ExpressionError(ValueError):
    """An expression is wrong, too large, or uses what this engine does not have; says what to write instead."""


class Expressions:
    """A few expressions that are asked together; one look at a text tells which of them match."""

    def __init__(self, patterns: Sequence[str], from_start: bool) -> None:
        """They match at the start of a text, or anywhere in it. `ExpressionError` where one is wrong or too large."""
        self._sets = list(_sets(patterns, from_start))

    def first(self, text: str) -> int | None:
        """The place of the first expression that matches."""
        for start, together in self._sets:
            found = together.Match(text)
            if found:
                return start + int(min(found))
        return None

    def match(self, text: str) -> bool:
        """Whether any of them matches."""
        return self.first(text) is not None


class Capture:
    """An expression with one group, looked for anywhere in a text: what the group matches is the value."""

    def __init__(self, pattern: str) -> None:
        """`ExpressionError` where it is wrong, too large, or has no group or several."""
        _size(pattern)
        options = _options()
        options.never_capture = False
        self._expression = re2.compile(_as_re2(pattern), options)
        groups = self._expression.groups
        if groups != 1:
            raise ExpressionError(
                f"the expression has {groups or 'no'} groups: put the value, and only that, into (…); "
                "other parentheses begin with (?:"
            )

    def find(self, text: str) -> str:
        """What the group matches first; empty if nothing."""
        found = self._expression.search(text)
        return (found.group(1) or "") if found else ""


def _sets(patterns: Sequence[str], from_start: bool) -> Iterator[tuple[int, re2.Set]]:
    """Sets of expressions in a row that are not too large, each with the place of its first."""
    sizes = [_size(pattern) for pattern in patterns]
    start = 0
    while start < len(patterns):
        end, size = start + 1, sizes[start]
        while end < len(patterns) and size + sizes[end] <= _TOGETHER:
            size, end = size + sizes[end], end + 1
        options = _options()
        together = re2.Set.MatchSet(options) if from_start else re2.Set.SearchSet(options)
        for pattern in patterns[start:end]:
            together.Add(_as_re2(pattern))
        together.Compile()
        yield start, together
        start = end


def _size(pattern: str) -> int:
    """How many instructions it becomes; `ExpressionError` where it is wrong or becomes too many."""
    try:
        size = int(re2.compile(_as_re2(pattern), _options()).programsize)
    except UnicodeEncodeError:
        raise ExpressionError("wrong expression: it holds half a character") from None
    except re2.error as error:
        raise ExpressionError(_explained(_message(error))) from None
    if _ENDLESS.search(pattern):  # RE2 would take the braces for letters
        raise ExpressionError("wrong expression: a repetition is larger than 1000")
    if size > LARGEST:
        raise ExpressionError(f"the expression is too large ({size} steps, the limit is {LARGEST}): repeat less often")
    return size


def _options() -> re2.Options:
    options = re2.Options()
    options.max_mem, options.log_errors, options.never_capture = _MEMORY, False, True
    return options


def _as_re2(pattern: str) -> str:
    return _IN_PYTHON.sub(lambda found: _IN_RE2.get(found[0], found[0]), pattern)


def _message(error: Exception) -> str:
    message = error.args[0] if error.args else ""
    text = message.decode(errors="replace") if isinstance(message, bytes) else str(message)
    return " ".join(text.split())


def _explained(message: str) -> str:
    construct = message.rpartition(": ")[2]
    for form, instead in _INSTEAD:
        if form.search(construct):
            return instead.format(construct)
    return f"wrong expression: {message}"
