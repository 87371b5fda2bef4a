"""A page as the index takes it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec
import tantivy

from gossamer.index import analysis, custom, schema
from gossamer.index.moments import date_seconds
from gossamer.index.names import names
from gossamer.index.schema import StoredDocument
from gossamer.model.fields import CustomFields, FieldValue, stored_values
from gossamer.model.page_types import LISTS
from gossamer.model.site import host_of, key64, owner_of, section_of, site_of
from gossamer.parse.document_types import of_media
from gossamer.parse.language import page_language

MAX_STORED = 100_000
"""Characters of a text that are kept in the index, for excerpts; all of it is searched, and is in the segments."""
_MAX_ALTERNATES = 50
"""Other languages of a page that are kept in the index."""
_MAX_FOLDERS = 12
"""Folders of a path that `site:host/path` can name."""
ROW_COLUMNS = [
    "url", "title", "headings", "text", "lang", "claimed_lang", "date", "fetched_at", "media_type", "page_type",
    "category", "author", "cluster", "joined", "alternates",
    "fields", "field_sources",
]  # fmt: skip
"""Columns of a stored page that `page_of` reads."""


class IndexPage(msgspec.Struct, frozen=True, kw_only=True):
    """The data of a page for the index."""

    url: str
    title: str = ""
    headings: Sequence[str] = ()
    text: str = ""
    anchors: Sequence[str] = ()
    """Texts of links that point here."""
    lang: str | None = None
    date: str | None = None
    """Publication date, ISO 8601."""
    fetched_at: float = 0.0
    media_type: str = "text/html"
    page_type: str = ""
    category: str = ""
    author: str = ""
    cluster: int | None = None
    """Pages with the same number are near-duplicates; None: it was not compared."""
    joined: bool = False
    """Whether others were in the cluster before."""
    alternates: Sequence[str] = ()
    """The page in other languages: hreflang, a space, URL."""
    fields: Sequence[FieldValue] = ()
    """Values of the operator's own fields."""

    @property
    def key(self) -> int:
        """The key by which the page is found, replaced and deleted."""
        return key64(self.url)


def page_of(row: Mapping[str, Any]) -> IndexPage:
    """A stored row as the index takes it, without the texts of links to it."""
    return IndexPage(
        url=row["url"],
        title=row["title"] or "",
        headings=row["headings"] or (),
        text=row["text"] or "",
        lang=row["lang"] or page_language(row["text"] or "", row["claimed_lang"] or "", row["title"] or "") or None,
        date=row["date"],
        fetched_at=row["fetched_at"].timestamp(),
        media_type=row["media_type"],
        page_type=row["page_type"] or "",
        category=row["category"] or "",
        author=row["author"] or "",
        cluster=row["cluster"],
        joined=bool(row["joined"]),
        alternates=row["alternates"] or (),
        fields=stored_values(row["fields"], row["field_sources"]),
    )


def build(page: IndexPage, using: Collection[str] = (), fields: CustomFields = ()) -> tantivy.Document:
    """The document of a page, analysed; `using`: the extras that its index was built with; `fields`: those of the
    operator's own that it has."""
    try:
        return _build(page, page.key, using, fields)
    except UnicodeEncodeError:  # a lone surrogate: no decoded text has one, but a page must not stop the rest
        texts = {name: value for name, value in msgspec.structs.asdict(page).items() if isinstance(value, str)}
        clean = {name: analysis.encodable(value) for name, value in texts.items()}
        return _build(msgspec.structs.replace(page, **clean), page.key, using, fields)


