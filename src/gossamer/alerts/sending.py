"""Sends what waits in the outbox, and tells operators of alarms.

Each round claims what is due and sends it on threads, channel by channel: one that never answers holds up nobody
else. Of a channel that does not take a message nothing more is tried in that round. Only the thread of the caller uses
the database.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Sequence
from queue import Queue
from threading import Thread
from typing import NamedTuple

from gossamer.alerts.gathering import decoded, encoded
from gossamer.alerts.saved_queries import webhook_guard
from gossamer.clock import Clock
from gossamer.database.database import Database
from gossamer.errors import GossamerError
from gossamer.notify.channel import check_channel, is_mail, shown
from gossamer.notify.mail import compose, send_mail, sender_of
from gossamer.notify.message import Message, one_line
from gossamer.notify.webhook import Webhooks, system_addresses
from gossamer.settings import Settings
from gossamer.tables import alarms, outbox
from gossamer.tables.alarms import Alarm, Sign
from gossamer.tables.outbox import Waiting

log = logging.getLogger(__name__)

_ROUND = 200
"""Messages of one round."""
_ROUND_SECONDS = 100.0
"""After this no message of the round is begun."""

Deliver = Callable[[str, Message, str], None]
"""Brings a message to a channel, under an id; `NotTakenError` where it is not taken."""


class Sent(NamedTuple):
    """What came of a round."""

    taken: int = 0
    failed: int = 0


class Delivery:
    """Brings messages to channels, by the settings; called from several threads."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._config, self._contact, self._clock = settings.alerts, settings.crawl.contact, clock
        overrides = settings.network.resolve
        guard = webhook_guard(self._config)
        self._webhooks = Webhooks(
            self._config.secret,
            guard,
            lambda host: [overrides[host]] if host in overrides else system_addresses(host),
        )

    def __call__(self, channel: str, message: Message, delivery: str) -> None:
        """Bring a message to a channel, as `Deliver` says."""
        now = self._clock.now()
        if is_mail(channel):
            mail = compose(message, sender_of(self._config, self._contact), channel, delivery, now)
            send_mail(self._config, mail)
        else:
            self._webhooks.post(channel, message, delivery, now)


def send_due(db: Database, deliver: Deliver, clock: Clock, gathered: bool = False) -> Sent:
    """One round; `gathered`: also what still gathers, because the sender is about to end."""
    claimed = outbox.claim(db, clock.now(), _ROUND, gathered)
    if not claimed:
        return Sent()
    channels: dict[str, list[Waiting]] = {}
    for message in claimed:
        channels.setdefault(message.channel, []).append(message)
    answers: Queue[tuple[Waiting, str | None]] = Queue()
    until = time.monotonic() + _ROUND_SECONDS
    for messages in channels.values():
        Thread(target=_send_all, args=(messages, deliver, until, answers), daemon=True).start()
    taken = failed = 0
    for _ in claimed:
        message, problem = answers.get()
        if problem is None:
            outbox.put_back(db, message, clock.now())
        elif not problem:
            outbox.taken(db, message.id)
            taken += 1
        else:
            outbox.failed(db, message, problem, clock.now())
            failed += 1
    return Sent(taken, failed)


def _send_all(
    messages: Sequence[Waiting], deliver: Deliver, until: float, answers: Queue[tuple[Waiting, str | None]]
) -> None:
    """The messages to one channel, one after the other: each with its problem, none where it was taken, None where it
    was not tried."""
    problem = ""
    for message in messages:
        if time.monotonic() > until:
            answers.put((message, None))
            continue
        problem = problem or _problem(message, deliver)
        answers.put((message, problem))


def _problem(message: Waiting, deliver: Deliver) -> str:
    try:
        deliver(message.channel, decoded(message.body), message.id)
    except GossamerError as error:
        log.info("could not send a message to %s, will try again: %s", shown(message.channel), error)
        return one_line(str(error), 500) or "unknown"
    except Exception as error:  # a message must not take the sender down with it, whatever it is
        log.exception("could not send a message to %s", shown(message.channel))
        return one_line(f"{type(error).__name__}: {error}", 500)
    return ""


def tell_alarms(
    db: Database, operators: Sequence[str], looked_for: Sequence[str], signs: Sequence[Sign], now: float
) -> tuple[list[Alarm], list[Alarm]]:
    """Raise and clear alarms, and put messages about them into the outbox, in one transaction."""
    return db.patiently(lambda: _tell_alarms(db, operators, looked_for, signs, now))


def _tell_alarms(
    db: Database, operators: Sequence[str], looked_for: Sequence[str], signs: Sequence[Sign], now: float
) -> tuple[list[Alarm], list[Alarm]]:
    with db.transaction():
        raised, over = alarms.settle(db, now, looked_for, signs)
        for alarm in (*raised, *over):
            message = encoded(alarm_message(alarm))
            for channel in _checked(operators):
                if shown(channel) != alarm.subject:  # one that takes nothing need not be told that it does not
                    outbox.put(db, channel, "", message, now, now)
    return raised, over


def alarm_message(alarm: Alarm) -> Message:
    """What operators are told of an alarm."""
    about = f"{alarm.kind}: {alarm.subject}" if alarm.subject else alarm.kind
    if alarm.until is None:
        return Message("alarm", one_line(f"Gossamer alarm: {about}"), alarm.sentence)
    return Message("over", one_line(f"Gossamer alarm over: {about}"), f"This alarm is over: {alarm.sentence}")


def probe(deliver: Deliver, channels: Sequence[str], name: str) -> list[tuple[str, str]]:
    """Send a test message to channels now: each with what went wrong, or with nothing."""
    message = Message("test", one_line(f"Gossamer: test of {name}"), "This is a test message. Nothing is wrong.")
    results = []
    for channel in channels:
        try:
            deliver(channel, message, secrets.token_hex(12))
            results.append((channel, ""))
        except GossamerError as error:
            results.append((channel, str(error)))
    return results


def _checked(operators: Sequence[str]) -> list[str]:
    """Operators that can be reached at all; a wrong setting must not keep the others from being told."""
    good = []
    for channel in dict.fromkeys(operators):
        try:
            good.append(check_channel(channel))
        except GossamerError as error:
            log.warning("alerts.operators: %s", error)
    return good
