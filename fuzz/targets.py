"""What is fuzzed: each target takes bytes as they come and must end well, and soon.

"Well" is said by each target: a page is parsed or has a problem that is named; a date is one or
is none; rules are read or refused with a sentence. "Soon" is a second of processor time for one
input (`LIMIT`), far more than the machine's noise and far less than a visitor's patience.

    make fuzz                                              all targets, a minute each
    python fuzz/run.py pages --seconds 600                 one target for longer
    python fuzz/run.py pages fuzz/crashes/pages/crash-…    one input again
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable
from datetime import date

from gossamer.crawl.parser_config import ParserConfig
from gossamer.crawl.reading import PageReader
from gossamer.dedup.near.registry import near_method
from gossamer.errors import UsageError
from gossamer.model.records import Kind, ParseJob
from gossamer.model.url import CanonicalRules
from gossamer.parse.date.forms import days_in, read_date
from gossamer.parse.html import Tree
from gossamer.parse.limits import ParseLimits
from gossamer.parse.rules import DocumentRule, RuleBook
from gossamer.parse.rules.cutting import cut
from gossamer.parse.rules.toml import read_rules, write_rules
from gossamer.scope.chain import ScopeConfig

LIMIT = 1.0
"""Seconds of processor time that an input may take."""
NOW = 1_790_000_000.0
LATEST = date(2026, 9, 22)
URL = "https://site.example/2024/05/03/a-page.html?id=7"
TYPES = ("text/html", "text/html; charset=windows-1251", "text/plain", "application/pdf", "application/xhtml+xml", "")
RULE = DocumentRule(
    "site.example", ("/{year}/{month}/{day}/{slug}.html", "/article/"), title=("h1",), text=("article", "div.text"),
    date=("time@datetime", ".date"), author=(".author",), remove=(".share",),
)  # fmt: skip
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_PAGE = (
    '<html lang="en"><head><title>T</title><script type="application/ld+json">%s</script></head>'
    '<body><h1>T</h1><time datetime="%s">%s</time><article><p>%s</p></article></body></html>'
)

_READER = PageReader(
    ParserConfig(CanonicalRules(), ScopeConfig(hosts=("site.example",)), (), ParseLimits(), documents=(RULE,))
)
_NEAR = near_method("minhash")


class TooSlow(Exception):  # noqa: N818 - it is what happened
    """An input took longer than `LIMIT`."""


def pages(data: bytes) -> None:
    """A body of any type: everything the parser does to a page."""
    if not data:
        return
    body = data[1:]
    url = URL if data[0] & 16 else "https://site.example/article/"
    parsed = _READER.read(ParseJob(url, Kind.PAGE, TYPES[data[0] % len(TYPES)], body))
    if not parsed.ok:
        assert parsed.problem, "a page that failed must say why"
        assert not parsed.problem.startswith("parser failed"), parsed.problem
        return
    for text in (parsed.title, parsed.text.replace("\n", ""), parsed.author, parsed.site_name):
        assert not _CONTROL.search(text), f"{text!r} holds control characters"
    assert 0 <= parsed.date_confidence <= 1 and 0 <= parsed.updated_confidence <= 1
    for day in (parsed.date, parsed.updated):
        assert not day or "1990" <= day[:4] <= "9999"
    assert len(parsed.fingerprint) <= 512 and len(parsed.near_keys) <= 8


def dates(data: bytes) -> None:
    """Text that may be a date, in every place where dates are looked for."""
    text = data.decode("utf-8", "replace")
    for language in ("", "en", "ru", "zh", "de"):
        found = read_date(text, LATEST, language)
        assert not found or "1990-01-01" <= found[:10] <= LATEST.isoformat(), found
        for start, stop, day in days_in(text, LATEST, language):
            assert 0 <= start < stop <= len(text) and 1990 <= day.year <= LATEST.year
    half = len(text) // 2
    ld = f'{{"@type": "Article", "datePublished": "{text[:half]}", "dateModified": "{text[half:]}"}}'
    pages(bytes([16]) + (_PAGE % (ld, text[:half], text[half:], text)).encode("utf-8", "replace"))


def rules(data: bytes) -> None:
    """A file of document rules, and what its rules do to URLs and pages."""
    text = data.decode("utf-8", "replace")
    try:
        found = read_rules(text, "fuzz.toml")
    except UsageError as error:
        assert str(error).startswith("fuzz.toml"), "an error must name the file"
        return
    assert read_rules(write_rules(found), "fuzz.toml") == found, "what was written must be read as it was"
    book = RuleBook(found)
    for rule in found:
        for path in ("/2024/05/03/a-page.html?id=7", "/" + "a" * 3000, "/" + "1-" * 1000, "/%2e/" + "/" * 500):
            book.match(f"https://{rule.domain}{path}")
        tree = Tree(_PAGE % ("{}", "2024-05-03", "3 May 2024", "words " * 50), 10_000)
        cut(tree, rule, 10_000, NOW)


def fingerprints(data: bytes) -> None:
    """A text, and the fingerprint that copies are found by."""
    text = data.decode("utf-8", "replace")
    found = _NEAR.fingerprint(text)
    if found:
        assert _NEAR.similarity(found, found) == 1.0
        assert _NEAR.keys(found) == _NEAR.keys(_NEAR.fingerprint(text))


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target for target in (pages, dates, rules, fingerprints)
}


def run(target: Callable[[bytes], None], data: bytes) -> None:
    """One input, within its time."""
    started = time.process_time()
    with contextlib.suppress(MemoryError):
        target(data)
    took = time.process_time() - started
    if took > LIMIT:
        raise TooSlow(f"{len(data)} bytes took {took:.2f} s")
