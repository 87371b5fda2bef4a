"""Alarms, saved queries with what they found, and messages that nobody took yet."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from gossamer.alerts.gathering import decoded
from gossamer.alerts.saved_queries import described, request_of, save_query
from gossamer.console import alert_feeds
from gossamer.console.alert_feeds import feed_path
from gossamer.console.context import Asked, Console, Done
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.parse.fields.config import custom_fields
from gossamer.search.results import Request
from gossamer.tables import alarms, alerts, outbox
from gossamer.tables.alerts import Alert, Found
from gossamer.tables.outbox import Waiting

PATH = "/console/alerts"
_HITS = 50
_PAST = 50
_MESSAGES = 100


def routes(console: Console) -> list[Route]:
    """Where alerts are, and their feeds."""
    page = _Page(console)
    return [
        console.shows("/alerts", page.show),
        console.does("/alerts/add", page.add),
        console.does("/alerts/remove", page.changes("remove alert", alerts.remove, "Removed")),
        console.does("/alerts/pause", page.changes("pause alert", alerts.pause, "Paused")),
        console.does("/alerts/resume", page.changes("resume alert", alerts.resume, "Resumed")),
        console.does("/alerts/retry", page.retry),
        console.does("/alerts/discard", page.discard),
        *alert_feeds.routes(console.crawl, console.links),
    ]


class _Page:
    """What the page shows and does."""

    def __init__(self, console: Console) -> None:
        self._console, self._crawl = console, console.crawl

    def show(self, asked: Asked) -> Response:
        """Everything on one page; the hits of one alert where one is chosen."""
        chosen = asked.query.get("alert", "")
        values = self._crawl.ask(lambda db: self._values(db, chosen))
        return self._console.page(asked, "alerts.html", **values)

    def add(self, asked: Asked) -> Done:
        """Save a query."""
        form = asked.form
        request = Request(
            query=form.get("query", ""), site=form.get("site", "").strip(), lang=form.get("lang", "").strip()
        )
        channels = [word for name in ("mail", "webhook") for word in re.split(r"[\s,;]+", form.get(name, "")) if word]
        settings, now, who = self._crawl.settings(), self._crawl.clock.now(), asked.visitor.name
        config, fields = settings.alerts, custom_fields(settings.fields)
        again = bool(form.get("changes"))
        alert, notices = self._crawl.change(
            lambda db: save_query(db, config, form.get("name", ""), request, channels, who, now, again, fields)
        )
        sentence = " ".join([f"Saved: {alert.name}. Gossamer notifies you of pages that match from now on.", *notices])
        return Done("add alert", alert.name, sentence, PATH, described(request_of(alert)))

    def changes(self, action: str, change: Callable[[Database, str], None], done: str) -> Callable[[Asked], Done]:
        """A handler that changes one alert."""

        def do(asked: Asked) -> Done:
            alert = self._crawl.change(lambda db: _changed(db, asked.form.get("id", ""), change))
            return Done(action, alert.name, f"{done}: {alert.name}.", PATH)

        return do

    def retry(self, asked: Asked) -> Done:
        """Try a message, or all that failed, again."""
        id, now = asked.form.get("id", ""), self._crawl.clock.now()
        count = self._crawl.change(lambda db: outbox.retry(db, now, id))
        if id and not count:
            raise UsageError("this message is no longer in the outbox: Gossamer sent it, or somebody discarded it")
        many = "the message" if count == 1 else f"{count} messages"
        return Done("retry message", id or "all", f"Gossamer sends {many} again within seconds.", PATH)

    def discard(self, asked: Asked) -> Done:
        """Throw a message away."""
        id = asked.form.get("id", "")
        if not self._crawl.change(lambda db: outbox.discard(db, id)):
            raise UsageError("this message is no longer in the outbox: Gossamer sent it, or somebody discarded it")
        return Done("discard message", id, "Message discarded.", PATH)

    def _values(self, db: Database, chosen: str) -> dict[str, Any]:
        saved, found = alerts.list_alerts(db), alerts.found(db)
        shown = next((alert for alert in saved if alert.id == chosen), None)
        return {
            "present": alarms.present(db),
            "past": alarms.history(db, _PAST),
            "rows": [self._row(alert, found.get(alert.id, Found())) for alert in saved],
            "shown": shown,
            "hits": alerts.hits(db, shown.id, _HITS) if shown is not None else [],
            "messages": [_message(one) for one in outbox.list_messages(db, _MESSAGES)],
            "path": PATH,
        }

    def _row(self, alert: Alert, found: Found) -> dict[str, Any]:
        request, links = request_of(alert), self._console.links
        return {
            "alert": alert,
            "found": found,
            "query": described(request),
            "search": links.search(request, sort="date"),
            "hits": links.to(PATH, alert=alert.id),
            "feeds": [(kind, links.to(feed_path(alert, kind))) for kind in ("atom", "rss")],
        }


def _changed(db: Database, id: str, change: Callable[[Database, str], None]) -> Alert:
    alert = alerts.find(db, id)
    if alert is None:
        raise UsageError("this alert no longer exists: somebody removed it")
    change(db, id)
    return alert


def _message(waiting: Waiting) -> dict[str, Any]:
    return {"waiting": waiting, "title": decoded(waiting.body).title}
