"""Where a page may state its dates, each read on its own; what to believe is `date`'s business."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from itertools import islice

import msgspec

from gossamer.model.months import MONTHS
from gossamer.parse.date.forms import days_in, read_date
from gossamer.parse.html import Element, Tree
from gossamer.parse.structured import ARTICLE, Structured

META_NAMES = (
    "article:published_time", "og:article:published_time", "article:published", "og:published_time", "og:pubdate",
    "datepublished", "parsely-pub-date", "sailthru.date", "cxenseparse:recs:publishtime", "bt:pubdate",
    "citation_publication_date", "citation_online_date", "citation_date",
    "dcterms.issued", "dc.date.issued", "dcterms.created", "dc.date.created", "dcterms.date", "dc.date",
    "pubdate", "publishdate", "publish-date", "publish_date", "publication_date", "published", "published_time",
    "article.published", "article_date_original", "originalpublicationdate", "creation_date", "date", "ms.date",
)  # fmt: skip
_META_LIKE = re.compile(r"publi(?:sh|shed|cation|c)?[-_.: ]?(?:date|time|on|at)|(?:date|time)[-_.: ]?publi")
META_UPDATED = (
    "article:modified_time", "og:updated_time", "og:modified_time", "article:modified", "datemodified",
    "dcterms.modified", "dc.date.modified", "last-modified", "lastmod", "last_modified", "modified_time", "revised",
    "updated_time", "date-revision-yyyymmdd",
)  # fmt: skip

_MARKED_TAGS = ("time", "span", "abbr")
_MAX_MARKED = 200
_PUBLISHED_MARKS = ("datePublished", "dateCreated", "uploadDate", "dc:date", "dc:created", "dcterms:created")
_UPDATED_MARKS = ("dateModified", "dc:modified", "dcterms:modified")
_MAX_TIMES = 40
_MAX_DATES = 60
_DATE_CHARS = 200
_MAX_LONG = 12
"""Elements with more text than that which are looked at: nested ones hold the same again."""
_DATE_CLASSES = "[class*=date]"
_PUBLISHED = re.compile(r"publi|posted|(?:post|entry|article)[-_ ]?(?:date|time)|written", re.I)
_PATHS = (
    re.compile(r"/((?:19|20)\d\d)([/-])(0?[1-9]|1[0-2])\2(0?[1-9]|[12]\d|3[01])(?=[/+_-]|$)"),
    re.compile(r"/((?:19|20)\d\d)(/)([A-Za-z]{3,9})/(0?[1-9]|[12]\d|3[01])(?=/|$)"),
    re.compile(r"[/_-]((?:19|20)\d\d)()(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=[/_.-]|$)"),
)


class Found(msgspec.Struct, frozen=True):
    """A date, where it stands, and under which circumstances."""

    value: str
    source: str
    case: str
    """Its row in `date.CONFIDENCE`."""

    @property
    def day(self) -> date:
        """The day alone."""
        return date.fromisoformat(self.value[:10])


class Page(msgspec.Struct, frozen=True):
    """What all sources share."""

    tree: Tree
    metas: Mapping[str, str]
    structured: Structured
    url: str
    latest: date
    language: str

    def read(self, text: str) -> str:
        """A date in a string."""
        return read_date(text, self.latest, self.language)

    def of(self, element: Element) -> str:
        """The date an element stands for."""
        return self.read(element.attr("datetime") or element.attr("content") or _start_of(element, 100))


def stated_dates(page: Page) -> Iterator[Found]:
    """When machines are told that it was published, the most reliable source first."""
    yield from _in_metas(page, META_NAMES, "meta")
    if page.structured.rank == ARTICLE and (found := page.read(page.structured.published)):
        yield Found(found, "json-ld", "json-ld")
    yield from _in_microdata(page, _PUBLISHED_MARKS, "microdata")
    yield from _in_other_metas(page)


def stated_update(page: Page) -> Iterator[Found]:
    """When machines are told that it was last changed."""
    yield from _in_metas(page, META_UPDATED, "updated meta")
    if found := page.read(page.structured.modified):
        yield Found(found, "json-ld", "updated json-ld")
    yield from _in_microdata(page, _UPDATED_MARKS, "updated microdata")


def _in_metas(page: Page, names: tuple[str, ...], case: str) -> Iterator[Found]:
    metas = page.metas
    for name in names:
        if name in metas and (found := page.read(metas[name])):
            yield Found(found, f"meta {name}", case)


def _in_other_metas(page: Page) -> Iterator[Found]:
    """The earliest of the meta elements with names of a site's own that mean publication."""
    like = [(found, name) for name in page.metas if _META_LIKE.search(name) if (found := page.read(page.metas[name]))]
    for found, name in sorted(like)[:1]:
        yield Found(found, f"meta {name}", "meta")


def _in_microdata(page: Page, names: tuple[str, ...], case: str) -> Iterator[Found]:
    """Dates of elements marked by microdata (`itemprop`) or RDFa (`property`)."""
    # by tag, because the parser keeps an index of tags and none of attributes
    marked = [
        (mark.removeprefix("schema:"), element)
        for tag in _MARKED_TAGS
        for attribute in ("itemprop", "property")
        for element in page.tree.select(f"{tag}[{attribute}]")[:_MAX_MARKED]
        for mark in (element.attr(attribute) or "").split()[:5]
    ]
    for name in names:
        for mark, element in marked:
            if mark == name and (found := page.of(element)):
                yield Found(found, "microdata", case)


def in_path(url: str, latest: date) -> str:
    """The day in the path of a URL, `""` for none."""
    path = url[:2000].partition("?")[0].partition("//")[2]
    for form in _PATHS:
        if match := form.search(path):
            month = MONTHS.get(match[3].lower()) or (int(match[3]) if match[3].isdigit() else 13)
            return read_date(f"{match[1]}-{month:02}-{int(match[4]):02}", latest)
    return ""


def in_classes(page: Page) -> Found | None:
    """A short text in an element that is called a date, where the page has only one such day."""
    found: dict[str, bool] = {}
    too_long = 0
    for element in page.tree.select(_DATE_CLASSES)[:_MAX_DATES]:
        text = _start_of(element, _DATE_CHARS + 1)
        too_long += len(text) > _DATE_CHARS
        if too_long > _MAX_LONG:
            break
        if len(text) <= _DATE_CHARS:
            for start, _, day in islice(days_in(text, page.latest, page.language), 1):
                called = _PUBLISHED.search(f"{element.attr('class')} {text[:start]}") is not None
                if called or len(text) <= _DATE_CHARS // 3:
                    found[day.isoformat()] = called or found.get(day.isoformat(), False)
    named = [day for day, called in found.items() if called]
    if len(named) == 1:
        return Found(named[0], "text", "class labelled")
    return Found(next(iter(found)), "text", "class") if len(found) == 1 else None


def in_times(page: Page) -> list[str]:
    """The dates of the page's `<time>` elements, in order."""
    return [moment for element in page.tree.select("time")[:_MAX_TIMES] if (moment := page.of(element))]


def _start_of(element: Element, chars: int) -> str:
    """The first characters of an element's text: reading all of nested ones would be reading it again and again."""
    parts: list[str] = []
    for part in element.strings:
        parts.append(part[:chars])
        chars -= len(part)
        if chars <= 0:
            break
    return "".join(parts)
