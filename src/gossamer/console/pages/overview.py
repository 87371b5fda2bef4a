"""The overview: whether the crawl runs and how fast, what waits, what fails, how fresh it is, how quickly news are
found. The figures at the top are asked for again every two seconds (`live.js`)."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from gossamer.console import series, words
from gossamer.console.context import Asked, Console, Done
from gossamer.console.overview_data import Look, Watch, overview
from gossamer.errors import UsageError
from gossamer.frontier import controls
from gossamer.model.outcome import Outcome
from gossamer.model.records import LEVELS

_ACTIVITIES = {"running": "good", "paused": "warn", "stopped": "bad"}


class OverviewPage:
    """The page, its figures and its charts."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._crawl = console.crawl
        self._watch = Watch(console.crawl)

    def show(self, asked: Asked) -> Response:
        """The page."""
        look, now = self._watch.look(), self._crawl.clock.now()
        found = self._crawl.ask(lambda db: overview(db, self._crawl, now))
        window = asked.query.get("window", "day")
        return self._console.page(
            asked, "overview.html", look=look, live=live(look), found=found, disk=self._watch.disk(), words=words,
            now=now, errors=errors_of(look), window=window if window in series.STEPS else "day", windows=series.STEPS,
            goal=self._crawl.settings().alerts.slo_p95, activities=_ACTIVITIES,
        )  # fmt: skip

    def figures(self, asked: Asked) -> Response:
        """The figures that change, as JSON."""
        return self._console.data(live(self._watch.look()))

    def chart(self, asked: Asked) -> Response:
        """A chart, as JSON."""
        now, goal = self._crawl.clock.now(), self._crawl.settings().alerts.slo_p95
        name, window = asked.query.get("name", ""), asked.query.get("window", "day")
        found = self._crawl.ask(lambda db: series.chart(db, name, window, now, goal))
        if found is None:
            raise UsageError(f"there is no chart {name!r} of a {window!r}")
        return self._console.data(found)

    def pause(self, asked: Asked) -> Done:
        """Pause the whole crawl."""
        reason, now = asked.form.get("reason", ""), self._crawl.clock.now()
        self._crawl.change(lambda db: controls.pause_crawl(db, reason, now))
        return Done("pause crawl", "", "The crawl is paused: no site is asked until you resume it.", "/console", reason)

    def resume(self, asked: Asked) -> Done:
        """Let the crawl go on."""
        now = self._crawl.clock.now()
        self._crawl.change(lambda db: controls.resume_crawl(db, now))
        return Done("resume crawl", "", "The crawl goes on.", "/console")


def routes(console: Console) -> list[Route]:
    """The overview."""
    page = OverviewPage(console)
    return [
        console.shows("", page.show),
        console.shows("/overview.json", page.figures),
        console.shows("/overview/chart.json", page.chart),
        console.does("/pause", page.pause),
        console.does("/resume", page.resume),
    ]


def live(look: Look) -> dict[str, Any]:
    """What changes from moment to moment, ready to be shown."""
    now = look.standing
    copies = now.duplicates / (now.pages + now.duplicates) if now.pages + now.duplicates else 0.0
    since = f" for {words.duration(look.at - look.since)}" if look.since else ""
    figures = {
        "activity": look.activity,
        "since": since,
        "speed": _speed(look.speed),
        "kept": _speed(look.kept),
        "pages": words.number(now.pages),
        "fetched": words.number(now.fetched),
        "known": words.number(now.urls_known),
        "due": words.number(now.urls_due),
        "scheduled": words.number(now.urls_scheduled),
        "refused": words.number(now.urls_refused),
        "errors": words.number(now.errors),
        "duplicates": f"{words.number(now.duplicates)} ({words.percent(copies)})",
        "sites": words.number(now.sites),
        "active": words.number(now.sites_active),
        "waiting": words.number(now.sites_waiting),
        "resting": words.number(now.sites_blocked),
        "paused": words.number(now.sites_paused),
        "workers": words.number(now.workers),
    }
    levels = levels_of(now.queue_by_level)
    return {
        "figures": figures,
        "kind": _ACTIVITIES[look.activity],
        "levels": levels,
        "most": max(levels.values(), default=1),
        "at": look.at,
        "series": {"fetched": look.speed, "kept": look.kept},
    }


def _speed(value: float | None) -> str:
    return "…" if value is None else f"{value:.1f} /s"


def levels_of(queue: dict[str, int]) -> dict[str, int]:
    """Waiting URLs by the name of their level; visits to pages seen before are one line."""
    found: dict[str, int] = {}
    for level, urls in sorted(queue.items(), key=lambda item: int(item[0])):
        name = f"Level {level}" if int(level) < LEVELS else "Visits again"
        found[name] = found.get(name, 0) + urls
    return found


def errors_of(look: Look) -> list[tuple[str, str, int, float]]:
    """Kinds of errors: name, sentence, URLs, share of all errors; the most frequent first."""
    total = look.standing.errors or 1
    return [
        (kind, Outcome(kind).meaning.sentence, urls, urls / total)
        for kind, urls in look.standing.errors_by_kind.items()
    ]  # fmt: skip
