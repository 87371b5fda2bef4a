"""How values look: dates, languages, addresses, page numbers. Pure functions for the templates."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from gossamer.model.counts import counted
from gossamer.model.moments import instant
from gossamer.search.results import Alternate, Count

_SAFE = re.compile(r"https?://[^\s/\\?#\x00-\x20]", re.IGNORECASE)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_BETWEEN = re.compile(r"(^|\s)(after|before):\S*", re.IGNORECASE)
_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d).*)?)?)?")

LANGUAGES = {
    "af": "Afrikaans", "ar": "Arabic", "be": "Belarusian", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan",
    "cs": "Czech", "cy": "Welsh", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish",
    "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fr": "French", "ga": "Irish",
    "gl": "Galician", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "hy": "Armenian",
    "id": "Indonesian", "is": "Icelandic", "it": "Italian", "ja": "Japanese", "ka": "Georgian", "kk": "Kazakh",
    "ko": "Korean", "la": "Latin", "lt": "Lithuanian", "lv": "Latvian", "mk": "Macedonian", "ms": "Malay",
    "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian",
    "sk": "Slovak", "sl": "Slovenian", "sq": "Albanian", "sr": "Serbian", "sv": "Swedish", "ta": "Tamil",
    "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "uz": "Uzbek", "vi": "Vietnamese",
    "zh": "Chinese",
}  # fmt: skip
OWN_NAMES = {
    "ar": "العربية", "bg": "Български", "bn": "বাংলা", "ca": "Català", "cs": "Čeština", "da": "Dansk",
    "de": "Deutsch", "el": "Ελληνικά", "en": "English", "es": "Español", "et": "Eesti", "fa": "فارسی",
    "fi": "Suomi", "fr": "Français", "he": "עברית", "hi": "हिन्दी", "hr": "Hrvatski", "hu": "Magyar",
    "id": "Bahasa Indonesia", "it": "Italiano", "ja": "日本語", "ko": "한국어", "lt": "Lietuvių", "lv": "Latviešu",
    "ms": "Bahasa Melayu", "nb": "Norsk bokmål", "nl": "Nederlands", "no": "Norsk", "pl": "Polski",
    "pt": "Português", "ro": "Română", "ru": "Русский", "sk": "Slovenčina", "sl": "Slovenščina", "sr": "Српски",
    "sv": "Svenska", "th": "ไทย", "tr": "Türkçe", "uk": "Українська", "vi": "Tiếng Việt", "zh": "中文",
}  # fmt: skip
"""Languages as their readers call them."""
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def safe_href(url: str) -> str:
    """The address, where a reader may follow it; empty for `javascript:`, `data:` and everything else not http(s)."""
    return url if _SAFE.match(url) and not _CONTROL.search(url) else ""


def language(code: str) -> str:
    """The name of a language; the code itself where it is unknown here."""
    return LANGUAGES.get(code.partition("-")[0].lower(), code)


class AlsoIn(msgspec.Struct, frozen=True):
    """A link to a page in another language."""

    name: str
    tag: str
    """For a `lang` attribute."""
    href: str


def also_in(alternates: Sequence[Alternate], own: str | None) -> list[AlsoIn]:
    """Links to a page in other languages than its `own`, each under the language's own name; with its region if several
    have that name, and by its code if it has none here."""
    safe = [(one.lang.partition("-"), one) for one in alternates if safe_href(one.url)]
    names = [OWN_NAMES.get(code, one.lang) for (code, _, _), one in safe]
    times = Counter([*names, OWN_NAMES.get((own or "").partition("-")[0], "")])
    return [
        AlsoIn(f"{name} ({rest.upper()})" if rest and times[name] > 1 else name, language_tag(one.lang), one.url)
        for name, ((_, _, rest), one) in zip(names, safe, strict=True)
    ]


def language_tag(code: str | None) -> str:
    """A value for a `lang` attribute; empty (unknown) where it is not one."""
    return code if code and re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", code) else ""


def date(text: str | None) -> str:
    """An ISO date for a person, as precise as it is; empty where it is none."""
    match = _DATE.fullmatch(text or "")
    if not match:
        return ""
    year, month, day = match[1], int(match[2] or 0), int(match[3] or 0)
    if not 1 <= month <= 12:
        return year
    return f"{day} {_MONTHS[month - 1]} {year}" if day else f"{_MONTHS[month - 1]} {year}"


def moment(seconds: float) -> str:
    """A time since 1970 for a person; empty where it is unknown."""
    at = instant(seconds)
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}, {at:%H:%M} UTC" if at else ""


def ago(seconds: float) -> str:
    """How long ago something was, in words and one unit; `just now` within the last minute."""
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if count := int(seconds // size):
            return f"{counted(count, unit)} ago"
    return "just now"


def number(count: int) -> str:
    """A count with thousands told apart."""
    return f"{count:,}"


def about(count: int) -> str:
    """An estimated count: three digits of it, the rest is not known."""
    return number(round(count, min(0, 3 - len(str(count)))))


def words_of(name: str) -> str:
    """A name made for programs, such as a type of page, for a person."""
    return name.replace("_", " ").replace("-", " ").capitalize()


def host_name(host: str) -> str:
    """A host for a person: international names in their own script, unless one mixes scripts to deceive."""
    if "xn--" not in host:
        return host
    return ".".join(_label(label) for label in host.split("."))


def _label(label: str) -> str:
    try:
        shown = label.encode("ascii").decode("idna")
    except UnicodeError:
        return label
    scripts = {unicodedata.name(letter, "?").split()[0] for letter in shown if letter.isalpha()}
    # An all-Cyrillic word can still look Latin (`аррӏе`): only words with a letter of their own are shown.
    if len(scripts) != 1 or (scripts == {"CYRILLIC"} and set(shown) <= _LOOKALIKES):
        return label
    return shown


_LOOKALIKES = set("аеорсхуіјѕһԁɡӏԛԝвкмнт0123456789-")


def crumbs(url: str, longest: int = 60) -> tuple[str, tuple[str, ...]]:
    """A readable address: the host, and the parts of its path, shortened in the middle."""
    try:
        split = urlsplit(url)
        host = split.netloc.rpartition("@")[2]
    except ValueError:
        return _CONTROL.sub("�", url)[:longest], ()
    if not host:
        return _CONTROL.sub("�", url)[:longest], ()
    parts = [_CONTROL.sub("�", unquote(part)) for part in split.path.split("/") if part]
    if split.query:
        parts.append("?" + _CONTROL.sub("�", unquote(split.query.replace("+", " "))))
    parts = [part if len(part) <= 40 else part[:39] + "…" for part in parts]
    if len(parts) > 2 and sum(map(len, parts)) > longest:
        parts = [parts[0], "…", parts[-1]]
    return _CONTROL.sub("�", host_name(host)), tuple(parts)


def page_numbers(page: int, pages: int, around: int = 2) -> list[int]:
    """The pages to link: those near this one and both ends, in order; 0 stands for a gap."""
    near = {n for n in range(page - around, page + around + 1) if 1 <= n <= pages}
    shown = sorted(near | {n for n in (1, pages) if 1 <= n <= pages})
    numbers: list[int] = []
    for n in shown:
        if numbers and n - numbers[-1] == 2:
            numbers.append(n - 1)
        elif numbers and n - numbers[-1] > 2:
            numbers.append(0)
        numbers.append(n)
    return numbers


_WORDS = {"site": host_name, "lang": language, "page_type": words_of}


def value_words(value: str, parameter: str) -> str:
    """The value of a filter for a person."""
    return _WORDS.get(parameter, str)(value)


class Bar(msgspec.Struct, frozen=True):
    """One bar of the histogram of years."""

    label: str
    count: int
    height: int
    """From 0 to 100."""
    query: str
    """The query that finds what the bar counts."""


def bars(counts: tuple[Count, ...], query: str, shown: int = 12) -> list[Bar]:
    """The last years without gaps; what is older is in the first of them."""
    by_year = Counter({int(c.value): c.count for c in counts if re.fullmatch(r"[12]\d{3}", c.value)})
    if not by_year:
        return []
    words = _BETWEEN.sub(" ", query).strip()
    last = max(by_year)
    first = last - shown + 1
    older = sum(count for year, count in by_year.items() if year < first)
    heights = [by_year[first] + older] + [by_year[year] for year in range(first + 1, last + 1)]
    # The first bar may hold decades: it must not make all others flat.
    highest = max(heights[1:]) or heights[0]
    found = []
    for year, count in zip(range(first, last + 1), heights, strict=True):
        open_end = older and year == first
        dates = f"before:{year + 1}" if open_end else f"after:{year} before:{year + 1}"
        height = min(max(round(100 * count / highest), 4 if count else 0), 100)
        found.append(Bar(f"{year} and before" if open_end else str(year), count, height, f"{words} {dates}"))
    return found


def schema_words(schema: dict[str, Any]) -> str:
    """A schema in a few words, for the documentation page."""
    if "enum" in schema:
        return "one of " + ", ".join(value or "(empty)" for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(schema_words(part) for part in schema["anyOf"])
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if schema.get("type") == "array":
        return f"list of {schema_words(schema['items'])}" if schema.get("items") else "list"
    words = str(schema.get("type", "anything"))
    if "minimum" in schema and "maximum" in schema:
        words += f", {schema['minimum']} to {schema['maximum']}"
    return words
