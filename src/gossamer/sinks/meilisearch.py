"""An index of Meilisearch.

It puts what it is asked to do into a queue and does it in order. The mark is written when the last task of a part is
done; what a process asked for before it was killed is done before what the next one asks for.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import orjson

from gossamer.api.changes import Change
from gossamer.sinks.contract import Mark, SinkError, document_of, id_of
from gossamer.sinks.http_api import HttpApi, check_empty
from gossamer.sinks.mark_file import MarkFile

_FIRST_LOOK, _LONGEST_LOOK = 0.02, 1.0
"""Seconds between two looks at a task."""


class Meilisearch:
    """The sink."""

    at_once = 50

    def __init__(self, api: HttpApi, marks: MarkFile) -> None:
        self._api, self._marks = api, marks
        self._documents = f"/indexes/{api.index}/documents"
        self.to_start_over = f"delete the index {api.index} and {marks.path}"

    def mark(self) -> Mark | None:
        """How far it is."""
        mark = self._marks.read()
        if mark is None:
            status, answer = self._api.ask("GET", f"/indexes/{self._api.index}/stats", good=(404,))
            check_empty(answer["numberOfDocuments"] if status == 200 else 0, self._api.name, self.to_start_over)
        return mark

    def take(self, changes: Sequence[Change], mark: Mark) -> None:
        """Index new and changed pages, delete those that left."""
        came = [{"id": id_of(change.url), **document_of(change)} for change in changes if change.page is not None]
        left = [id_of(change.url) for change in changes if change.page is None]
        tasks = []
        if came:
            tasks.append(self._begin(f"{self._documents}?primaryKey=id", came))
        if left:
            tasks.append(self._begin(f"{self._documents}/delete-batch", left))
        for task in tasks:
            self._wait(task)
        self._marks.write(mark)

    def close(self) -> None:
        """End the connection, and let others write there."""
        self._api.close()
        self._marks.close()

    def _begin(self, path: str, what: Any) -> int:
        _, answer = self._api.ask("POST", path, orjson.dumps(what, option=orjson.OPT_UTC_Z))
        return int(answer["taskUid"])

    def _wait(self, task: int) -> None:
        pause = _FIRST_LOOK
        while True:
            _, found = self._api.ask("GET", f"/tasks/{task}")
            if found["status"] == "succeeded":
                return
            if found["status"] in ("failed", "canceled"):
                error = found.get("error") or {}
                if error.get("code") == "index_not_found":  # nothing was there to delete
                    return
                raise SinkError(f"{self._api.name} did not take pages: {error.get('message') or found['status']}")
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_LOOK)
