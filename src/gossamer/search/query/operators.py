"""The values of filters: what `site:`, `lang:`, `filetype:`, `pagetype:`, `category:`,
`after:`, `before:` and `sort:` understand.

Each reader gives the value in its one canonical form, or None where it makes no sense of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Literal

import url as whatwg

Kind = Literal["term", "site", "lang", "type", "page_type", "category", "after", "before", "sort"]

FILTERS: dict[str, tuple[Kind, str]] = {
    "site": ("site", "is not a site"),
    "lang": ("lang", "is not a language"),
    "filetype": ("type", "is not a file type"),
    "ext": ("type", "is not a file type"),
    "pagetype": ("page_type", "is not a type of page"),
    "category": ("category", "is not a category"),
    "after": ("after", "is not a date"),
    "before": ("before", "is not a date"),
    "sort": ("sort", "is not an order"),
}
"""Operator → what it filters by, and what is said of a value that makes no sense."""

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE | re.ASCII)
_HOST = re.compile(r"[a-z0-9][a-z0-9_.-]{0,252}|\[[0-9a-f:.]+\]")
_ADDRESS = re.compile(r"[0-9.]+")
_NAME = re.compile(r"\w[\w-]{0,60}")
_CATEGORY = re.compile(r"\w[^\"|()]{0,60}")
_TYPE = re.compile(r"\.?([a-z0-9]{1,10})")
_TYPES = {"htm": "html", "xhtml": "html"}
_YEAR_FIRST = re.compile(r"(\d{4})(?:[-/.](\d\d?)(?:[-/.](\d\d?))?)?", re.ASCII)
_DAY_FIRST = re.compile(r"(?:(\d\d?)\.)?(\d\d?)\.(\d{4})", re.ASCII)
_CHINESE_DATE = str.maketrans("年月", "--", "日")
_LANGUAGES = {
    name: code
    for code, names in {
        "ar": "arabic العربية", "be": "belarusian беларуская", "cs": "czech čeština cz", "de": "german deutsch",
        "en": "english", "es": "spanish español", "fr": "french français", "he": "hebrew עברית iw",
        "hi": "hindi हिन्दी", "it": "italian italiano", "ja": "japanese 日本語 jp", "ko": "korean 한국어",
        "nl": "dutch nederlands", "pl": "polish polski", "pt": "portuguese português", "ru": "russian русский",
        "tr": "turkish türkçe", "uk": "ukrainian українська ua", "zh": "chinese 中文 汉语 漢語 cn",
    }.items()
    for name in names.split()
}  # fmt: skip


def _site(value: str) -> str | None:
    scheme = _SCHEME.match(value)
    rest = value[scheme.end() if scheme else 0 :]
    end = min((found for mark in "/?#" if (found := rest.find(mark)) >= 0), default=len(rest))
    typed, path = rest[:end].removeprefix("*."), rest[end:].partition("#")[0]
    if "@" in typed or "\\" in typed:
        return None
    try:
        parsed = whatwg.URL.parse(f"http://{typed.strip('.')}/")
    except (whatwg.URLError, ValueError):
        return None
    host = (parsed.host_str or "").strip(".")
    if not _HOST.fullmatch(host) or (_ADDRESS.fullmatch(host) and not typed.startswith(host)):
        return None  # 2024 is no address, though browsers read it as one
    port = f":{parsed.port}" if parsed.port not in (None, 443) else ""
    slash = "/" if path.startswith("?") else ""
    return host + port + slash + path.rstrip("/" if "(" in path else "/)")


def _language(value: str) -> str | None:
    name = re.split("[-_]", value.lower())[0]
    return _LANGUAGES.get(name) or (name if len(name) == 2 and name.isascii() and name.isalpha() else None)


def _file_type(value: str) -> str | None:
    match = _TYPE.fullmatch(value.lower())
    return _TYPES.get(match[1], match[1]) if match else None


def _name(value: str) -> str | None:
    return value.lower() if _NAME.fullmatch(value) else None


def _category(value: str) -> str | None:
    """As the index has it; one of several words stands in quotes."""
    return value.lower() if _CATEGORY.fullmatch(value) else None


def _day(value: str) -> str | None:
    """The first day of a year, month or day, as ISO 8601."""
    value = value.translate(_CHINESE_DATE).rstrip("-")
    if match := _YEAR_FIRST.fullmatch(value):
        year, month, day = match.groups()
    elif match := _DAY_FIRST.fullmatch(value):
        day, month, year = match.groups()
    else:
        return None
    try:
        return date(int(year), int(month or 1), int(day or 1)).isoformat()
    except ValueError:
        return None


def _order(value: str) -> str | None:
    return value.lower() if value.lower() in ("date", "relevance") else None


READERS: dict[str, Callable[[str], str | None]] = {
    "site": _site,
    "lang": _language,
    "type": _file_type,
    "page_type": _name,
    "category": _category,
    "after": _day,
    "before": _day,
    "sort": _order,
}
