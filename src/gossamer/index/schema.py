"""The fields of the index: what can be searched, filtered, counted and shown.

Every change to the fields below or to the output of `analysis` raises `VERSION`; an index of another version is never
read,
it is rebuilt from the segments.

A page's words are indexed twice: as written (`title`, `body`, with positions for phrases) and as stems, character pairs
and dictionary words (the `…_stems` fields), cut by `analysis` and joined by spaces. One stored value, `page`, holds
everything a result shows, since reading one is much cheaper than reading eight.
"""

from __future__ import annotations

from threading import local

import msgspec
import tantivy
import zstandard

from gossamer.index import custom
from gossamer.model.fields import FieldValue

VERSION = 5

# Words as written, with positions.
TITLE = "title"
BODY = "body"
# Stems, without positions.
TITLE_STEMS = "title_stems"
BODY_STEMS = "body_stems"
HEADINGS = "headings"
ANCHORS = "anchors"
ADDRESS = "address"
# What the page is called, as numbers: surely, and perhaps.
NAME = "name"
PART_NAME = "part_name"
# Filters and facets.
KEY = "key"
WITHIN = "within"
SITE = "site"
OWNER = "owner"
"""Number of the registrable domain."""
SECTION = "section"
"""Number of the site's part, by the first part of the path."""
LANG = "lang"
TYPE = "type"
PAGE_TYPE = "page_type"
CATEGORY = "category"
DATE = "date"
YEAR = "year"
# Priors and copies.
FETCHED = "fetched"
DEPTH = "depth"
LISTED = "listed"
"""1 for a list of other pages."""
CLUSTER = "cluster"
JOINED = "joined"
# What a result shows.
PAGE = "page"

SCORED = (TITLE, BODY, ADDRESS, TITLE_STEMS, BODY_STEMS, HEADINGS, ANCHORS)
"""The fields that scores come from, in the order in which the schema numbers them."""

TOO_LONG = 80
"""Bytes of a word from which on the index leaves it out."""
_LEVEL = 3
"""Of zstd. 6 saves 4 % more of what is stored, for twice the time."""
_MOST_BYTES = 16_000_000
"""Bytes that a stored value can have at most: its text is cut at 100,000 characters."""
_SURFACE = "gossamer_surface"
_CUT = "gossamer_cut"


class StoredDocument(msgspec.Struct, array_like=True):
    """The stored value of a document; `array_like`, so that field names are not stored with every page."""

    url: str
    title: str
    text: str
    site: str
    lang: str | None = None
    date: str | None = None
    fetched_at: float = 0.0
    type: str = "html"
    page_type: str = ""
    category: str = ""
    author: str = ""
    alternates: list[tuple[str, str]] = []
    """Language and URL of the page in other languages."""
    fields: list[FieldValue] = []
    """Values of the operator's own fields."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(StoredDocument).decode
_mine = local()


def encode(page: StoredDocument) -> bytes:
    """The stored value of a page. The library packs stored values with lz4, some at once; zstd packs each by itself, so
    that one is read without the others, and takes a fifth less room."""
    pack: zstandard.ZstdCompressor | None = getattr(_mine, "pack", None)
    if pack is None:  # one for each thread: they are not safe to share
        pack = _mine.pack = zstandard.ZstdCompressor(level=_LEVEL)
    return pack.compress(_encode(page))


def decode(document: tantivy.Document) -> StoredDocument:
    """The stored value of a found document; raises `ValueError` if the index is damaged."""
    page = document.get_first(PAGE)
    if not isinstance(page, bytes):  # a flipped bit in the type of a field
        raise ValueError("a document is stored without its page")
    unpack: zstandard.ZstdDecompressor | None = getattr(_mine, "unpack", None)
    if unpack is None:
        unpack = _mine.unpack = zstandard.ZstdDecompressor()
    try:
        if zstandard.frame_content_size(page) > _MOST_BYTES:  # a flipped bit: the memory would be taken at once
            raise ValueError("the page of a document is damaged: it cannot be so large")
        return _decode(unpack.decompress(page, max_output_size=_MOST_BYTES))
    except zstandard.ZstdError as error:
        raise ValueError(f"the page of a document is damaged: {error}") from error


def build() -> tantivy.Schema:
    """The schema of a new index."""
    builder = tantivy.SchemaBuilder()
    for name in (TITLE, BODY):
        builder.add_text_field(name, tokenizer_name=_SURFACE, index_option="position")
    builder.add_text_field(ADDRESS, tokenizer_name=_CUT, index_option="position")
    for name in (TITLE_STEMS, BODY_STEMS, HEADINGS, ANCHORS):
        builder.add_text_field(name, tokenizer_name=_CUT, index_option="freq")
    builder.add_text_field(WITHIN, tokenizer_name="raw", index_option="basic")
    for name in (SITE, LANG, TYPE, PAGE_TYPE, CATEGORY):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic", fast=True)
    for name in (KEY, OWNER, SECTION, DATE, CLUSTER, JOINED):
        builder.add_integer_field(name, indexed=True, fast=True)
    for name in (YEAR, FETCHED, DEPTH, LISTED):
        builder.add_integer_field(name, fast=True)
    for name in (NAME, PART_NAME):
        builder.add_integer_field(name, indexed=True)
    builder.add_bytes_field(PAGE, stored=True)
    custom.declare(builder)
    return builder.build()


def surface_analyzer() -> tantivy.TextAnalyzer:
    """Cuts `analysis.surface` of a text into words, for the index and for phrases of a query."""
    words = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).filter(tantivy.Filter.remove_long(TOO_LONG))
    return words.filter(tantivy.Filter.lowercase()).filter(tantivy.Filter.ascii_fold()).build()


def prepare(index: tantivy.Index) -> tantivy.Index:
    """Give an opened index its tokenizers, which are not stored with it."""
    index.register_tokenizer(_SURFACE, surface_analyzer())
    cut = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).filter(tantivy.Filter.remove_long(TOO_LONG))
    index.register_tokenizer(_CUT, cut.build())
    return index
