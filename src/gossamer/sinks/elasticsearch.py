"""An index of Elasticsearch or OpenSearch, filled by `_bulk`.

The version of a document is the place of its change, kept by the server (`external_gte`): so a request of a process
that was killed, which arrives late, overwrites nothing newer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from gossamer.api.changes import Change
from gossamer.sinks.contract import Mark, SinkError, document_of, id_of, version_of
from gossamer.sinks.http_api import HttpApi, check_empty
from gossamer.sinks.mark_file import MarkFile

_TEXTS = ("title", "text", "markdown", "description", "headings")
_WORDS = ("url", "canonical", "site", "language", "type", "category", "author", "site_name", "image", "media_type",
          "date", "updated", "text_hash", "kind", "position")  # fmt: skip
_FIELDS: dict[str, dict[str, Any]] = {
    **{name: {"type": "text"} for name in _TEXTS},
    # Lucene refuses words of more than 32,766 bytes.
    **{name: {"type": "keyword", "ignore_above": 8000} for name in _WORDS},
    "fetched_at": {"type": "date"},
    "change": {"type": "long"},
    "status": {"type": "integer"},
    "depth": {"type": "integer"},
}
_NEWER, _GONE = 409, 404


class Elasticsearch:
    """The sink."""

    at_once = 50

    def __init__(self, api: HttpApi, marks: MarkFile) -> None:
        self._api, self._marks, self._is_there = api, marks, False
        self.to_start_over = f"delete the index {api.index} and {marks.path}"

    def mark(self) -> Mark | None:
        """How far it is."""
        mark = self._marks.read()
        if mark is None:
            status, answer = self._api.ask("GET", f"/{self._api.index}/_count", good=(404,))
            check_empty(answer["count"] if status == 200 else 0, self._api.name, self.to_start_over)
        return mark

    def take(self, changes: Sequence[Change], mark: Mark) -> None:
        """Index new and changed pages, delete those that left."""
        if changes:
            self._make()
            body = b"".join(_lines(changes))
            _, answer = self._api.ask("POST", f"/{self._api.index}/_bulk", body, "application/x-ndjson")
            self._check(answer)
        self._marks.write(mark)

    def close(self) -> None:
        """End the connection, and let others write there."""
        self._api.close()
        self._marks.close()

    def _make(self) -> None:
        """The index, unless it is there: one with fields of its own stays as it is."""
        if not self._is_there:
            status, _ = self._api.ask("GET", f"/{self._api.index}", good=(404,))
            if status == 404:
                body = orjson.dumps({"mappings": {"dynamic": False, "properties": _FIELDS}})
                self._api.ask("PUT", f"/{self._api.index}", body, good=(400,))  # another process was quicker
            self._is_there = True

    def _check(self, answer: Any) -> None:
        for item in answer["items"] if answer["errors"] else ():
            verb, done = next(iter(item.items()))
            if done["status"] >= 300 and done["status"] != _NEWER and (verb, done["status"]) != ("delete", _GONE):
                raise SinkError(f"{self._api.name} did not take a page: {done.get('error')}")


def _lines(changes: Sequence[Change]) -> Iterator[bytes]:
    options = orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z
    for change in changes:
        what = {"_id": id_of(change.url), "version": version_of(change.position), "version_type": "external_gte"}
        yield orjson.dumps({"delete" if change.page is None else "index": what}, option=options)
        if change.page is not None:
            yield orjson.dumps(document_of(change), option=options)
