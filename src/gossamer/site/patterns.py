r"""Patterns that tell pages by the path and query of their URL, in time that cannot explode
(`model/expressions.py`).

Two ways to write one:

- a template begins with `/` and is compared with the whole path and query, letter by letter,
  but for placeholders: `/news/{year}/{month}/{id}-{slug}.html`. Letters beyond ASCII may be
  written as they are read: they are escaped as in canonical URLs;
- a regular expression begins with `^` and is compared from the start of the path; it need not
  reach the end unless it ends with `$`: `^/(news|blog)/\d+`.

A URL is looked at up to `MAX_CHARS` characters; a longer one matches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote

from gossamer.errors import UsageError
from gossamer.model.expressions import MAX_PATTERN, ExpressionError, Expressions

MAX_CHARS = 2000
"""Characters of path and query that are looked at; longer ones match nothing."""

PLACEHOLDERS = {
    "year": "(?:19|20)[0-9][0-9]",
    "month": "(?:0[1-9]|1[0-2]?|[2-9])",
    "day": "(?:0[1-9]|[12][0-9]?|3[01]?|[4-9])",
    "id": "[0-9]+",
    "slug": "[^/?]+",
    "any": ".*",
}
"""What may stand in braces in a template; `slug` is one part of a path, after the question mark one value."""
_VALUE = "[^&]+"

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_ASCII = "".join(map(chr, range(0x21, 0x7F)))


def compile_patterns(patterns: Iterable[str]) -> Expressions:
    """Patterns ready to be compared; `UsageError` where one is wrong or too large."""
    try:
        return Expressions([_expression(pattern) for pattern in patterns], from_start=True)
    except ExpressionError as error:
        raise UsageError(str(error)) from None


def _expression(pattern: str) -> str:
    if len(pattern) > MAX_PATTERN:
        raise UsageError(f"a pattern of {len(pattern)} characters: the limit is {MAX_PATTERN}")
    if pattern.startswith("/"):
        return _from_template(pattern)
    if pattern.startswith("^"):
        return pattern
    raise UsageError("a pattern begins with / (a template) or with ^ (a regular expression)")


def path_and_query(url: str) -> str:
    """The part of a canonical URL that patterns are compared with."""
    start = url.find("/", 8)
    return url[start:] if start > 0 else "/"


def _from_template(template: str) -> str:
    pieces = ["^"]
    end = 0
    for found in _PLACEHOLDER.finditer(template):
        name = found[1]
        if name not in PLACEHOLDERS:
            known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
            raise UsageError(f"there is no {found[0]}: known are {known}")
        in_query = "?" in template[: found.start()]
        pieces += (
            _literal(template[end : found.start()]),
            _VALUE if name == "slug" and in_query else PLACEHOLDERS[name],
        )
        end = found.end()
    return "".join((*pieces, _literal(template[end:]), "$"))


def _literal(text: str) -> str:
    return re.escape(quote(text, safe=_ASCII))
