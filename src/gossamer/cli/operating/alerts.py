"""`gossamer alerts`: alerts, the pages they found, and the messages in the outbox."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from gossamer.alerts.gathering import decoded
from gossamer.alerts.saved_queries import described, request_of, save_query
from gossamer.alerts.sending import Delivery, probe
from gossamer.cli.common import (
    DEFAULT_DATA,
    Data,
    Debug,
    Json,
    operator_name,
    out,
    print_json,
    seconds,
)
from gossamer.clock import SystemClock
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database, open_database
from gossamer.errors import OperationError, UsageError
from gossamer.model.counts import counted
from gossamer.notify.channel import check_channel, check_mail, check_webhook
from gossamer.parse.fields.config import custom_fields
from gossamer.search.results import Request, Since
from gossamer.tables import alarms, alerts, audit, outbox
from gossamer.tables.alerts import Alert, Found
from gossamer.web.views import moment

command = App(name="alerts", help="Save queries and get notified of new matches by mail, webhook or feed.")

Many = Annotated[list[str] | None, Parameter(negative="", consume_multiple=False)]
Flag = Annotated[bool, Parameter(negative="")]

_SHOWN = 50
_LOOK = 0.5
"""Seconds between two looks for what was found."""


@command.default
@command.command(name="list")
def list_(*, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """List the alerts, and the present alarms."""
    with _reading(data) as db:
        saved, found, present = alerts.list_alerts(db), alerts.found(db), alarms.present(db)
    if json:
        rows = [_as_json(alert, found.get(alert.id, Found())) for alert in saved]
        print_json({"alerts": rows, "alarms": present})
        return
    for alarm in present:
        out.print(f"alarm since {moment(alarm.since)}: {alarm.sentence}", style="red", markup=False)
    for alert in saved:
        out.print(_line(alert, found.get(alert.id, Found())), markup=False)
    if not saved:
        out.print("There are no alerts: add one with `gossamer alerts add NAME QUERY`.", markup=False)


@command.command
def add(
    name: str,
    query: str,
    *,
    mail: Many = None,
    webhook: Many = None,
    site: str = "",
    lang: str = "",
    page_type: Annotated[str, Parameter(name="--type")] = "",
    category: str = "",
    since: Since = "",
    changes: Flag = False,
    data: Data = DEFAULT_DATA,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Save QUERY as the alert NAME. Gossamer notifies you of each new page that matches.

    Parameters
    ----------
    name
        The name of the alert in messages.
    query
        A query as on the search page; see docs/query.md.
    mail
        Mail address to notify; you can repeat this option.
    webhook
        URL that gets signed JSON; you can repeat this option.
    site
        Only pages of this host and its subdomains.
    lang
        Only pages in this language, such as en.
    page_type
        Only pages of this type, such as article.
    category
        Only pages of this category.
    since
        Only pages that are not older than a day, week, month or year when the crawl finds them.
    changes
        Notify again of a page when a changed version of it matches.
    """
    request = Request(query=query, site=site, lang=lang, page_type=page_type, category=category, since=since)
    channels = [*map(check_mail, mail or ()), *map(check_webhook, webhook or ())]
    settings, now = settings_of_crawl(data), SystemClock().now()
    fields = custom_fields(settings.fields)
    with _writing(data) as db:
        alert, notices = save_query(db, settings.alerts, name, request, channels, operator_name(), now, changes, fields)
        audit.note(db, now, operator_name(), "add alert", alert.name, described(request_of(alert)))
    if json:
        print_json(_as_json(alert, Found()))
        return
    for notice in notices:
        out.print(notice, style="yellow", markup=False)
    out.print(
        f"Saved the alert {alert.name}. Everybody who knows the address can read its feed: {feed_path(alert)}",
        markup=False,
    )


@command.command
def remove(name: str, *, data: Data = DEFAULT_DATA, debug: Debug = False) -> None:
    """Delete an alert, the list of pages it found, and its unsent messages.

    Parameters
    ----------
    name
        Name or id of the alert.
    """
    _change(data, name, "remove alert", alerts.remove, "is removed")


@command.command
def pause(name: str, *, data: Data = DEFAULT_DATA, debug: Debug = False) -> None:
    """Pause an alert. Gossamer does not report pages that it finds during the pause, not even later.

    Parameters
    ----------
    name
        Name or id of the alert.
    """
    _change(data, name, "pause alert", alerts.pause, "is paused")


@command.command
def resume(name: str, *, data: Data = DEFAULT_DATA, debug: Debug = False) -> None:
    """Resume an alert. It reports pages that the crawl finds from now on.

    Parameters
    ----------
    name
        Name or id of the alert.
    """
    _change(data, name, "resume alert", alerts.resume, "is resumed")


