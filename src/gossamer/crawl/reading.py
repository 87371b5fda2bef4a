"""What a parser does with a body, composed of the pure stages.

It also computes scope and keys of the links, because a parser has a core to spare and the worker has not.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from urllib.parse import urljoin

import msgspec

from gossamer.categories.model import SOURCE, model_of
from gossamer.crawl.parser_config import ParserConfig, SiteKnown, full_chain
from gossamer.dedup.exact import content_hash
from gossamer.dedup.near.own import own_text, own_title
from gossamer.dedup.near.registry import near_method
from gossamer.dedup.short import is_page_hash, page_hash
from gossamer.dedup.simhash import simhash
from gossamer.discover.feeds import looks_like_feed, parse_feed
from gossamer.discover.sitemaps import parse_sitemap
from gossamer.discover.websub import hub_and_topic
from gossamer.model.counts import counted
from gossamer.model.decision import Decision
from gossamer.model.records import Entry, Kind, Parsed, ParseJob
from gossamer.model.site import key64, packed_keys, site_of
from gossamer.model.url import Base, Canonicalizer, resolve_base
from gossamer.parse.document import ParseContext, complete, parse_document
from gossamer.parse.fields.config import stamp
from gossamer.parse.fields.taking import Taker
from gossamer.parse.links import ReferenceMemory
from gossamer.parse.rules import RuleBook
from gossamer.parse.sniff import media_type, true_type
from gossamer.plugins import HOOKS, MISSING, own_parser, readable_types
from gossamer.site.facts import Facts
from gossamer.site.judgement import Judgement, KnownSite
from gossamer.site.sketch import Seen
from gossamer.site.view import PageView

_REMEMBERED = 40_000
"""Keys of URLs kept; about 8 MB."""


_LITTLE = 250
"""Characters of a text up to which it may be a mere rest."""


class _Keys(dict[str, int]):
    """URL → its key, computed once for links that are on every page."""

    def __missing__(self, url: str) -> int:
        key = self[url] = key64(url)
        return key


class PageParser:
    """Reads pages and sitemaps by one configuration."""

    def __init__(self, config: ParserConfig, known: dict[str, tuple[int, KnownSite]] | None = None) -> None:
        """`known`: what an earlier configuration knew of sites."""
        self.known = known if known is not None else {}
        """Site → what is known of it, and its version."""
        self._learns = config.learn
        self._canonicalizer = Canonicalizer(config.urls, config.mirrors)
        self._own = set(readable_types(config.limits.skip_types))
        self._limits = config.limits
        self._hooks = [HOOKS.get(name) for name in config.limits.hooks]
        self._near = near_method(config.near) if config.near != "none" else None
        self._simhash = simhash if config.near == "simhash" else None
        self._rules = RuleBook(config.documents)
        self._chain = full_chain(config.scope, config.rules, self._rules.fits)
        self._fields = Taker(config.fields) if config.fields else None
        self.fields = stamp(config.fields)
        """Tells which fields are taken out of pages; 0 if there are none."""
        self._categories = model_of(config.categories)
        self._memory = ReferenceMemory()
        self._keys = _Keys()

    def know(self, known: SiteKnown) -> None:
        """Judge the pages of a site by this from now on."""
        self.known.pop(known.site, None)
        if known.version:
            facts = msgspec.msgpack.decode(known.facts, type=Facts)
            self.known[known.site] = known.version, KnownSite(facts)

    def read(self, job: ParseJob) -> Parsed:
        """Everything the frontier and the segment need to know of a body."""
        now = time.time()
        if job.kind is Kind.FEED or (job.kind is Kind.PAGE and looks_like_feed(job.body, job.content_type)):
            parsed = self._read_feed(job, now)
        elif job.kind is Kind.SITEMAP or looks_like_sitemap(job):
            parsed = self._read_sitemap(job, now)
        else:
            parsed = self._read_page(job, now)
        if self._near is not None and parsed.ok and parsed.text:
            anchors = (link.anchor for link in parsed.links)
            own = own_text(parsed.title, parsed.text, parsed.page_type, anchors, _has_little_left(parsed))
            title = "" if is_page_hash(parsed.content_hash) else own_title(parsed.title, parsed.page_type)
            parsed.fingerprint = self._near.fingerprint(own, title)
            parsed.near_keys = self._near.keys(parsed.fingerprint)
        if len(self._keys) > _REMEMBERED:
            self._keys.clear()
        parsed.follow_keys = packed_keys(list(map(self._keys.__getitem__, parsed.follow)))
        return parsed

    def _read_page(self, job: ParseJob, now: float) -> Parsed:
        version, site = self.known.get(site_of(job.url), (0, None)) if self.known else (0, None)
        view = PageView(site) if self._learns else None
        context = ParseContext(
            canonicalizer=self._canonicalizer, decide=self._chain.split, now=now, limits=self._limits,
            content_hash=content_hash, simhash=self._simhash, memory=self._memory, rules=self._rules, view=view,
            fields=self._fields,
        )  # fmt: skip
        media = true_type(media_type(job.content_type), job.body, job.url) if job.kind is Kind.PAGE else ""
        own = media in self._own
        parsed = complete(own_parser(media, self._limits)(job), job, context) if own else parse_document(job, context)
        if not parsed.ok and media in MISSING:
            parsed.problem, parsed.media_type = f"no parser for {media}: {MISSING[media]}", media
        self._apply_hooks(job, parsed)
        if parsed.ok and not parsed.content_hash:
            is_html = "html" in parsed.media_type
            parsed.content_hash = page_hash(parsed.title, parsed.text, job.body, parsed.charset, is_html)
        if self._categories is not None and parsed.ok and not parsed.category:
            parsed.category, _ = self._categories.predict(parsed.title, parsed.text)
            parsed.category_source = SOURCE if parsed.category else ""
        if view is not None:
            parsed.site_version, parsed.has_cut = version, view.has_cut
            if _has_little_left(parsed) and parsed.content_hash and not is_page_hash(parsed.content_hash):
                parsed.content_hash = content_hash(f"{parsed.title}\n{parsed.text}")
            sketch = view.sketch(Seen(job.url, parsed.title, parsed.language, parsed.page_type, len(parsed.text)))
            parsed.judged = self._judged(view.judgement) if parsed.ok else b""
            parsed.sketch = msgspec.msgpack.encode(sketch) if sketch is not None else b""
        elif self.fields and parsed.ok:
            parsed.judged = self._judged(Judgement())
        return parsed

    def _judged(self, judgement: Judgement) -> bytes:
        if self.fields:
            judgement = msgspec.structs.replace(judgement, fields=self.fields)
        return msgspec.msgpack.encode(judgement)

    def _apply_hooks(self, job: ParseJob, parsed: Parsed) -> None:
        if self._hooks and parsed.ok:
            text = parsed.text
            for hook in self._hooks:
                hook(job, parsed)
            if parsed.text != text:
                parsed.content_hash = content_hash(parsed.text)
                parsed.simhash = self._simhash(parsed.text) if self._simhash is not None else 0

    def _read_feed(self, job: ParseJob, now: float) -> Parsed:
        feed = parse_feed(job.body)
        parsed = Parsed(job.url, media_type=media_type(job.content_type), method="feed", title=feed.title)
        parsed.problem = feed.problem
        if feed.problem and not feed.entries:
            parsed.ok = False
            return parsed
        base = resolve_base(job.url, None)
        entries = [(urljoin(entry.base, entry.url), entry.dated, None) for entry in feed.entries]
        self._name(parsed, base, entries, now)
        parsed.push = hub_and_topic(job.url, job.link_headers, feed.hubs, feed.self_url)
        return parsed

    def _read_sitemap(self, job: ParseJob, now: float) -> Parsed:
        sitemap = parse_sitemap(job.body)
        parsed = Parsed(job.url, media_type="application/xml", method="sitemap")
        parsed.problem = sitemap.problem
        if not sitemap.entries and not sitemap.nested:
            parsed.ok = not sitemap.problem
            parsed.problem = sitemap.problem or "it names no URL"
            return parsed
        base = resolve_base(job.url, None)
        entries = [(e.loc, e.published_at, 0.5 if e.priority is None else e.priority) for e in sitemap.entries]
        # behind them: what is an entry of its own has its own date and priority
        entries += [(loc, None, priority) for loc, priority in sitemap.translations.items()]
        self._name(parsed, base, entries, now)
        nested = [self._canonicalizer.resolve(base, loc) for loc in sitemap.nested]
        parsed.nested, _ = self._chain.split([url for url in nested if not isinstance(url, Decision)], now)
        return parsed

    def _name(
        self, parsed: Parsed, base: Base, listed: Sequence[tuple[str, float | None, float | None]], now: float
    ) -> None:
        """The entries of a feed or sitemap that belong to the crawl, each once."""
        entries: dict[str, Entry] = {}
        for text, published_at, priority in listed:
            url = self._canonicalizer.resolve(base, text)
            if not isinstance(url, Decision):
                entries.setdefault(url, Entry(url, published_at, priority))
        parsed.follow, refused = self._chain.split(list(entries), now)
        parsed.entries = [entries[url] for url in parsed.follow]
        parsed.refused = notable(refused)
        if refused and not parsed.follow and not parsed.problem:
            url, decision = refused[0]
            parsed.problem = (
                f"it names {counted(refused, 'URL')}, none of which may be fetched, such as {url}: {decision.reason}"
            )


def notable(refused: Sequence[tuple[str, Decision]]) -> list[tuple[str, str, str]]:
    """Refusals worth storing: not those of hosts outside the crawl."""
    kept = [(url, d.rule, d.reason) for url, d in refused if not d.rule.startswith(("scope.", "url."))]
    return kept[:100]


def _has_little_left(parsed: Parsed) -> bool:
    """Whether the text is the little that is left without what the site repeats. Posts of one picture have the same
    rest: they are told apart by their titles."""
    return parsed.has_cut and len(parsed.text) < _LITTLE


def looks_like_sitemap(job: ParseJob) -> bool:
    """Whether a page is a sitemap in disguise: XML with a sitemap's root."""
    if "xml" not in job.content_type and not job.url.endswith((".xml", ".xml.gz")):
        return False
    head = job.body[:2048]
    return b"<urlset" in head or b"<sitemapindex" in head
