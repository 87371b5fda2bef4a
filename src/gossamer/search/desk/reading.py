"""The desk's rules as TOML, read and written; the only way in, so everything is checked here.

    stop_words = ["please", "how do i"]

    [[synonym]]
    words = ["bike", "bicycle"]

    [[best_bet]]
    queries = ["opening hours"]
    url = "https://www.example.org/visit"
    until = 2026-12-31

A list of one may be written without brackets. Every mistake is an error that names the file, the line where the entry
begins, the entry and the key.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Iterable
from datetime import date
from typing import Any

import msgspec

from gossamer.errors import UsageError
from gossamer.index.analysis import surface_words
from gossamer.model.decision import Decision
from gossamer.model.fields import CustomField, CustomFields
from gossamer.model.meant import hint
from gossamer.model.url import Canonicalizer
from gossamer.search.desk.rules import KINDS, BestBet, Boost, Collection, Desk, Hidden, Rule, Synonym
from gossamer.search.query.language import parse
from gossamer.search.query.operators import BY_NAME

MAX_BYTES = 4 * 1024 * 1024
"""Size of a file."""
MAX_RULES = {"synonym": 5_000, "best_bet": 5_000, "hidden": 500, "boost": 10, "collection": 100}
"""Rules of each kind. Hidden pages and boosts act on every query, so there are few."""
MAX_STOP_WORDS = 500
MAX_PHRASES = 20_000
"""Words and queries of all rules together: to make so many ready takes a server a second."""
MAX_LIST = 50
"""Entries of a list."""
MAX_WORDS = 6
"""Words of a phrase."""
LONGEST = 2_000
"""Characters of a text."""
TIMES = (0.1, 10.0)
"""How weak and how strong a boost may be."""

_LISTS = ("words", "finds", "queries", "sites")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_OWN = re.compile(r"(?:^|[ (-])([a-z][a-z0-9_-]{0,29}):(?=[^ /])")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


def read_desk(text: str, source: str, canonical: Callable[[str], str] | None = None) -> Desk:
    """The rules in a TOML document, checked; `source` is how messages call it, `canonical` makes the URL of a page as
    the index knows it."""
    try:
        document = tomllib.loads(text.replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{source} is not TOML: {error}") from None
    for key in document:
        if key not in Desk.__struct_fields__:
            raise UsageError(f"{source}: unknown key {key!r}: {hint(key, Desk.__struct_fields__)}")
    found: dict[str, Any] = {"stop_words": _stop_words(document.get("stop_words", []), source)}
    for kind in KINDS:
        tables = document.get(kind, [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise UsageError(f"{source}: {kind}: write [[{kind}]] before each entry")
        lines = _lines(text, kind)
        found[kind] = tuple(
            _rule(kind, table, _where(source, kind, number, lines)) for number, table in enumerate(tables, 1)
        )
    return checked(Desk(**found), source, canonical)


def checked(desk: Desk, source: str, canonical: Callable[[str], str] | None = None) -> Desk:
    """The rules, if they go together; an error else. URLs and sites get their canonical form."""
    urls = canonical or _canonical
    _check_phrases("stop_words", desk.stop_words, source)
    if len(desk.stop_words) > MAX_STOP_WORDS:
        raise UsageError(f"{source}: stop_words has {len(desk.stop_words)} entries: the limit is {MAX_STOP_WORDS}")
    found: dict[str, Any] = {"stop_words": tuple(dict.fromkeys(desk.stop_words))}
    for kind in KINDS:
        rules = getattr(desk, kind)
        if len(rules) > MAX_RULES[kind]:
            raise UsageError(f"{source}: {len(rules):,} rules [[{kind}]]: the limit is {MAX_RULES[kind]:,}")
        mended = (check_rule(rule, f"{source}: {kind} {number}", urls) for number, rule in enumerate(rules, 1))
        found[kind] = tuple(dict.fromkeys(mended))
    count = sum(len(one.words) for one in found["synonym"])
    count += sum(len(one.queries) for kind in ("best_bet", "hidden") for one in found[kind])
    if count > MAX_PHRASES:
        raise UsageError(f"{source}: {count:,} words and queries in all rules: the limit is {MAX_PHRASES:,}")
    names = [one.name for one in found["collection"]]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{source}: there are two collections {name}: give each a name of its own")
    for one in found["boost"]:
        if one.collection and one.collection not in names:
            raise UsageError(
                f"{source}: boost: there is no collection {one.collection!r}: {hint(one.collection, names)}"
            )
    return Desk(**found)


def check_rule(rule: Rule, where: str, canonical: Callable[[str], str] | None = None) -> Rule:
    """A rule as it is kept; a `UsageError` that names the key where a value is wrong."""
    urls = canonical or _canonical
    for key in _LISTS:
        items: tuple[str, ...] = getattr(rule, key, ())
        if len(items) > MAX_LIST:
            raise UsageError(f"{where}: {key} has {len(items)} entries: the limit is {MAX_LIST}")
        if key != "sites":
            _check_phrases(key, items, where)
    if isinstance(rule, Synonym):
        return _synonym(rule, where)
    if isinstance(rule, BestBet):
        return _best_bet(rule, where, urls)
    if isinstance(rule, Hidden):
        return msgspec.structs.replace(rule, url=_hidden_url(rule.url, where, urls))
    return _boost(rule, where) if isinstance(rule, Boost) else _collection(rule, where)


def write_desk(desk: Desk) -> str:
    """The TOML that `read_desk` reads."""
    blocks = [f"stop_words = {_value(desk.stop_words)}\n"] if desk.stop_words else []
    for kind in KINDS:
        for rule in getattr(desk, kind):
            given = msgspec.to_builtins(rule)
            lines = [f"{key} = {_value(value)}" for key, value in given.items() if value not in ("", ())]
            blocks.append("\n".join([f"[[{kind}]]", *lines]) + "\n")
    return "\n".join(blocks)


def phrases(text: str) -> tuple[str, ...]:
    """The entries of a field of a form: one a line, or separated by commas."""
    return tuple(dict.fromkeys(" ".join(part.split()) for part in re.split(r"[\n,;]+", text) if part.strip()))


def _where(source: str, kind: str, number: int, lines: list[int]) -> str:
    at = f"line {lines[number - 1]}, " if number <= len(lines) else ""
    return f"{source}: {at}{kind} {number}"


def _lines(text: str, kind: str) -> list[int]:
    """Where the entries of a kind begin."""
    header = re.compile(rf"\s*\[\[\s*{kind}\s*\]\]")
    return [number for number, line in enumerate(text.splitlines(), 1) if header.match(line)]


def _stop_words(given: Any, source: str) -> tuple[str, ...]:
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise UsageError(f"{source}: stop_words is a list of words")
    return tuple(listed)


def _rule(kind: str, table: dict[str, Any], where: str) -> Rule:
    shape = KINDS[kind]
    known = [field.encode_name for field in msgspec.structs.fields(shape)]
    for key in table:
        if key not in known:
            raise UsageError(f"{where}: unknown key {key!r}: {hint(key, known)}")
    values = {
        key: [value] if key in _LISTS and isinstance(value, str)
        else value.isoformat() if isinstance(value, date)
        else value
        for key, value in table.items()
    }  # fmt: skip
    try:
        rule = msgspec.convert(values, shape)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {error}") from None
    return check_rule(rule, where)


def _check_phrases(key: str, items: Iterable[str], where: str) -> None:
    for item in items:
        words = surface_words(item)
        if len(item) > LONGEST or not words or not item.isprintable():
            raise UsageError(f"{where}: {key}: {item[:40]!r} has no word, or more than a line")
        if len(words) > MAX_WORDS and key != "queries":
            raise UsageError(f"{where}: {key}: {item[:80]!r} has {len(words)} words: the limit is {MAX_WORDS}")


def _synonym(rule: Synonym, where: str) -> Synonym:
    if not rule.words:
        raise UsageError(f"{where}: words is missing: what do readers type?")
    if not rule.finds and len(rule.words) < 2:
        raise UsageError(f"{where}: one word is no synonym: add another to words, or name what it finds")
    return msgspec.structs.replace(rule, lang=_language(rule.lang, where))


def _language(text: str, where: str) -> str:
    if not text:
        return ""
    code = BY_NAME["lang"].read(text)
    if code is None:
        raise UsageError(f"{where}: lang {text[:40]!r} is not a language: write its code, such as en")
    return code


def _best_bet(rule: BestBet, where: str, canonical: Callable[[str], str]) -> BestBet:
    if not rule.queries:
        raise UsageError(f"{where}: queries is missing: for which queries does the page come first?")
    for key, day in (("from", rule.start), ("until", rule.until)):
        try:
            if day and date.fromisoformat(day).isoformat() != day:
                raise ValueError
        except ValueError:
            raise UsageError(f"{where}: {key} {day[:40]!r} is not a day: write 2026-12-31") from None
    if rule.start and rule.until and rule.start > rule.until:
        raise UsageError(f"{where}: from {rule.start} is after until {rule.until}")
    return msgspec.structs.replace(rule, url=_url(rule.url, where, canonical))


def _hidden_url(text: str, where: str, canonical: Callable[[str], str]) -> str:
    bare = text.strip()
    if not bare.endswith("*"):
        return _url(bare, where, canonical)
    place = site(bare.rstrip("*"), where, "url")
    return f"{place.rstrip('/')}/*"


def _boost(rule: Boost, where: str) -> Boost:
    if bool(rule.site) == bool(rule.collection):
        raise UsageError(f"{where}: name either a site or a collection")
    if not math.isfinite(rule.times) or not TIMES[0] <= rule.times <= TIMES[1]:
        raise UsageError(f"{where}: times {rule.times:g} is not from {TIMES[0]:g} to {TIMES[1]:g}")
    return msgspec.structs.replace(rule, site=site(rule.site, where, "site")) if rule.site else rule


def _collection(rule: Collection, where: str) -> Collection:
    if not _NAME.fullmatch(rule.name):
        raise UsageError(f"{where}: name {rule.name[:60]!r}: small letters a to z, digits and - only, 40 at most")
    if len(rule.title) > 80 or not rule.title.isprintable():
        raise UsageError(f"{where}: title is one line of 80 characters at most")
    if rule.colour and not _COLOUR.fullmatch(rule.colour):
        raise UsageError(f"{where}: colour {rule.colour[:40]!r} is not a colour: write #0f6b62")
    query = parse(rule.filter[:LONGEST], _fields_in(rule.filter[:LONGEST]))
    if query.groups or query.excluded or query.newest or query.notices or len(rule.filter) > LONGEST:
        raise UsageError(f"{where}: filter {rule.filter[:80]!r} has only filters, such as lang:en -pagetype:listing")
    if not rule.sites and not query.filters:
        raise UsageError(f"{where}: name sites or a filter: which pages belong to it?")
    return msgspec.structs.replace(rule, sites=tuple(site(one, where, "sites") for one in rule.sites))


def _fields_in(text: str) -> CustomFields:
    """Operators of the operator's own fields, as far as can be told: only the index knows which there are."""
    names = dict.fromkeys(name for name in _OWN.findall(text.lower()) if name not in BY_NAME)
    return tuple(CustomField(name) for name in names)


def site(text: str, where: str, key: str) -> str:
    """A host and maybe a path, as after `site:`."""
    found = BY_NAME["site"].read(text.strip()) if text.strip() and len(text) <= LONGEST else None
    if found is None:
        raise UsageError(f"{where}: {key} {text[:80]!r} is no site: write www.example.org or www.example.org/docs")
    return found


def _url(text: str, where: str, canonical: Callable[[str], str]) -> str:
    if len(text) > LONGEST or not re.match(r"https?://", text.strip(), re.IGNORECASE):
        raise UsageError(f"{where}: url {text[:80]!r} is not a URL: write https://www.example.org/page")
    try:
        return canonical(text.strip())
    except UsageError as error:
        raise UsageError(f"{where}: url: {error}") from None


def _canonical(text: str) -> str:
    url = Canonicalizer().parse(text)
    if isinstance(url, Decision):
        raise UsageError(f"{text[:80]!r} is not a URL: {url.reason}")
    return url


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return _value(value[0]) if len(value) == 1 else "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, float):
        return f"{value:g}" if not value.is_integer() else f"{value:.1f}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
