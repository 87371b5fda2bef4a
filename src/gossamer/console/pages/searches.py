"""What readers look for: the most asked queries, those that find nothing, and why."""

from __future__ import annotations

import msgspec
from starlette.responses import Response
from starlette.routing import Route

from gossamer.console.context import Asked, Console
from gossamer.console.series import Chart
from gossamer.console.why_nothing import why
from gossamer.search.clicks.drafting import Trial
from gossamer.search.clicks.evidence import Model
from gossamer.search.results import Request
from gossamer.serving.choices import known_model, trial_of
from gossamer.tables import asked as asked_table
from gossamer.tables.asked import DAY, day_of

PATH = "/console/searches"
WINDOWS = {"1": "Today", "7": "7 days", "30": "30 days"}
"""Days that the tables go back."""
SHOWN = 50
CHART_DAYS = 90


class Clicks(msgspec.Struct, frozen=True):
    """What is known of readers' clicks."""

    weight: float
    share: float
    trial: Trial
    model: Model


def routes(console: Console) -> list[Route]:
    """Where the pages are."""
    return [
        console.shows("/searches", lambda asked: _show(console, asked)),
        console.shows("/searches/chart.json", lambda asked: _chart(console, asked)),
        console.shows("/searches/why", lambda asked: _why(console, asked)),
    ]


def _show(console: Console, asked: Asked) -> Response:
    window = asked.query.get("days", "7")
    window = window if window in WINDOWS else "7"
    until = day_of(console.crawl.clock.now())
    since = until - int(window) + 1
    volume = console.crawl.ask(lambda db: asked_table.volume(db, since, until))
    top = console.crawl.ask(lambda db: asked_table.top(db, since, until, SHOWN))
    in_vain = console.crawl.ask(lambda db: asked_table.top_in_vain(db, since, until, SHOWN))
    settings = console.crawl.settings()
    charted = console.crawl.ask(lambda db: asked_table.volume(db, until - CHART_DAYS + 1, until))
    return console.page(
        asked, "searches.html", window=window, windows=WINDOWS, path=PATH, top=top, in_vain=in_vain,
        has_chart=any(day.times for day in charted), searches=sum(day.times for day in volume),
        failed=sum(day.in_vain for day in volume),
        is_on=settings.console.analytics, clicks=_clicks(console) if settings.serve.clicks else None,
        try_it=lambda text: console.links.search(Request(query=text)),
    )  # fmt: skip


def _clicks(console: Console) -> Clicks:
    ranking, now = console.crawl.settings().search, console.crawl.clock.now()
    trial = console.crawl.ask(lambda db: trial_of(db, now))
    return Clicks(ranking.clicks, ranking.clicks_trial, trial, console.crawl.ask(known_model))


def _chart(console: Console, asked: Asked) -> Response:
    until = day_of(console.crawl.clock.now())
    volume = console.crawl.ask(lambda db: asked_table.volume(db, until - CHART_DAYS + 1, until))
    return console.data(
        Chart(
            at=[day.day * DAY for day in volume],
            series={
                "searches": [float(day.times) for day in volume],
                "in_vain": [float(day.in_vain) for day in volume],
            },
            kind="bars",
        )
    )


def _why(console: Console, asked: Asked) -> Response:
    typed = asked.query.get("q", "").strip()[: asked_table.LONGEST]
    reason = why(console.crawl.services.search, typed) if typed else None
    return console.page(
        asked, "searches_why.html", typed=typed, reason=reason,
        try_it=lambda text: console.links.search(Request(query=text)),
    )  # fmt: skip
