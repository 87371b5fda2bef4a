"""The entry point: a body in, everything known about it out.

`parse_document` is pure and never raises. Whatever a page does to us ends as
`ok=False` with the problem named, so a worker loses one page and not a batch.

Steps: choose the parser by type and first bytes; decode; parse once; read metadata
and links from the tree; ask the scope about the targets; cut out the main text,
which consumes the tree; language, date and fingerprints from what is there.

Time and memory are bounded by `ParseLimits`: the body is cut at `max_bytes` and
`max_tags`, and every list and string has a limit of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import msgspec

from gossamer.model.decision import Decision
from gossamer.model.page_types import LISTS
from gossamer.model.records import Kind, Parsed, ParseJob
from gossamer.model.site import host_of, site_of
from gossamer.model.url import Canonicalizer, parse_base, resolve_base
from gossamer.parse.charset import decode
from gossamer.parse.clean import clean_line, clean_text
from gossamer.parse.date import Dates, confidence_on, find_dates
from gossamer.parse.fields.taking import Taker
from gossamer.parse.html import Tree
from gossamer.parse.kind import page_kind
from gossamer.parse.language import page_language
from gossamer.parse.limits import ParseLimits
from gossamer.parse.links import ReferenceMemory, Resolver, collect_links, followable, written_links
from gossamer.parse.metadata import Metadata, apply_headers, read_metadata
from gossamer.parse.naming import title_of
from gossamer.parse.rules import RuleBook
from gossamer.parse.rules.cutting import cut
from gossamer.parse.sniff import Parser, choose_parser, media_type
from gossamer.parse.structured import read_structured, trusted_body, visible_text
from gossamer.parse.text import main_text
from gossamer.site.view import PageView

Decide = Callable[[Sequence[str], float], tuple[list[str], list[tuple[str, Decision]]]]
"""The scope's batch decision: URLs and the time → allowed URLs, refused URLs with the reason."""


class ParseContext(msgspec.Struct, frozen=True):
    """What parsing needs from the rest of the crawl."""

    canonicalizer: Canonicalizer
    decide: Decide
    now: float
    """Seconds since 1970, for the scope and for the plausibility of dates."""
    limits: ParseLimits = ParseLimits()
    content_hash: Callable[[str], str] | None = None
    """Text → hash for exact duplicates; not computed where None."""
    simhash: Callable[[str], int] | None = None
    """Text → SimHash; not computed where None."""
    memory: ReferenceMemory | None = None
    """What references meant on earlier pages; None: each page works its own out."""
    rules: RuleBook | None = None
    """The operator's document rules."""
    fields: Taker | None = None
    """The operator's own fields."""
    view: PageView | None = None
    """The page as whoever knows its site sees it."""
    agent: str = "gossamer"
    """The name, lower case, under which pages may address us in robots directives."""


def parse_document(job: ParseJob, context: ParseContext) -> Parsed:
    """Understand a body; never raises."""
    try:
        return _parse(job, context)
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic in a Rust library is not an Exception
        problem = clean_line(f"parser failed: {type(error).__name__}: {error}", 300)
        return Parsed(job.url, ok=False, problem=problem, media_type=media_type(job.content_type))


def _parse(job: ParseJob, context: ParseContext) -> Parsed:
    media = media_type(job.content_type)
    parser = Parser.NONE if job.kind is not Kind.PAGE else choose_parser(media, job.body)
    if parser is Parser.HTML:
        return _parse_html(job, media, context)
    if parser is Parser.PLAIN:
        return _parse_plain(job, media, context)
    problem = f"no parser for a {job.kind.value} of type {media or 'unknown'}"
    return Parsed(job.url, ok=False, problem=problem, unsupported=True, media_type=media)


def _parse_plain(job: ParseJob, media: str, context: ParseContext) -> Parsed:
    decoded = decode(job.body[: context.limits.max_bytes], job.content_type, _top_level_domain(job.url))
    text = clean_text(decoded.text[: context.limits.max_text_chars])
    parsed = Parsed(job.url, media_type=media or "text/plain", charset=decoded.charset, text=text, method="plain")
    parsed.title = title_of(text, job.url)
    parsed.links = written_links(text, context.limits.max_links)
    return complete(parsed, job, context)


def complete(parsed: Parsed, job: ParseJob, context: ParseContext) -> Parsed:
    """Add what every document has to what the parser of another type found: the wishes of the headers, canonical links
    and which of them are followed, the category of its rule, language and fingerprints. A problem stays one."""
    if not parsed.ok:
        return parsed
    limits, now = context.limits, context.now
    resolve = Resolver(context.canonicalizer, parse_base(job.url))
    data = Metadata()
    apply_headers(data, job.robots_headers, job.link_headers, resolve, context.agent)
    parsed.noindex |= data.robots.noindex_at(now)
    parsed.nofollow |= data.robots.nofollow
    parsed.noarchive |= data.robots.noarchive
    parsed.ai_signals = sorted({*parsed.ai_signals, *data.robots.ai_signals})
    parsed.canonical = resolve(parsed.canonical) or data.canonical
    parsed.alternates = parsed.alternates or data.alternates
    found = [(resolve(link.url), link) for link in parsed.links[: limits.max_links]]
    parsed.links = [msgspec.structs.replace(link, url=url) for url, link in found if url]
    parsed.follow = []
    _decide_targets(parsed, context)
    rule = context.rules.match(parsed.url) if context.rules is not None else None
    if rule is not None and rule.category:
        parsed.category, parsed.category_source = rule.category, "rule"
    if context.fields is not None:
        parsed.fields = context.fields.take(None, parsed.url, now)
    parsed.text = clean_text(parsed.text[: limits.max_text_chars])
    _fingerprint(parsed, context)
    _take_dates(parsed, _without_future(parsed, now))
    return parsed


