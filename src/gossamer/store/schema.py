"""The columns of `pages` and `links`: names, types, meanings.

The tables below are the whole truth: files are written and checked by them, and the
page in the documentation is printed from them. `pages` follows `PageRow` field by
field. A change that a reader of old files would notice raises `VERSION`.

Types are those every Parquet reader has; strings are plain strings. Low-cardinality
columns are dictionary-encoded inside the file, which readers do not see.
Strings may hold any character except lone surrogates, which UTF-8 cannot express;
they are replaced by U+FFFD instead of losing a whole commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.model.records import Link, PageRow

VERSION = 5
VERSION_KEY = "gossamer.schema"

PAGE_GROUP = 256
"""Rows in a row group of `pages`: what one lookup decodes. With 256 a lookup takes 2 ms
and a commit is one group; with 64 it takes 1 ms and writing costs 1.7 times as much."""
LINK_GROUP = 65_536
"""Rows in a row group of `links`, which are only read by the million."""

_TIME = pa.timestamp("us", "UTC")
_WORDS = pa.list_(pa.field("element", pa.string()))


class Column(NamedTuple):
    """One column: `few` says that values repeat, `bounds` that smallest and largest are kept per group."""

    name: str
    type: pa.DataType
    meaning: str
    null: bool = True
    few: bool = False
    bounds: bool = False


PAGES: tuple[Column, ...] = (
    Column("url", pa.string(), "the URL visited, in canonical form", null=False, bounds=True),
    Column("site", pa.string(), "host, with the port where it is not the default", False, True, True),
    Column("domain", pa.string(), "registrable domain", null=False, few=True, bounds=True),
    Column("fetched_at", _TIME, "when the visit took place", null=False, bounds=True),
    Column("outcome", pa.string(), "what came of it: `document` is a page kept", False, True, True),
    Column("status", pa.int32(), "HTTP status, 0 where no response came", False, True, True),
    Column("reason", pa.string(), "one sentence where it is no plain success", null=False, few=True),
    Column("depth", pa.int32(), "links followed from the nearest seed", null=False, few=True, bounds=True),
    Column("media_type", pa.string(), "such as `text/html`", null=False, few=True),
    Column("charset", pa.string(), "the character set the body was read in", null=False, few=True),
    Column("title", pa.string(), "the page's own title, without the name of its site"),
    Column("description", pa.string(), "its meta description"),
    Column("headings", _WORDS, "its headings in order"),
    Column("text", pa.string(), "its main text"),
    Column("method", pa.string(), "which extractor cut the text out", few=True),
    Column("lang", pa.string(), "language of the page by its text, script and claim, ISO 639-1", few=True),
    Column("claimed_lang", pa.string(), "language the page claims to be in", few=True),
    Column("date", pa.string(), "publication date, ISO 8601 text as precise as it was given", bounds=True),
    Column("date_source", pa.string(), "where the date was found", few=True),
    Column("date_confidence", pa.float64(), "0…1: how far dates of that source can be trusted", few=True),
    Column("updated", pa.string(), "date of the last change the page states, ISO 8601"),
    Column("updated_source", pa.string(), "where that date was found", few=True),
    Column("updated_confidence", pa.float64(), "0…1: how far it can be trusted", few=True),
    Column("author", pa.string(), "who wrote it, as the page says", few=True),
    Column("site_name", pa.string(), "what the site calls itself", few=True),
    Column("image", pa.string(), "URL of the page's leading picture"),
    Column("page_type", pa.string(), "kind of page: `article`, `listing`, `forum`, …; empty where unsure", few=True),
    Column("category", pa.string(), "by the operator's rules or classifier", few=True),
    Column("category_source", pa.string(), "which of the two", few=True),
    Column("canonical", pa.string(), "target of the page's canonical link"),
    Column("alternates", _WORDS, "the page in other languages, as it lists them: hreflang, a space, URL"),
    Column("target", pa.string(), "where a redirect, alias or duplicate points"),
    Column(
        "content_hash",
        pa.string(),
        "hash of the normalised text; `page-…` if that is too short to compare: of title, text and content",
    ),
    Column("simhash", pa.int64(), "SimHash of the text, a signed number, where `dedup.near` is `simhash`"),
    Column("cluster", pa.int64(), "documents with the same number are near duplicates; null: too short to compare"),
    Column("joined", pa.bool_(), "whether others had founded the cluster before"),
    Column("etag", pa.string(), "ETag of the response"),
    Column("last_modified", pa.string(), "Last-Modified of the response", few=True),
    Column("size", pa.int64(), "bytes of the body, unpacked", null=False),
    Column("links", pa.int32(), "number of links on the page", null=False, few=True),
    Column("duration", pa.float64(), "seconds from request to the last byte", null=False),
    Column("address", pa.string(), "IP address of the server", null=False, few=True),
    Column("ai_signals", _WORDS, "AI-use wishes found on the page", few=True),
    Column("worker", pa.string(), "who fetched it", null=False, few=True),
    Column("warc_offset", pa.int64(), "where the raw response starts in `responses.warc.gz`"),
    Column("warc_length", pa.int64(), "how many bytes it takes there"),
    Column("judged", pa.binary(), "what was decided by what was known of its site; not exported"),
    Column("new", pa.bool_(), "whether the page was no document before this visit"),
    Column(
        "fields", _WORDS, "values of your own [fields](fields.md): name, type and value, with spaces between", few=True
    ),
    Column("field_sources", _WORDS, "where each of them was found, as your settings say it", few=True),
)

LINKS: tuple[Column, ...] = (
    Column("source", pa.string(), "URL of the page the link stands on", null=False, few=True, bounds=True),
    Column("target", pa.string(), "where it points, in canonical form", null=False, few=True),
    Column("anchor", pa.string(), "its text", null=False, few=True),
    Column("rel", pa.string(), "its rel words, lower case", null=False, few=True),
    Column("tag", pa.string(), "where it stood: `a`, `area`, `iframe`, `frame`, `link`, `meta`", False, True),
    Column("fetched_at", _TIME, "when the page was visited", null=False, few=True, bounds=True),
)


def _schema(columns: Sequence[Column]) -> pa.Schema:
    return pa.schema([pa.field(column.name, column.type, column.null) for column in columns])


def _writer_options(columns: Sequence[Column], level: int, packed: Sequence[Column]) -> dict[str, Any]:
    """`packed`: the columns that are compressed; preparing that costs as much as compressing a few hundred bytes."""
    names = {_leaf(column) for column in packed}
    return {
        "compression": {leaf: "zstd" if leaf in names else "none" for leaf in map(_leaf, columns)},
        "compression_level": dict.fromkeys(names, level),
        "use_dictionary": [_leaf(column) for column in columns if column.few],
        "write_statistics": [column.name for column in columns if column.bounds],
        "write_page_checksum": True,
        # Arrow's own copy of the schema would tell readers about our dictionary arrays
        "store_schema": False,
    }


def _leaf(column: Column) -> str:
    return f"{column.name}.list.element" if column.type == _WORDS else column.name


ADDED: dict[int, frozenset[str]] = {
    2: frozenset(
        (
            *("date_confidence", "updated", "updated_source", "updated_confidence", "author", "site_name", "image"),
            *("page_type", "category", "category_source", "cluster", "joined"),
        )
    ),
    3: frozenset(("alternates",)),
    4: frozenset(("judged",)),
    5: frozenset(("new", "fields", "field_sources")),
}
"""The columns of `pages` that files of an older version do not have: they are read as null."""

PAGES_SCHEMA = _schema(PAGES)
EXPORTED_SCHEMA = _schema([column for column in PAGES if column.name != "judged"])
LINKS_SCHEMA = _schema(LINKS)
_LINKS_IN_MEMORY = LINKS_SCHEMA.set(0, pa.field("source", pa.dictionary(pa.int32(), pa.string()), nullable=False))

# Level 1, and only long columns, while the crawl waits: a third less time for 1 % more bytes. All columns and
# level 3 (a tenth smaller, a quarter slower) when segments are merged.
_LONG = [column for column in PAGES if not column.few and column.type in (pa.string(), _WORDS, pa.binary())]
PAGES_OPTIONS, PAGES_MERGE_OPTIONS = _writer_options(PAGES, 1, _LONG), _writer_options(PAGES, 3, PAGES)
LINKS_OPTIONS, LINKS_MERGE_OPTIONS = _writer_options(LINKS, 1, LINKS), _writer_options(LINKS, 3, LINKS)


def pages_table(rows: Sequence[PageRow]) -> pa.Table:
    """Rows as columns, in the order given."""
    return pa.Table.from_arrays([_page_column(column, rows) for column in PAGES], schema=PAGES_SCHEMA)


def _page_column(column: Column, rows: Sequence[PageRow]) -> pa.Array:
    name = column.name
    values = [getattr(row, name) for row in rows]
    if name == "fetched_at":
        values = [_micros(value) for value in values]
    elif name == "simhash":
        values = [_signed(value) for value in values]
    return _array(values, column.type)


def links_table(pages: Sequence[tuple[str, float, Sequence[Link]]]) -> pa.Table:
    """The links of all pages (source, time of the visit, links), page after page.

    There are eighty times as many links as pages: nothing here runs Python code per link
    but the list comprehensions, and what a page's links share is spread out by NumPy: a worker
    goes without `pyarrow.compute`, which takes 9 MiB.
    """
    links = list(chain.from_iterable(page[2] for page in pages))
    counts = [len(page[2]) for page in pages]
    parent = np.repeat(np.arange(len(pages), dtype=np.int32), counts)
    times = np.array([_micros(page[1]) for page in pages], np.int64)
    columns = [
        pa.DictionaryArray.from_arrays(parent, _array([page[0] for page in pages], pa.string())),
        _array([link.url for link in links], pa.string()),
        _array([link.anchor for link in links], pa.string()),
        _array([link.rel for link in links], pa.string()),
        _array([link.tag for link in links], pa.string()),
        pa.array(np.repeat(times, counts), _TIME),
    ]
    return pa.Table.from_arrays(columns, schema=_LINKS_IN_MEMORY)


def page_row(table: pa.Table, index: int) -> PageRow:
    """One row of a table that has all columns of `pages`."""
    values = {name: table.column(name)[index] for name in PAGES_SCHEMA.names}
    time = values.pop("fetched_at").value / 1e6
    return PageRow(fetched_at=time, **{name: value.as_py() for name, value in values.items()})


def write_tables(sink: Any, form: pa.Schema, tables: Iterable[pa.Table], group: int, options: dict[str, Any]) -> int:
    """Writes a Parquet file in row groups of `group` rows; returns the number of rows."""
    rows = 0
    with pq.ParquetWriter(sink, form, **options) as writer:
        for table in tables:
            writer.write_table(table, row_group_size=group)
            rows += table.num_rows
        writer.add_key_value_metadata({VERSION_KEY: str(VERSION)})
    return rows


def schema_at(version: int, newest: pa.Schema) -> pa.Schema:
    """The columns a file of an older version has."""
    missing = {name for added, names in ADDED.items() if added > version for name in names}
    return pa.schema([field for field in newest if field.name not in missing])


def completed(table: pa.Table, newest: pa.Schema, columns: Sequence[str] | None) -> pa.Table:
    """A table of an older file with the columns that came later, all null."""
    names = newest.names if columns is None else columns
    missing = [name for name in names if name not in table.schema.names]
    nulls = {name: pa.nulls(table.num_rows, newest.field(name).type) for name in missing}
    if not nulls:
        return table
    arrays = [nulls[name] if name in nulls else table.column(name) for name in names]
    return pa.Table.from_arrays(arrays, schema=pa.schema([newest.field(name) for name in names]))


def version_of(file: pq.ParquetFile) -> int:
    """The schema version a file was written with; 0 where it is not a segment's file."""
    text = (file.metadata.metadata or {}).get(VERSION_KEY.encode(), b"")
    return int(text) if text.isdigit() else 0


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:
        return pa.array([_encodable(value) for value in values], kind)


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    return value


def _micros(time: float) -> int:
    return round(time * 1e6)


def _signed(bits: int | None) -> int | None:
    return bits - (1 << 64) if bits is not None and bits >= 1 << 63 else bits
