"""The part of `gossamer export pages` that follows a crawl: its changes as JSON lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import orjson

from gossamer.api.changes import Entry, looks
from gossamer.api.stored import Store
from gossamer.store.schema import EXPORTED_SCHEMA

_OPTIONS = orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z


def write_changes(sink: BinaryIO, data: Path, since: str, follow: bool, markdown: bool) -> None:
    """Write the entries since a position; each look is handed on at once, so a reader waits for nothing."""
    for found in looks(Store(data), since, follow, EXPORTED_SCHEMA.names):
        for entry in found.entries:
            sink.write(orjson.dumps(_row(entry, markdown), option=_OPTIONS))
        sink.flush()


def _row(entry: Entry, markdown: bool) -> dict[str, Any]:
    change = entry.change
    head = {"position": change.position, "change": change.number, "kind": change.kind, "url": change.url}
    if entry.row is None or change.page is None:
        return head
    text = {"markdown": change.page.markdown} if markdown else {}
    return {**head, **{name: entry.row[name] for name in EXPORTED_SCHEMA.names}, **text}
