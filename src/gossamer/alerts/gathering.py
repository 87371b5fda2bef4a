"""Hits that belong together go out together: one mail a minute for an alert, batches for a webhook.

A message gathers for a minute from its first page on. A mail names its first hundred pages and counts the others: the
rest is in the feed. A webhook is told of every page, a hundred at a time, as long as the outbox does not hold too
much for it already; then pages are counted there, too.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gossamer.database.database import Database
from gossamer.model.counts import counted
from gossamer.notify.channel import is_mail
from gossamer.notify.message import MOST_ITEMS, Item, Message
from gossamer.tables import outbox
from gossamer.tables.alerts import Alert

GATHERS = 60.0
"""Seconds from the first page of a message until it is sent."""
MOST_WAITING = 1_000
"""Messages about an alert that may wait for one channel."""

_decode = msgspec.json.Decoder(Message).decode


class Gatherer:
    """Puts hits into messages, inside one transaction of the caller's."""

    def __init__(self, db: Database, now: float) -> None:
        self._db, self._now = db, now

    def tell(self, alert: Alert, items: Sequence[Item]) -> None:
        """Put what an alert found into the messages to its channels."""
        for channel in alert.channels if items else ():
            self._tell(alert, channel, items)

    def _tell(self, alert: Alert, channel: str, items: Sequence[Item]) -> None:
        waiting = outbox.gathering(self._db, channel, alert.id, self._now, GATHERS)
        if waiting is not None:
            id, body = waiting
            message, rest = _filled(alert, _decode(body), items)
            if rest and not self._may_have_more(channel, alert):
                message, rest = _counted(alert, message, len(rest)), []
            outbox.rewrite(self._db, id, encoded(message))
        else:
            rest = list(items)
        while rest:
            message, rest = _filled(alert, Message("hits", "", "", alert=alert.name), rest)
            if rest and not self._may_have_more(channel, alert):
                message, rest = _counted(alert, message, len(rest)), []
            outbox.put(self._db, channel, alert.id, encoded(message), self._now, self._now + GATHERS)

    def _may_have_more(self, channel: str, alert: Alert) -> bool:
        return not is_mail(channel) and outbox.count(self._db, channel, alert.id) < MOST_WAITING


def encoded(message: Message) -> str:
    """A message as the outbox keeps it."""
    return msgspec.json.encode(message).decode()


def decoded(body: str) -> Message:
    """A message that the outbox kept."""
    return _decode(body)


def _filled(alert: Alert, message: Message, items: Sequence[Item]) -> tuple[Message, list[Item]]:
    """The message with as many of the pages as it takes, and the others."""
    room = MOST_ITEMS - len(message.items)
    together = (*message.items, *items[:room])
    return _worded(alert, msgspec.structs.replace(message, items=together)), list(items[room:])


def _counted(alert: Alert, message: Message, more: int) -> Message:
    return _worded(alert, msgspec.structs.replace(message, more=message.more + more))


def _worded(alert: Alert, message: Message) -> Message:
    pages = len(message.items) + message.more
    found = counted(pages, "new page") if pages > 1 else "a new page"
    text = f"The saved query “{alert.name}” found {found}."
    return msgspec.structs.replace(message, title=f"{alert.name}: {found}", text=text)
