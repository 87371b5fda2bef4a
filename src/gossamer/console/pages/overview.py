"""The overview: how the crawl stands, a handful of figures, and what needs a person. What is at the top is asked for
again every two seconds (`live.js`); a page whose crawl has come to another state is loaded anew."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from gossamer.console import changing, series, words
from gossamer.console.context import Asked, Console, Done
from gossamer.console.headline import Headline, headline
from gossamer.console.overview_data import Look, Watch, overview
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.frontier.steering import controls
from gossamer.frontier.views.inspect import Status
from gossamer.frontier.views.seed_list import has_seeds
from gossamer.indexer.indexed import index_standing
from gossamer.model.outcome import Outcome
from gossamer.model.records import LEVELS


class OverviewPage:
    """The page, its figures and its charts."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._crawl = console.crawl
        self._watch = Watch(console.crawl)

    def show(self, asked: Asked) -> Response:
        """The page."""
        look, now = self._watch.look(), self._crawl.clock.now()
        seeds = self._crawl.seeds.look()
        found = self._crawl.ask(lambda db: overview(db, self._crawl, now))
        plan = self._crawl.ask(lambda db: changing.plan_now(self._crawl, db))
        settings = self._crawl.settings()
        return self._console.page(
            asked, "overview.html", look=look, live=self._live(look), found=found, seeds=seeds,
            disk=self._watch.disk(), words=words, now=now, errors=errors_of(look),
            window=self._crawl.ask(lambda db: series.window_of(db, asked.query.get("window", ""), now)),
            windows=series.STEPS,
            needs_contact=not settings.crawl.contact, command=changing.how_to_start(self._crawl),
            is_shared=self._crawl.folder.is_shared,
            plan=plan, pending=changing.pending(self._crawl, plan),
        )  # fmt: skip

    def _live(self, look: Look) -> dict[str, Any]:
        seeds = self._crawl.seeds.look(0.0)

        def question(db: Database) -> Headline:
            paused = controls.paused(db)
            plan = changing.plan_now(self._crawl, db)
            return headline(look, plan, has_seeds(db), paused.reason if paused else "", seeds)

        found = self._crawl.ask(question)
        searchable = self._crawl.ask(lambda db: index_standing(self._crawl.folder, db).documents)
        return live(look, found, seeds.failed if seeds is not None else 0, searchable)

    def figures(self, asked: Asked) -> Response:
        """The figures that change, as JSON."""
        return self._console.data(self._live(self._watch.look()))

    def chart(self, asked: Asked) -> Response:
        """A chart, as JSON."""
        now, goal = self._crawl.clock.now(), self._crawl.settings().alerts.slo_p95
        name, window = asked.query.get("name", ""), asked.query.get("window", "day")
        found = self._crawl.ask(lambda db: series.chart(db, name, window, now, goal))
        if found is None:
            raise UsageError(f"there is no chart {name!r} for the period {window!r}")
        return self._console.data(found)

    def pause(self, asked: Asked) -> Done:
        """Pause the whole crawl."""
        reason, now = asked.form.get("reason", ""), self._crawl.clock.now()
        self._crawl.change(lambda db: controls.pause_crawl(db, reason, now))
        return Done(
            "pause crawl", "", "The crawl is paused and sends no requests until you resume it.", "/console", reason
        )

    def resume(self, asked: Asked) -> Done:
        """Let the crawl go on."""
        now = self._crawl.clock.now()
        self._crawl.change(lambda db: controls.resume_crawl(db, now))
        return Done("resume crawl", "", "The crawl continues.", "/console")

    def start(self, asked: Asked) -> Done:
        """Have whoever runs the plan start the crawl."""
        return Done("start crawl", "", changing.start(self._crawl), "/console")


def routes(console: Console) -> list[Route]:
    """The overview."""
    page = OverviewPage(console)
    return [
        console.shows("", page.show),
        console.shows("/overview.json", page.figures),
        console.shows("/overview/chart.json", page.chart),
        console.does("/pause", page.pause),
        console.does("/resume", page.resume),
        console.does("/start", page.start),
    ]


def live(look: Look, told: Headline, failed_seeds: int = 0, searchable: int = 0) -> dict[str, Any]:
    """What changes from moment to moment, ready to be shown."""
    now = look.standing
    figures = {
        **notes_of(now, failed_seeds, searchable),
        "title": told.title,
        "sentence": told.sentence,
        "speed": _speed(look.speed),
        "kept": _speed(look.kept),
        "pages": words.number(now.pages),
        "fetched": words.number(now.fetched),
        "known": words.number(now.urls_known),
        "due": words.number(now.urls_due),
        "scheduled": words.number(now.urls_scheduled),
        "refused": words.number(now.urls_refused),
        "errors": words.number(now.errors),
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
        "kind": told.kind,
        "state": told.state,
        "told": told,
        "levels": levels,
        "most": max(levels.values(), default=1),
        "at": look.at,
        "series": {"fetched": look.speed, "kept": look.kept},
    }


def notes_of(now: Status, failed_seeds: int, searchable: int) -> dict[str, str]:
    """What stands below the large figures, of the same moment as they."""
    same = now.duplicates + now.aliases
    return {
        "pages_note": f"{words.counted(searchable, 'page')} searchable",
        "speed_note": words.counted(now.workers, "worker"),
        "due_note": f"{words.number(now.urls_scheduled)} to retry"
        if now.urls_scheduled else f"{words.counted(now.urls_known, 'URL')} known",
        "fetched_note": f"{words.number(same)} ({words.percent(same / (now.pages + same))}) duplicates"
        if same else "since the start",
        "errors_note": _failures(now, failed_seeds),
        "sites_note": f"{words.number(now.sites_active)} active now"
        if now.sites_active else f"{words.number(now.sites_paused)} paused" if now.sites_paused else "none active",
    }  # fmt: skip


def _failures(now: Status, failed_seeds: int) -> str:
    if now.errors:
        return f"{words.percent(now.errors / (now.errors + now.pages))} of the URLs"
    return f"{words.counted(failed_seeds, 'seed')} failed" if failed_seeds else "no failures"


def _speed(value: float | None) -> str:
    return "…" if value is None else f"{value:.1f} /s"


def levels_of(queue: dict[str, int]) -> dict[str, int]:
    """Waiting URLs by the name of their level; visits to pages seen before are one line."""
    found: dict[str, int] = {}
    for level, urls in sorted(queue.items(), key=lambda item: int(item[0])):
        name = f"Level {level}" if int(level) < LEVELS else "Revisits"
        found[name] = found.get(name, 0) + urls
    return found


def errors_of(look: Look) -> list[tuple[str, str, int, float]]:
    """Kinds of errors: name, sentence, URLs, share of all errors; the most frequent first."""
    total = look.standing.errors or 1
    return [
        (kind, Outcome(kind).meaning.sentence, urls, urls / total)
        for kind, urls in look.standing.errors_by_kind.items()
    ]  # fmt: skip