@command.command
def hits(
    name: str, *, limit: int = _SHOWN, wait: str | None = None, data: Data = DEFAULT_DATA, json: Json = False,
    debug: Debug = False,
) -> None:  # fmt: skip
    """List the pages that an alert found, newest first.

    Parameters
    ----------
    name
        Name or id of the alert.
    limit
        How many pages to list.
    wait
        If the alert found no page yet, wait up to this long for the first: 90s, 10m, 2h. Exit code 1 if none comes.
    """
    with _reading(data) as db:
        id = alerts.named(db, name).id
        found = alerts.hits(db, id, max(limit, 1))
        until = time.monotonic() + (seconds(wait) if wait is not None else 0.0)
        while not found and time.monotonic() < until:
            time.sleep(_LOOK)
            found = alerts.hits(db, id, max(limit, 1))
    if wait is not None and not found:
        raise OperationError(
            f"{name} found no page within {wait}: is `gossamer crawl --watch` running? "
            "`gossamer feeds` shows when the crawl polls each source next"
        )
    if json:
        print_json(found)
        return
    for hit in found:
        out.print(f"{moment(hit.at)}  {hit.url}  {hit.title}", markup=False)
    if not found:
        out.print("The alert has found no page yet.")


@command.command
def test(to: str, *, data: Data = DEFAULT_DATA, debug: Debug = False) -> None:
    """Send a test message now, and show whether it was delivered.

    Parameters
    ----------
    to
        The name of an alert (all its channels), a mail address, a webhook, or `operators` (all of the setting
        alerts.operators).
    """
    settings, clock = settings_of_crawl(data), SystemClock()
    channels = _channels(data, to, settings.alerts.operators)
    results = probe(Delivery(settings, clock), channels, to)
    for channel, problem in results:
        out.print(f"{channel}: {problem or 'delivered'}", style="red" if problem else "green", markup=False)
    with _writing(data) as db:
        audit.note(db, clock.now(), operator_name(), "test alert", to, "")
    failed = [channel for channel, problem in results if problem]
    if failed:
        raise OperationError(f"{len(failed)} of {counted(results, 'message')} not delivered")


@command.command(name="outbox")
def outbox_(
    *, retry: str | None = None, discard: str | None = None, data: Data = DEFAULT_DATA, json: Json = False,
    debug: Debug = False,
) -> None:  # fmt: skip
    """List the messages that are not delivered yet, with their problems.

    Parameters
    ----------
    retry
        Send the message with this id again now; `all`: every message that failed.
    discard
        Delete the message with this id.
    """
    now = SystemClock().now()
    if retry is not None or discard is not None:
        with _writing(data) as db:
            if retry is not None:
                changed = outbox.retry(db, now, "" if retry == "all" else retry)
                _note_message(db, changed, now, "retry message", retry)
            if discard is not None:
                _note_message(db, outbox.discard(db, discard), now, "discard message", discard)
    with _reading(data) as db:
        waiting = outbox.list_messages(db)
    if json:
        print_json(waiting)
        return
    for one in waiting:
        when = "given up" if one.due_at is None else f"next try {moment(one.due_at)}"
        problem = f" – {one.problem}" if one.problem else ""
        line = f"{one.id}  {one.channel}  {decoded(one.body).title}  ({one.attempts} tries, {when}){problem}"
        out.print(line, markup=False)
    if not waiting:
        out.print("The outbox is empty.")


def feed_path(alert: Alert) -> str:
    """Where the server has an alert's feed."""
    return f"/alerts/{alert.id}.atom"


def _change(data: Path, name: str, action: str, change: Any, done: str) -> None:
    with _writing(data) as db:
        alert = alerts.named(db, name)
        change(db, alert.id)
        audit.note(db, SystemClock().now(), operator_name(), action, alert.name, "")
    out.print(f"{alert.name} {done}.", markup=False)


def _note_message(db: Database, changed: int, now: float, action: str, id: str) -> None:
    if not changed and id != "all":
        raise UsageError(f"there is no message {id!r}: see `gossamer alerts outbox`")
    audit.note(db, now, operator_name(), action, id, "")


def _channels(data: Path, to: str, operators: tuple[str, ...]) -> list[str]:
    if to == "operators":
        if not operators:
            raise UsageError("alerts.operators is empty: name mail addresses or webhooks in gossamer.toml")
        return [check_channel(channel) for channel in operators]
    if "@" in to or "://" in to:
        return [check_channel(to)]
    with _reading(data) as db:
        channels = alerts.named(db, to).channels
    if not channels:
        raise UsageError(f"{to} has no mail address or webhook, only its feed: there is nothing to test")
    return list(channels)


@contextmanager
def _reading(data: Path) -> Iterator[Database]:
    with closing(DataFolder(data).read()) as db:
        yield db


@contextmanager
def _writing(data: Path) -> Iterator[Database]:
    folder = DataFolder(data)
    folder.read().close()  # there must be a crawl
    with closing(open_database(folder.database)) as db:
        yield db


def _as_json(alert: Alert, found: Found) -> dict[str, Any]:
    return {
        "id": alert.id, "name": alert.name, "request": request_of(alert), "channels": alert.channels,
        "made_by": alert.made_by, "made_at": alert.made_at, "changes": alert.again, "paused": alert.paused,
        "found": found.pages, "last_at": found.last_at, "feed": feed_path(alert),
    }  # fmt: skip


def _line(alert: Alert, found: Found) -> str:
    state = "paused" if alert.paused else "active"
    told = f"{found.pages} found, last {moment(found.last_at)}" if found.pages else "none found yet"
    channels = ", ".join(alert.channels) or "feed only"
    return f"{alert.name} ({state}): {described(request_of(alert))} → {channels}; {told}; {feed_path(alert)}"
