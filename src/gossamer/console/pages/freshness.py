"""Freshness: how many pages are up to date, and how quickly news can be found."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import Route

from gossamer.console import series, words
from gossamer.console.context import Asked, Console
from gossamer.console.overview_data import Level, service_levels
from gossamer.database.database import Database
from gossamer.frontier.freshness import Freshness, collection_freshness


def routes(console: Console) -> list[Route]:
    """Where freshness is shown."""
    return [console.shows("/freshness", lambda asked: _show(console, asked))]


def _show(console: Console, asked: Asked) -> Response:
    crawl = console.crawl
    settings, now = crawl.settings(), crawl.clock.now()

    def question(db: Database) -> tuple[Freshness, list[Level]]:
        return collection_freshness(db, settings.revisit, now), service_levels(db, settings.alerts.slo_p95, now)

    fresh, levels = crawl.ask(question)
    return console.page(
        asked, "freshness.html", fresh=fresh, levels=levels, goal=settings.alerts.slo_p95, words=words,
        has_news=any(one.delays.documents for one in levels), windows=series.STEPS, revisit=settings.revisit,
        feeds=settings.feeds, window=crawl.ask(lambda db: series.window_of(db, asked.query.get("window", ""), now)),
    )  # fmt: skip
