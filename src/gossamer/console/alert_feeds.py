"""The feed of an alert: for readers of feeds, which cannot log in, at an address that nobody can guess."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from gossamer.alerts.saved_queries import described, request_of
from gossamer.console.context import Crawl
from gossamer.database.database import Database
from gossamer.model.moments import instant
from gossamer.notify import feed
from gossamer.notify.feed import EPOCH, Entry, Feed
from gossamer.tables import alerts
from gossamer.tables.alerts import Alert, AlertHit
from gossamer.web.links import Links
from gossamer.web.views import safe_href

SHOWN = 100
"""Pages in a feed, the newest."""
_WRITERS = {"atom": feed.atom, "rss": feed.rss}


def feed_path(alert: Alert, kind: str) -> str:
    """Where the feed of an alert is; `kind`: atom or rss."""
    return f"/alerts/{alert.id}.{kind}"


def routes(crawl: Crawl, links: Links) -> list[Route]:
    """The feeds of all alerts, without a login."""

    def make(id: str, kind: str, reached: str) -> Response:
        found = crawl.ask(lambda db: _read(db, id))
        if found is None:
            return PlainTextResponse("There is no such feed.\n", 404, {"cache-control": "no-store"})
        alert, hits = found
        serve = crawl.settings().serve
        made = _feed(alert, hits, serve.title, _origin(serve.base_url, reached), links, kind)
        headers = {"cache-control": "private, no-cache", "x-robots-tag": "noindex"}
        return Response(_WRITERS[kind](made), 200, headers, f"application/{kind}+xml")

    async def answer(request: Request) -> Response:
        id, kind = request.path_params["id"], request.path_params["kind"]
        if kind not in _WRITERS:
            return PlainTextResponse("There is no such feed.\n", 404, {"cache-control": "no-store"})
        return await run_in_threadpool(make, id, kind, str(request.base_url).rstrip("/"))

    return [Route("/alerts/{id}.{kind}", answer, methods=["GET"])]


def _read(db: Database, id: str) -> tuple[Alert, list[AlertHit]] | None:
    alert = alerts.find(db, id)
    return (alert, alerts.hits(db, id, SHOWN)) if alert is not None else None


def _origin(base_url: str, reached: str) -> str:
    """Scheme and host by which readers reach us: by the settings, or by their request, whose header the server's guard
    has checked."""
    base = urlsplit(base_url)
    return f"{base.scheme}://{base.netloc}" if base.netloc else reached


def _feed(alert: Alert, hits: list[AlertHit], title: str, origin: str, links: Links, kind: str) -> Feed:
    request = request_of(alert)
    entries = tuple(
        Entry(hit.url, hit.title, hit.excerpt, instant(hit.at) or EPOCH, feed.day(hit.published))
        for hit in hits
        if safe_href(hit.url)
    )
    return Feed(
        title=f"{alert.name} – {title}",
        description=f"New pages for {described(request)}",
        author=title,
        about=origin + links.search(request, sort="date"),
        here=origin + links.to(feed_path(alert, kind)),
        changed=instant(alert.made_at) or EPOCH,
        entries=entries,
    )
