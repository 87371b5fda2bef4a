"""Document rules as TOML, read and written; the only way in, so everything is checked here.

    [[rule]]
    domain = "example.org"
    name = "news"
    urls = ["/news/{year}/{month}/{day}/{slug}"]
    title = "h1"
    text = ["article .body", "article"]
    date = "time@datetime"

A list of one may be written without brackets. Every mistake is an error that names the file, the
rule and the key.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from gossamer.errors import UsageError
from gossamer.model.decision import Decision
from gossamer.model.meant import hint
from gossamer.model.site import host_of, site_of
from gossamer.model.url import Canonicalizer
from gossamer.parse.rules import DocumentRule
from gossamer.parse.rules.cutting import check_date_format, check_selector
from gossamer.site.patterns import compile_patterns

KEYS = DocumentRule.__struct_fields__
MAX_ITEMS = 50
"""Patterns or selectors under one key."""
MAX_BYTES = 64 * 1024 * 1024
"""Size of a rules file."""

_ORDER = sorted(KEYS, key=("domain", "name", *KEYS).index)
_LISTS = ("urls", "not_urls", "title", "text", "date", "author", "remove")
_WITH_ATTRIBUTE = ("title", "date", "author")
_NAME = re.compile(r"[\w.-][\w .-]{0,58}[\w.-]|[\w.-]")
_TYPE = re.compile(r"[a-z][a-z0-9_-]{0,29}")
_PLAIN = re.compile(r"[^\x00-\x1f\x7f']*")


def read_rules(text: str, source: str) -> list[DocumentRule]:
    """The rules of a TOML document, checked; `source` is how messages call it."""
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{source} is not TOML: {error}") from None
    tables = document.pop("rule", [])
    if document:
        raise UsageError(f"{source}: unknown key {next(iter(document))!r}: rules are [[rule]] tables")
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UsageError(f"{source}: rules are [[rule]] tables")
    rules = [_read(table, f"{source}: rule {number}") for number, table in enumerate(tables, 1)]
    _check_names(rules, source)
    return rules


def check_rule(rule: DocumentRule, where: str) -> None:
    """`UsageError` that names the key where a value of the rule is wrong."""
    if not _NAME.fullmatch(rule.name):
        raise UsageError(f"{where}: name {rule.name!r}: letters, digits, spaces and _ . - only, 60 at most")
    if not rule.urls:
        raise UsageError(f"{where}: urls is missing: which pages are documents?")
    for key in _LISTS:
        items: tuple[str, ...] = getattr(rule, key)
        if len(items) > MAX_ITEMS:
            raise UsageError(f"{where}: {key} has {len(items)} items: the limit is {MAX_ITEMS}")
        for item in items:
            _check_item(key, item, where)
    if not _TYPE.fullmatch(rule.page_type):
        raise UsageError(f"{where}: page_type {rule.page_type!r} is one word in lower case, such as article")
    if rule.category != " ".join(rule.category.split()) or not rule.category.isprintable() or len(rule.category) > 60:
        raise UsageError(f"{where}: category {rule.category!r} is one line of 60 characters at most")
    if rule.date_format:
        try:
            check_date_format(rule.date_format)
        except UsageError as error:
            raise UsageError(f"{where}: date_format {rule.date_format!r}: {error}") from None


def write_rules(rules: Iterable[DocumentRule], comments: Mapping[str, Iterable[str]] | None = None) -> str:
    """The TOML that `read_rules` reads; `comments` stand above the rules that they are given for by label."""
    blocks = []
    for rule in rules:
        remarks = [f"# {line}".rstrip() for line in (comments or {}).get(rule.label, ())]
        given = [(key, getattr(rule, key)) for key in _ORDER]
        lines = [f"{key} = {_value(value)}" for key, value in given if value not in ("", ())]
        blocks.append("\n".join([*remarks, "[[rule]]", *lines]) + "\n")
    return "\n".join(blocks)


def _read(table: dict[str, Any], where: str) -> DocumentRule:
    for key in table:
        if key not in KEYS:
            raise UsageError(f"{where}: unknown key {key!r}: {hint(key, KEYS)}")
    values = {key: [value] if key in _LISTS and isinstance(value, str) else value for key, value in table.items()}
    domain = table.get("domain")
    if not isinstance(domain, str):
        raise UsageError(f"{where}: domain is missing")
    values["domain"] = _host(domain, where)
    where = f"{where} ({values['domain']} {values.get('name', 'document')})"
    values.setdefault("urls", [])
    try:
        rule = msgspec.convert(values, DocumentRule)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {error}") from None
    check_rule(rule, where)
    return rule


def _host(text: str, where: str) -> str:
    url = Canonicalizer().parse(f"http://{text.strip()}/")
    if isinstance(url, Decision) or url.count("/") != 3 or host_of(site_of(url)) != site_of(url):
        raise UsageError(f"{where}: domain {text!r} is no host or domain such as example.org")
    return site_of(url)


def _check_item(key: str, item: str, where: str) -> None:
    try:
        if key in ("urls", "not_urls"):
            compile_patterns([item])
        else:
            check_selector(item, with_attribute=key in _WITH_ATTRIBUTE)
    except UsageError as error:
        raise UsageError(f"{where}: {key} {item!r}: {error}") from None


def _check_names(rules: list[DocumentRule], source: str) -> None:
    seen: dict[tuple[str, str], int] = {}
    for number, rule in enumerate(rules, 1):
        first = seen.setdefault((rule.domain, rule.name), number)
        if first != number:
            raise UsageError(f"{source}: rules {first} and {number} are both called {rule.label}: give them names")


def _value(value: str | tuple[str, ...]) -> str:
    if isinstance(value, str):
        return _string(value)
    if len(value) == 1:
        return _string(value[0])
    return "[" + ", ".join(map(_string, value)) + "]"


def _string(text: str) -> str:
    """As it stands where that is possible: expressions are hard enough to read without doubled backslashes."""
    if ("\\" in text or '"' in text) and _PLAIN.fullmatch(text):
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