def _parse_html(job: ParseJob, media: str, context: ParseContext) -> Parsed:
    limits = context.limits
    html, charset = decode(job.body[: limits.max_bytes], job.content_type, _top_level_domain(job.url))
    tree = Tree(html, limits.max_tags)
    parsed = Parsed(job.url, media_type=media or "text/html", charset=charset)
    base = tree.first("base[href]")
    base_url = resolve_base(job.url, base.attr("href") if base else None)
    resolve = Resolver(context.canonicalizer, base_url, context.memory)
    structured = read_structured(tree, job.url)
    data = read_metadata(tree, resolve, job.url, context.agent, structured, context.view)
    dates = find_dates(tree, data.metas, structured, job.url, data.claimed_language, context.now, data.title)
    _take_dates(parsed, dates)
    links = collect_links(tree, resolve, limits.max_links)
    parsed.links = links + data.neighbours if data.neighbours else links
    if job.robots_headers or job.link_headers:
        own = Resolver(context.canonicalizer, parse_base(job.url))
        apply_headers(data, job.robots_headers, job.link_headers, own, context.agent)
    _take_metadata(parsed, data, context.now)
    if context.fields is not None:
        parsed.fields = context.fields.take(tree, job.url, context.now)
    _decide_targets(parsed, context)
    if not _cut_by_rule(parsed, tree, context):
        shown = visible_text(tree) if structured.body else ""
        found = main_text(
            tree, job.url, limits.max_text_chars, structured.types, limits.text, structured.body, context.view
        )
        parsed.text, parsed.method = found.text, found.method
        if body := trusted_body(structured, shown, parsed.text):
            parsed.text, parsed.method = body[: limits.max_text_chars], "json-ld"
        if not parsed.page_type:
            guess, confidence = found.page_type, found.type_confidence
            parsed.page_type = page_kind(parsed, data.metas, structured.types, guess, confidence)
        if parsed.date_source != "rule":
            parsed.date_confidence = confidence_on(found.page_type, found.type_confidence, parsed.date_confidence)
            if parsed.page_type in LISTS:  # what a list shows is the date of an entry
                parsed.date, parsed.date_source, parsed.date_confidence = "", "", 0.0
    _fingerprint(parsed, context)
    return parsed


def _cut_by_rule(parsed: Parsed, tree: Tree, context: ParseContext) -> bool:
    """Take what the document rule for this URL finds; whether that is the text."""
    rule = context.rules.match(parsed.url) if context.rules is not None else None
    if rule is None:
        return False
    parsed.page_type = rule.page_type
    if rule.category:
        parsed.category, parsed.category_source = rule.category, "rule"
    found = cut(tree, rule, context.limits.max_text_chars, context.now)
    parsed.title = found.title or parsed.title
    parsed.author = found.author or parsed.author
    if found.date:
        parsed.date, parsed.date_source, parsed.date_confidence = found.date, "rule", 1.0
    if found.text:
        parsed.text, parsed.method = found.text, f"rule {rule.name}"
    return bool(found.text)


def _take_metadata(parsed: Parsed, data: Metadata, now: float) -> None:
    parsed.title = data.title
    parsed.description = data.description
    parsed.headings = data.headings
    parsed.claimed_language = data.claimed_language
    parsed.author = data.author
    parsed.site_name = data.site_name
    parsed.image = data.image
    parsed.canonical = data.canonical
    parsed.refresh = data.refresh
    parsed.alternates = data.alternates
    parsed.feeds = data.feeds
    parsed.noindex = data.robots.noindex_at(now)
    parsed.nofollow = data.robots.nofollow
    parsed.noarchive = data.robots.noarchive
    parsed.ai_signals = sorted(data.robots.ai_signals)


def _without_future(parsed: Parsed, now: float) -> Dates:
    """A document's own dates, but for those after tomorrow: clocks of authors are wrong, too."""
    latest = datetime.fromtimestamp(now + 86_400, UTC).date().isoformat()
    published = (parsed.date, parsed.date_source, parsed.date_confidence)
    updated = (parsed.updated, parsed.updated_source, parsed.updated_confidence)
    none = ("", "", 0.0)
    return Dates(
        *(published if parsed.date[:10] <= latest else none), *(updated if parsed.updated[:10] <= latest else none)
    )


def _take_dates(parsed: Parsed, dates: Dates) -> None:
    parsed.date, parsed.date_source = dates.published, dates.published_source
    parsed.date_confidence = dates.published_confidence
    parsed.updated, parsed.updated_source = dates.updated, dates.updated_source
    parsed.updated_confidence = dates.updated_confidence


def _decide_targets(parsed: Parsed, context: ParseContext) -> None:
    targets = [] if parsed.nofollow else followable(parsed.links, parsed.url)
    if not targets:
        return
    parsed.follow, refused = context.decide(targets, context.now)
    # what lies outside the scope or is no URL of ours is not worth a row in the frontier
    parsed.refused = [
        (url, decision.rule, decision.reason)
        for url, decision in refused
        if not decision.rule.startswith(("scope.", "url."))
    ][: context.limits.max_refused]


def _fingerprint(parsed: Parsed, context: ParseContext) -> None:
    text = parsed.text
    claim = parsed.claimed_language or parsed.language
    usual = context.view.languages if context.view is not None else None
    parsed.language = page_language(text, claim, f"{parsed.title}\n{parsed.description}", usual)
    if context.content_hash is not None:
        parsed.content_hash = context.content_hash(text)
    if context.simhash is not None:
        parsed.simhash = context.simhash(text)


def _top_level_domain(url: str) -> str:
    return host_of(site_of(url)).rpartition(".")[2]
