"""Reading one page, without a crawl."""

from __future__ import annotations

import time
from collections.abc import Sequence

from gossamer.api.pages import Link, More, Page
from gossamer.dedup.exact import content_hash
from gossamer.discover.seeds import parse_seed
from gossamer.errors import UsageError
from gossamer.model.decision import Decision
from gossamer.model.records import Kind, Parsed, ParseJob
from gossamer.model.site import host_of, site_of
from gossamer.model.url import Canonicalizer
from gossamer.parse.charset import decode
from gossamer.parse.document import ParseContext, complete, parse_document
from gossamer.parse.documents.reading import document_html
from gossamer.parse.limits import ParseLimits
from gossamer.parse.markdown import page_markdown, paragraphs, whole_markdown
from gossamer.parse.sniff import Parser, choose_parser, media_type, true_type
from gossamer.plugins import MISSING, own_parser, readable_types

_UTF8 = "text/html; charset=utf-8"


def read_page(html: str | bytes, url: str, *, content_type: str = "") -> Page:
    """Read one page: title, main text, Markdown, date, language, links. Nothing is fetched or stored.

    `html` is the page as text, or the body of a response as bytes; then `content_type` may say what its header said.
    PDF, office and book files and plain text are read, too. `url` is where the page comes from: relative links need it.

    Raises `gossamer.errors.UsageError` if the URL is none, or the body is of a type that Gossamer does not read.
    """
    canonicalizer = Canonicalizer()
    address = parse_seed(url.strip(), "url", canonicalizer)
    if isinstance(html, str):
        body, content_type = html.encode("utf-8", "replace"), content_type.partition(";")[0] or _UTF8
        content_type = content_type if "charset" in content_type else f"{content_type}; charset=utf-8"
    else:
        body = html
    job = ParseJob(address, Kind.PAGE, content_type, body)
    parsed = _read(job, ParseContext(canonicalizer, _decide_nothing, time.time(), content_hash=content_hash))
    if not parsed.ok:
        raise UsageError(f"cannot read {address}: {parsed.problem}")
    return page_of(parsed, job, canonicalizer)


def page_of(parsed: Parsed, job: ParseJob, canonicalizer: Canonicalizer) -> Page:
    """The page that a parser made of a body."""
    return Page(
        url=parsed.url,
        title=parsed.title,
        text=parsed.text,
        language=parsed.language,
        date=parsed.date,
        updated=parsed.updated,
        author=parsed.author,
        description=parsed.description,
        headings=tuple(parsed.headings),
        type=parsed.page_type,
        category=parsed.category,
        site=site_of(parsed.url),
        site_name=parsed.site_name,
        image=parsed.image,
        canonical=parsed.canonical,
        media_type=parsed.media_type,
        text_hash=parsed.content_hash,
        more=_more(parsed, job, canonicalizer),
    )


def _read(job: ParseJob, context: ParseContext) -> Parsed:
    media = true_type(media_type(job.content_type), job.body, job.url)
    if media in readable_types():
        return complete(own_parser(media, context.limits)(job), job, context)
    parsed = parse_document(job, context)
    if not parsed.ok and media in MISSING:
        parsed.problem = f"no parser for {media}: {MISSING[media]}"
    return parsed


def _more(parsed: Parsed, job: ParseJob, canonicalizer: Canonicalizer) -> More:
    def html() -> str | None:
        if choose_parser(media_type(job.content_type), job.body) is not Parser.HTML:
            return None
        return decode(job.body, job.content_type, host_of(site_of(job.url)).rpartition(".")[2]).text

    def markdown() -> str:
        if whole := document_html(job, ParseLimits()):
            return whole_markdown(whole, job.url, canonicalizer, ParseLimits())
        page = html()
        if page is None or not parsed.text:
            return paragraphs(parsed.text)
        return page_markdown(page, parsed.text, job.url, canonicalizer, ParseLimits(), parsed.title).text

    def links() -> tuple[Link, ...]:
        return tuple(Link(job.url, link.url, link.anchor, link.rel, link.tag) for link in parsed.links)

    return More(markdown, links, html)


def _decide_nothing(urls: Sequence[str], now: float) -> tuple[list[str], list[tuple[str, Decision]]]:
    """No link is followed, so the scope need not be asked."""
    return [], []