def _build(page: IndexPage, key: int, using: Collection[str], fields: CustomFields) -> tantivy.Document:
    site, lang = site_of(page.url), page.lang or ""
    document = tantivy.Document()
    text = document.add_text
    title, title_stems = analysis.both(page.title, lang, using)
    body, body_stems = analysis.both(page.text, lang, using)
    text(schema.TITLE, title)
    text(schema.BODY, body)
    # A word that a title repeats says no more than once; and a title is a part of what the page says.
    text(schema.TITLE_STEMS, " ".join(dict.fromkeys(title_stems.split())))
    text(schema.BODY_STEMS, f"{title_stems} {body_stems}")
    text(schema.HEADINGS, analysis.joined(page.headings, lang, using))
    text(schema.ANCHORS, analysis.joined(page.anchors, lang, using))
    text(schema.ADDRESS, " ".join(analysis.address_words(page.url)))
    for place in within(page.url):
        text(schema.WITHIN, place)
    text(schema.SITE, site)
    kind = type_of(page.url, page.media_type)
    text(schema.TYPE, kind)
    for name, value in (
        (schema.LANG, lang),
        (schema.PAGE_TYPE, page.page_type),
        (schema.CATEGORY, page.category.lower()),
    ):
        if value:
            text(name, value)
    document.add_integer(schema.KEY, key)
    document.add_integer(schema.OWNER, key64(owner_of(site)))
    if section := section_of(page.url):
        document.add_integer(schema.SECTION, key64(section))
    for field, numbers in zip((schema.NAME, schema.PART_NAME), names(page.title, page.headings, page.url), strict=True):
        for number in numbers:
            document.add_integer(field, number)
    _add_numbers(document, page)
    custom.add(document, page.fields, fields)
    shown = page.text if len(page.text) <= MAX_STORED else page.text[:MAX_STORED] + "…"
    stored = StoredDocument(
        page.url, page.title, shown, site, page.lang, page.date, page.fetched_at, kind, page.page_type, page.category,
        page.author, alternates_of(page), list(page.fields),
    )  # fmt: skip
    document.add_bytes(schema.PAGE, schema.encode(stored))
    return document


def alternates_of(page: IndexPage) -> list[tuple[str, str]]:
    """Language and URL of the page in other languages, each URL once."""
    pairs = (one.partition(" ") for one in page.alternates)
    found = {url: language for language, _, url in pairs if language != "x-default" and url != page.url}
    return [(language, url) for url, language in found.items()][:_MAX_ALTERNATES]


def _add_numbers(document: tantivy.Document, page: IndexPage) -> None:
    number = document.add_integer
    published = date_seconds(page.date)
    if published is not None and page.date:
        number(schema.DATE, published)
        number(schema.YEAR, int(page.date[:4]))
    number(schema.FETCHED, int(page.fetched_at))
    number(schema.DEPTH, depth(page.url))
    if page.page_type in LISTS:
        number(schema.LISTED, 1)
    # A page that was not compared is a cluster of its own; numbers of clusters are small, keys are not.
    number(schema.CLUSTER, page.key if page.cluster is None else page.cluster)
    number(schema.JOINED, int(page.joined))


def depth(url: str) -> int:
    """How deep a page is in its site: folders of its path, and one for a query."""
    path, _, query = url.partition("://")[2].partition("/")[2].partition("?")
    return len([part for part in path.split("/") if part]) + bool(query)


def within(url: str) -> list[str]:
    """Every place that `site:` can name and that holds the page."""
    parts = urlsplit(url)
    site = site_of(url)
    host = host_of(site)
    names = dict.fromkeys((site, host, host.removeprefix("www.")))
    places = list(dict.fromkeys([*names, *_domains(host)]))
    folders = [part for part in parts.path.split("/") if part][:_MAX_FOLDERS]
    for end in range(1, len(folders) + 1):
        places += [f"{name}/{'/'.join(folders[:end])}" for name in names]
    return places


def _domains(host: str) -> Iterable[str]:
    """The domains above a host, down to the top one."""
    while "." in host and not host.replace(".", "").isdigit():
        host = host.partition(".")[2]
        yield host


def place(typed: str) -> str:
    """A place as `within` spells it: the path percent-encoded, without a query."""
    host, slash, path = typed.partition("/")
    path = quote(path.partition("?")[0].strip("/"), safe="/%:@!$&'()*+,;=~-._")
    return host.lower() + slash + path if path else host.lower()


def type_of(url: str, media_type: str) -> str:
    """What `filetype:` calls a page: by its media type, else by the end of its URL."""
    known = of_media(media_type.partition(";")[0].strip().lower())
    if known is not None:
        return known.name
    name = urlsplit(url).path.rpartition("/")[2]
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    return ending if ending.isalnum() and len(ending) <= 5 else media_type.rpartition("/")[2] or "html"
