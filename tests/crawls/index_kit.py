"""What an index holds, in full, so that two of them can be compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import tantivy

from gossamer.index import schema
from gossamer.index.folder import IndexFolder

TEXT_FIELDS = (
    schema.TITLE, schema.BODY, schema.TITLE_STEMS, schema.BODY_STEMS, schema.HEADINGS, schema.ANCHORS, schema.ADDRESS,
    schema.WITHIN, schema.SITE, schema.LANG, schema.TYPE,
)  # fmt: skip


class Contents(msgspec.Struct):
    """Everything that can be found in an index."""

    pages: dict[str, dict[str, Any]]
    """URL → what is stored of it."""
    copies: list[str]
    """URLs that are there more than once."""
    terms: dict[str, dict[str, int]]
    """Field → term → pages that have it, deleted ones not counted."""


def contents(data: Path) -> Contents:
    """The contents of a data folder's index."""
    index = schema.prepare(tantivy.Index.open(str(IndexFolder(data / "index").require())))
    searcher = index.searcher()
    every = tantivy.Query.all_query()
    hits = searcher.search(every, max(1, searcher.num_docs)).hits
    found = [schema.decode(searcher.doc(address)) for _, address in hits]
    urls = [page.url for page in found]
    terms = {field: dict(searcher.terms_with_prefix(field, "", every)) for field in TEXT_FIELDS}
    return Contents(
        pages={page.url: msgspec.structs.asdict(page) for page in found},
        copies=sorted({url for url in urls if urls.count(url) > 1}),
        terms={
            field: {term: pages for term, pages in counted.items() if pages > 0} for field, counted in terms.items()
        },
    )
