"""More of what is fuzzed: addresses, files and answers that strangers write, queries that readers type, settings."""

from __future__ import annotations

import asyncio
import atexit
import functools
import math
import shutil
import tempfile
from pathlib import Path

from gossamer.clock import SystemClock
from gossamer.discover.sitemaps import SitemapLimits, parse_sitemap
from gossamer.errors import UsageError
from gossamer.fetch.decode import decode
from gossamer.fetch.limits import FetchConfig, Trouble
from gossamer.fetch.reply import Reply
from gossamer.fetch.transport import Connection
from gossamer.index.document import IndexPage, build
from gossamer.index.folder import IndexFolder
from gossamer.index.writer import IndexWriter
from gossamer.model.site import host_of, site_of
from gossamer.model.url import Canonicalizer, parse_base
from gossamer.robots.rules import Robots
from gossamer.search.query.language import MAX_CHARS, MAX_TERMS, parse, render
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher
from gossamer.settings import FILE_NAME, load

SITEMAP_LIMITS = SitemapLimits(entries=200, unpacked_bytes=1 << 20)
FETCH = FetchConfig(max_bytes=1 << 16, max_decoded=1 << 18)
_CANONICAL = Canonicalizer()
_BASE = parse_base("https://site.example/folder/page.html?a=1")


def urls(data: bytes) -> None:
    """Links as pages write them, one a line: refused with a reason, or canonical once and for all."""
    for line in data.decode("utf-8", "replace").split("\n"):
        for found in (_CANONICAL.parse(line), _CANONICAL.resolve(_BASE, line)):
            if not isinstance(found, str):
                assert not found.allowed and found.reason, "what is no URL has a reason"
                continue
            assert found.startswith(("http://", "https://")) and "#" not in found
            assert _CANONICAL.parse(found) == found, f"{found!r} is not its own canonical form"
            assert found.isascii() and found.isprintable() and " " not in found, f"{found!r} is not plain"
            assert host_of(found) and "@" not in site_of(found), "no credentials in a site's name"


def sitemaps(data: bytes) -> None:
    """A body that may be a sitemap, packed or not."""
    found = parse_sitemap(data, SITEMAP_LIMITS)
    assert len(found.entries) + len(found.nested) <= SITEMAP_LIMITS.entries
    for entry in found.entries:
        assert entry.loc and entry.loc == entry.loc.strip(" \t\r\n")
        assert 0 <= entry.priority <= 1
        for moment in (entry.lastmod_at, entry.published_at):
            assert moment is None or math.isfinite(moment)


def robots(data: bytes) -> None:
    """A robots.txt of garbage: it allows or denies, it asks for a delay or not, and it never fails."""
    head, _, body = data.partition(b"\n")
    rules = Robots(body, "Gossamer")
    path = _CANONICAL.resolve(_BASE, head.decode("utf-8", "replace"))
    for url in (path, "https://site.example/", "https://site.example/a/b?c=d%2Fe"):
        if isinstance(url, str):
            decision = rules.decide(url)
            assert decision.allowed or decision.reason, "a refusal names the line that made it"
            assert rules.decide(url) == decision
    assert rules.decide("https://site.example/robots.txt").allowed
    assert rules.crawl_delay is None or (math.isfinite(rules.crawl_delay) and rules.crawl_delay >= 0)
    assert len(rules.sitemaps) == len(set(rules.sitemaps))


@functools.cache
def _searcher() -> Searcher:
    """A few pages in three languages."""
    root = Path(tempfile.mkdtemp(prefix="gossamer-fuzz-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    folder = IndexFolder(root / "index")
    generation = folder.create()
    writer = IndexWriter(folder.tantivy(generation), folder.scratch(generation))
    texts = (
        ("en", "Solar sails", "A solar sail is pushed by light."),
        ("ru", "Новости", "Новости дня и ночи."),
        ("zh", "新闻", "今天的新闻很多。"),
    )
    pages = [
        IndexPage(url=f"https://{lang}.example/a/{n}", title=title, text=text * n, lang=lang, date="2024-05-03")
        for lang, title, text in texts
        for n in range(1, 4)
    ]
    writer.apply({page.key: build(page) for page in pages}, (), 1, 1_790_000_000.0)
    writer.close()
    folder.switch(generation)
    return Searcher(folder)


def queries(data: bytes) -> None:
    """What a reader may type: understood somehow, written in one way, and searched without an error."""
    text = data.decode("utf-8", "replace")
    query = parse(text)
    written = render(query)
    assert len(written) <= MAX_CHARS
    again = parse(written)
    assert render(again) == written, f"{written!r} is read as {render(again)!r}"
    terms = sum(map(len, query.groups)) + len(query.excluded)
    assert terms <= MAX_TERMS
    results = _searcher().search(Request(query=text))
    assert 0 <= len(results.hits) <= max(results.total, 0)
    for hit in results.hits:
        assert math.isfinite(hit.score) and hit.url
    _searcher().suggest(text[:100])


@functools.cache
def _data() -> Path:
    root = Path(tempfile.mkdtemp(prefix="gossamer-fuzz-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return root


def settings(data: bytes) -> None:
    """A `gossamer.toml` of anybody: settings that can be used, or one sentence that names the file or the setting."""
    (_data() / FILE_NAME).write_bytes(data)
    try:
        load(_data())
    except UsageError as error:
        assert str(error).strip() and "Traceback" not in str(error)


class _Wire(asyncio.Transport):
    """A transport that sends nothing, and tells its protocol when it is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.aborted = False

    def write(self, data: object) -> None:
        return

    def abort(self) -> None:
        self.aborted = True


def responses(data: bytes) -> None:
    """What a server may answer, in pieces of any size: a response, or trouble with a reason."""
    _loop().run_until_complete(_respond(data))


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()


async def _respond(data: bytes) -> None:
    step = 1 + data[0] * 16 if data else 1
    connection, wire = Connection(FETCH, SystemClock(), ("http", "site.example", "80")), _Wire()
    connection.connection_made(wire)

    def judge(reply: Reply) -> None:
        reply.keep, reply.limit = True, FETCH.max_bytes

    deadline = _loop().time() + 5
    talk = asyncio.ensure_future(connection.exchange(b"GET / HTTP/1.1\r\n\r\n", judge, deadline))
    await asyncio.sleep(0)
    for start in range(1, len(data), step):
        if talk.done() or wire.aborted:
            break
        connection.data_received(data[start : start + step])
    connection.connection_lost(None)
    reply = await talk
    assert reply.trouble is None or reply.trouble.reason
    assert reply.trouble is not None or reply.status >= 200 or reply.status < 100
    body = reply.body()
    assert len(body) <= FETCH.max_bytes
    for encodings in (["gzip"], ["deflate"], ["br"], ["zstd"], ["br, gzip"], reply.headers and [reply.headers[-1][1]]):
        try:
            assert len(decode(body, encodings or [], FETCH.max_decoded)) <= FETCH.max_decoded
        except Trouble as trouble:
            assert trouble.reason


TARGETS = {target.__name__: target for target in (urls, sitemaps, robots, queries, settings, responses)}
