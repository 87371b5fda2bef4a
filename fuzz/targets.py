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
import hashlib
import hmac
import math
import re
import time
from collections.abc import Callable
from datetime import date
from urllib.parse import parse_qsl

import stranger_targets

from gossamer.crawl.parser_config import ParserConfig
from gossamer.crawl.reading import PageParser
from gossamer.dedup.near.registry import near_method
from gossamer.discover.feeds import FeedLimits, looks_like_feed, parse_feed
from gossamer.discover.websub import (
    LONGEST_LEASE,
    MOST_HUBS,
    SHORTEST_LEASE,
    Denied,
    Verified,
    check_signature,
    check_verification,
    hub_and_topic,
    hubs_of_headers,
)
from gossamer.errors import UsageError
from gossamer.model.records import Kind, ParseJob
from gossamer.model.url import CanonicalRules
from gossamer.parse.date.forms import days_in, read_date
from gossamer.parse.document_types import TYPES as DOCUMENT_TYPES
from gossamer.parse.html import Tree
from gossamer.parse.limits import ParseLimits
from gossamer.parse.rules import DocumentRule, RuleBook
from gossamer.parse.rules.cutting import cut
from gossamer.parse.rules.toml import read_rules, write_rules
from gossamer.priority.qrank.features import NAMES, features
from gossamer.scope.automatic import AutomaticFilter, SiteFilters, groups_of
from gossamer.scope.chain import ScopeConfig
from gossamer.scope.shape import path_shape
from gossamer.scope.statistics import SEGMENTS, ancestors, depth_of, prefix_of
from gossamer.scope.traps import TrapLimits

LIMIT = 1.0
"""Seconds of processor time that an input may take."""
NOW = 1_790_000_000.0
LATEST = date(2026, 9, 22)
URL = "https://site.example/2024/05/03/a-page.html?id=7"
TYPES = (
    "text/html", "text/html; charset=windows-1251", "text/plain", "application/pdf", "application/xhtml+xml", "",
    *(one.media[0] for one in DOCUMENT_TYPES if one.converter),
)  # fmt: skip
FEED_TYPES = ("application/rss+xml", "application/atom+xml", "application/feed+json", "text/xml", "text/html", "")
FEED_LIMITS = FeedLimits(entries=50, unpacked_bytes=1 << 20, mended_bytes=1 << 18)
LONGEST_URL = TrapLimits().url_length
"""Longer ones do not get into the table."""
SECRET = "a secret of the subscription"
TOPIC = "https://site.example/feed.xml?a=1"
RULE = DocumentRule(
    "site.example", ("/{year}/{month}/{day}/{slug}.html", "/article/"), title=("h1",), text=("article", "div.text"),
    date=("time@datetime", ".date"), author=(".author",), remove=(".share",),
)  # fmt: skip
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_PAGE = (
    '<html lang="en"><head><title>T</title><script type="application/ld+json">%s</script></head>'
    '<body><h1>T</h1><time datetime="%s">%s</time><article><p>%s</p></article></body></html>'
)

_READER = PageParser(
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
        assert not day or "1900" <= day[:4] <= "9999"  # books are older than the web
    assert len(parsed.fingerprint) <= 1280 and len(parsed.near_keys) <= 10  # 408 bytes and 6 keys, and those of a post


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


def feeds(data: bytes) -> None:
    """A body that may be a feed of any kind, under any type."""
    if not data:
        return
    kind, body = FEED_TYPES[data[0] % len(FEED_TYPES)], data[1:]
    looks_like_feed(body, kind)
    for limits in (FEED_LIMITS, None):
        feed = parse_feed(body, limits)
        assert feed.kind or feed.problem, "what is no feed must say why"
        assert not feed.entries or feed.kind, "what has entries is a feed of some kind"
        assert len(feed.entries) <= (limits or FeedLimits()).entries
        for entry in feed.entries:
            assert entry.url and entry.url == entry.url.strip(), f"{entry.url!r} is no URL"
            for moment in (entry.published_at, entry.updated_at):
                assert moment is None or math.isfinite(moment)
            assert len(entry.title) <= 500 and "\n" not in entry.title
        assert feed.ttl is None or 0 < feed.ttl < math.inf
    hub, topic = hub_and_topic(URL, (), feed.hubs, feed.self_url)
    assert bool(hub) == bool(topic) and (not hub or hub.startswith(("http://", "https://")))


def push(data: bytes) -> None:
    """What strangers send to the address of a subscription: a header, a query, Link headers; one byte apart."""
    text = data.decode("utf-8", "replace")
    right = hmac.new(SECRET.encode(), data, hashlib.sha256).hexdigest()
    problem = check_signature(text, data, SECRET)
    assert problem or right in text.lower() or "sha" in text.lower(), "only a signature is one"
    assert check_signature(f"sha256={right}", data, SECRET) == ""
    assert check_signature(f"sha256={right[:-1]}", data, SECRET) != ""
    assert check_signature(f"sha256={right}", data + b"x", SECRET) != ""
    query = dict(parse_qsl(text, keep_blank_values=True))
    for asked in (query, query | {"hub.topic": TOPIC}, query | {"hub.topic": TOPIC, "hub.mode": "subscribe"}):
        for awaited in (False, True):
            verdict = check_verification(asked, TOPIC, awaited, NOW, 864_000.0)
            if isinstance(verdict, Verified):
                assert awaited and verdict.challenge == asked["hub.challenge"]
                assert SHORTEST_LEASE <= verdict.expires_at - NOW <= LONGEST_LEASE
            else:
                assert verdict.reason and (not isinstance(verdict, Denied) or verdict.reason.isprintable())
    hubs, topic = hubs_of_headers(text.split("\n"), URL)
    assert len(hubs) <= MOST_HUBS and all(hubs) and isinstance(topic, str)


def addresses(data: bytes) -> None:
    """URLs of any build, one a line: what a model is told of them, and the groups that filters go by."""
    urls = data.decode("utf-8", "replace").split("\n")
    found = features(urls)
    assert found.shape == (len(urls), len(NAMES))
    assert ((found >= 0) & (found <= 1)).all(), "a feature lies between 0 and 1"
    alone = features(urls[-1:])
    assert (found[-1] == alone[0]).all(), "a URL has the same features in any company"
    for text in urls:
        url = f"https://site.example/{text}"[:LONGEST_URL]
        shape = path_shape(url)
        prefix = prefix_of(shape)
        above = list(ancestors(prefix))
        assert prefix.startswith("/") and above[0] == prefix and above[-1] == "/"
        assert depth_of(prefix) <= SEGMENTS + 1
        groups = list(groups_of(shape))
        assert len(groups) == len(set(groups)) and ("prefix", "/") not in groups
        for kind, pattern in groups:
            filter_ = SiteFilters([AutomaticFilter("site.example", kind, pattern)])
            assert filter_.match(shape) is not None, f"{kind} {pattern} does not match {shape}"


TARGETS: dict[str, Callable[[bytes], None]] = {
    **{target.__name__: target for target in (pages, dates, rules, fingerprints, feeds, push, addresses)},
    **stranger_targets.TARGETS,
}


def run(target: Callable[[bytes], None], data: bytes) -> None:
    """One input, within its time."""
    started = time.process_time()
    with contextlib.suppress(MemoryError):
        target(data)
    took = time.process_time() - started
    if took > LIMIT:
        raise TooSlow(f"{len(data)} bytes took {took:.2f} s")
