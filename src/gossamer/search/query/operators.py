"""The operators of the query language, one row each: `OPERATORS` at the end of this file.

Parsing, the query for the index, facets, API parameters, filters beside the results, saved queries and the table of
`docs/query.md` all work from these rows. An operator that is chosen beside the words is also a field of
`results.Request`, and one that is counted a field of `results.Facets`: their order is that of the API's JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Literal

import msgspec
import url as whatwg

from gossamer.index import schema
from gossamer.index.document import place
from gossamer.parse.document_types import of_ending

Kind = Literal["words", "value", "page", "from", "until", "order"]
"""What an operator does: looks for words in one field, keeps pages that have a value or are like a page, sets an end to
a span of days, orders. Several values are alternatives; ends narrow the span."""
Field = Literal["any", "title", "url"]
"""Where words are looked for."""


class Facet(msgspec.Struct, frozen=True):
    """How results spread over the values of an operator."""

    name: str
    """In the API's JSON."""
    field: str
    """Of the index."""
    counted: str
    """What is counted, in the plural."""
    everything: str = ""
    """What the page of results calls the choice of all values."""
    most: int = 12
    """Values that are counted."""
    shown: int = 8
    """Values that the page of results offers."""
    in_order: bool = False
    """Whether the values are numbers and listed by size; else the most frequent comes first."""


class Chosen(msgspec.Struct, frozen=True):
    """A value chosen beside the words: a parameter of the API, and a field of `Request`."""

    name: str
    sentence: str
    label: str
    """What a saved query calls it."""
    pattern: str = ""
    longest: int = 0
    lower: bool = False
    """Whether the index has it in small letters."""


class Operator(msgspec.Struct, frozen=True, kw_only=True):
    """One operator."""

    name: str
    aliases: tuple[str, ...] = ()
    kind: Kind = "value"
    field: str
    """Of the index."""
    noun: str = ""
    """What its value is, for people."""
    read: Callable[[str], str | None] = str
    """Typed text → the value in its one canonical form; None where it makes no sense."""
    takes_spaces: bool = False
    """Whether a value in quotes may have several words."""
    spell: Callable[[str], str] = str
    """Canonical value → as the index has it."""
    words_in: Field = "any"
    facet: Facet | None = None
    chosen: Chosen | None = None
    examples: tuple[tuple[str, str], ...]
    """Rows of `docs/query.md`: typed, and which pages it finds."""

    @property
    def heading(self) -> str:
        """What the page of results writes above its values."""
        return self.noun.partition(" ")[2].capitalize()


_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE | re.ASCII)
_HOST = re.compile(r"[a-z0-9][a-z0-9_.-]{0,252}|\[[0-9a-f:.]+\]")
_ADDRESS = re.compile(r"[0-9.]+")
_NAME = re.compile(r"\w[\w-]{0,60}")
_CATEGORY = re.compile(r"\w[^\"|()]{0,60}")
_TYPE = re.compile(r"\.?([a-z0-9]{1,10})")
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
    known = of_ending(match[1]) if match else None
    return known.name if known is not None else match[1] if match else None


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


def _page(value: str) -> str | None:
    """As typed: the index is asked for several spellings of it."""
    is_address = "://" in value or "." in value.partition("/")[0]
    return value if is_address and _site(value) and '"' not in value else None


def _order(value: str) -> str | None:
    return value.lower() if value.lower() in ("date", "relevance") else None


OPERATORS = (
    Operator(
        name="site", field=schema.WITHIN, noun="a site", read=_site, spell=place,
        facet=Facet("sites", schema.SITE, "sites", "All sites"),
        chosen=Chosen(
            "site", "Only pages of this host and the hosts below it.", "site", r"[A-Za-z0-9_.:\[\]-]+", longest=253
        ),
        examples=(
            ("`site:example.org`", "of this host and the hosts below it"),
            ("`site:example.org/docs`", "of this host, at `/docs` itself and below it"),
        ),
    ),
    Operator(
        name="intitle", kind="words", field=schema.TITLE, words_in="title",
        examples=(('`intitle:rocket` `intitle:"rocket engine"`', "with the word or phrase in the title"),),
    ),
    Operator(
        name="inurl", kind="words", field=schema.ADDRESS, words_in="url",
        examples=(("`inurl:docs`", "with the word in the address"),),
    ),
    Operator(
        name="lang", field=schema.LANG, noun="a language", read=_language,
        facet=Facet("languages", schema.LANG, "languages", "All languages"),
        chosen=Chosen(
            "lang", "Only pages in this language (ISO 639-1).", "language", r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})?"
        ),
        examples=(("`lang:ru` `lang:russian` `lang:русский`", "in Russian"),),
    ),
    Operator(
        name="filetype", aliases=("ext",), field=schema.TYPE, noun="a file type", read=_file_type,
        examples=(("`filetype:pdf` `ext:docx`", "that are PDF files, or Word documents"),),
    ),
    Operator(
        name="pagetype", field=schema.PAGE_TYPE, noun="a type of page", read=_name,
        facet=Facet("page_types", schema.PAGE_TYPE, "types of page", "All types"),
        chosen=Chosen(
            "page_type", "Only pages of this type, such as article or forum.", "type", r"\w[\w-]*", longest=61,
            lower=True,
        ),
        examples=(
            (
                "`pagetype:forum`",
                "of this type: `article`, `collection`, `documentation`, `forum`, `listing`, `product`, `service`",
            ),
            ("`rocket -pagetype:listing`", "with rocket, but no lists of links"),
        ),
    ),
    Operator(
        name="category", field=schema.CATEGORY, noun="a category", read=_category, takes_spaces=True,
        facet=Facet("categories", schema.CATEGORY, "categories", "All categories", most=20, shown=12),
        chosen=Chosen("category", "Only pages of this category.", "category", longest=200, lower=True),
        examples=(
            (
                '`category:sport` `category:"local news"`',
                "of this category, if the operator has [rules](rules.md) or a classifier for it",
            ),
        ),
    ),
    Operator(
        name="like", kind="page", field=schema.BODY_STEMS, noun="the address of a page", read=_page,
        examples=(
            (
                "`like:https://example.org/rockets`",
                "like this one: in its language, with words that tell it from others",
            ),
        ),
    ),
    Operator(
        name="after", kind="from", field=schema.DATE, noun="a date", read=_day,
        facet=Facet("years", schema.YEAR, "years", most=100, in_order=True),
        examples=(("`after:2024-05-17`", "dated 17 May 2024 or later"),),
    ),
    Operator(
        name="before", kind="until", field=schema.DATE, noun="a date", read=_day,
        examples=(
            ("`before:2024-05-17`", "dated 16 May 2024 or earlier"),
            ("`after:2024 before:2025`", "dated 2024"),
        ),
    ),
    Operator(
        name="sort", kind="order", field=schema.DATE, noun="an order", read=_order,
        examples=(("`rocket sort:date`", "with rocket, newest first"),),
    ),
)  # fmt: skip
"""In the order in which a query is written in its canonical form."""

BY_NAME = {name: operator for operator in OPERATORS for name in (operator.name, *operator.aliases)}
CHOSEN = {operator.chosen.name: operator for operator in OPERATORS if operator.chosen}
FACETS = {operator.facet.name: operator.facet for operator in OPERATORS if operator.facet}
NARROWING = tuple(f"{operator.name}:" for operator in OPERATORS if operator.kind != "order")
"""What sentences about queries name."""
