"""A webhook that gets each page whole: one signed POST a page, as `notify.webhook` says.

The id of a delivery comes from the crawl and the position, so it is the same at each try: after a kill the receiver may
get the last one once more.
"""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from gossamer.api.changes import Change
from gossamer.clock import Clock
from gossamer.notify.channel import NotTakenError, shown
from gossamer.notify.webhook import Webhooks
from gossamer.sinks.contract import Mark, SinkError, document_of, id_of
from gossamer.sinks.mark_file import MarkFile


class Hook:
    """The sink."""

    at_once = 1

    def __init__(self, url: str, webhooks: Webhooks, marks: MarkFile, clock: Clock) -> None:
        self._url, self._webhooks, self._marks, self._clock = url, webhooks, marks, clock
        self.to_start_over = f"delete {marks.path}"

    def mark(self) -> Mark | None:
        """How far it is."""
        return self._marks.read()

    def take(self, changes: Sequence[Change], mark: Mark) -> None:
        """Post the page."""
        for change in changes:
            delivery = id_of(f"{mark.crawl} {change.position}")
            body = orjson.dumps({"id": delivery, **document_of(change)}, option=orjson.OPT_UTC_Z)
            try:
                self._webhooks.post_body(self._url, body, delivery, self._clock.now())
            except NotTakenError as error:
                raise SinkError(f"{shown(self._url)} did not take {change.url}: {error}") from error
        self._marks.write(mark)

    def close(self) -> None:
        """Let others post."""
        self._marks.close()
