"""The whole URL table in the order of its keys, with clusters and aliases of each URL."""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.database.database import Database, Row
from gossamer.database.schema import REMOVED
from gossamer.model.outcome import Outcome

_COLUMNS = (
    "u.site_id, u.key, u.url, u.state, u.fit, u.outcome, u.target, u.content_hash, u.cluster, u.joined, "
    "COALESCE(m.seen_at, u.fetched_at), c.site_id, c.pages, {named}, u.segment, u.segment_row"
)
_NAMED = (
    "(SELECT COUNT(*) FROM aliases a WHERE a.target_site = u.site_id AND a.target_key = u.key "
    f"AND a.outcome = '{Outcome.ALIAS.value}')"
)
_TABLES = (
    "urls u LEFT JOIN clusters c ON c.id = u.cluster "
    "LEFT JOIN members m ON m.cluster = u.cluster AND m.site_id = u.site_id AND m.key = u.key"
)
_DOCUMENTS = f"WHERE u.outcome = '{Outcome.DOCUMENT.value}' AND u.segment IS NOT NULL AND u.state <> {REMOVED}"


def table_rows(db: Database, documents_only: bool) -> Iterator[Row]:
    """Columns as in `jobs.url_table.URLS`; only documents say how many aliases name them."""
    columns = _COLUMNS.format(named=_NAMED if documents_only else "0")
    where = _DOCUMENTS if documents_only else ""
    return db.iterate(f"SELECT {columns} FROM {_TABLES} {where} ORDER BY u.site_id, u.key")
