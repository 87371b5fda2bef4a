"""The shape of a URL: what stays the same in all the pages that one template makes.

`/news/2024/05/17/8812-title?id=5&page=2` has the shape `/news/<n>/<n>/<n>/<n>-title?id&page`.
The frontier counts the URLs of a site by shape, and thousands of one shape without a
useful page among them are a trap that no single URL gives away.

- a run of digits becomes `<n>`; a date is a few such runs;
- a word of eight or more characters that mixes digits into its letters (a random id), or has
  twelve hexadecimal digits in a row, becomes `<id>`, and so does a UUID with its hyphens;
- of the query only the names stay, sorted, each once: the same facets in another order
  are the same shape;
- scheme and host are left out: shapes are counted within a site.

`<` and `>` cannot stand in a canonical path, so a placeholder is never taken for text.
Long words without digits stay: most of them are titles, not ids.
"""

from __future__ import annotations

import re

_NUMBER = re.compile("[0-9]+")
_MIXED = re.compile("[0-9][A-Za-z]+[0-9]|(?![0-9]{12})[0-9a-fA-F]{12}")
_WORD = re.compile("[A-Za-z0-9]{8,}")
_UUID = re.compile("[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_ESCAPED = re.compile("(?:%[0-9A-F]{2})+")
_VALUE = re.compile("=[^&]*")


def path_shape(url: str) -> str:
    """The shape of a canonical URL's path and query."""
    path, mark, query = url[url.find("/", 8) :].partition("?")
    path = _shape_around_escapes(path) if "%" in path else _shape(path)
    return f"{path}?{_names(query)}" if mark else path


def _shape(text: str) -> str:
    if _MIXED.search(text):
        text = _WORD.sub(_word, _UUID.sub("<id>", text))
    return _NUMBER.sub("<n>", text)


def _word(match: re.Match[str]) -> str:
    return "<id>" if _MIXED.search(match[0]) else match[0]


def _shape_around_escapes(path: str) -> str:
    """The digits of `%D1%82` are half a letter, not a number."""
    pieces: list[str] = []
    end = 0
    for match in _ESCAPED.finditer(path):
        pieces += (_shape(path[end : match.start()]), match[0])
        end = match.end()
    return "".join(pieces) + _shape(path[end:])


def _names(query: str) -> str:
    names = _VALUE.sub("", query)
    return "&".join(sorted(set(names.split("&")))) if "&" in names else names
