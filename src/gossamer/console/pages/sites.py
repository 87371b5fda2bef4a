"""Sites: which there are, which fail and why; and everything about one of them, with what an operator may do to it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from urllib.parse import quote

import msgspec
from starlette.responses import Response
from starlette.routing import Route

from gossamer.console import series, words
from gossamer.console.context import Asked, Console, Done
from gossamer.console.site_data import EXTRACTION_DAYS, newest_documents, removal, site_page
from gossamer.data.connection import SharedConnection
from gossamer.errors import UsageError
from gossamer.frontier.extraction import extraction_of
from gossamer.frontier.politeness import SiteClock, gap
from gossamer.frontier.steering import controls
from gossamer.frontier.views import site_list, site_view
from gossamer.frontier.views.site_list import ORDERS, STATES, SiteRow, Wanted
from gossamer.model.counts import counted
from gossamer.model.outcome import ERRORS, Outcome
from gossamer.operate.takedown import take_down_within

_WAIT = 10.0
"""Seconds a removal is waited for; what is not done by then goes on aside."""
_SHOWN = 50
STATE_KINDS = {
    "active": "good", "waiting": "plain", "resting": "warn", "paused": "warn", "limited": "warn", "idle": "plain"
}  # fmt: skip
STATE_WORDS = {
    "active": "a worker is fetching from it now",
    "waiting": "URLs are due, but no worker has leased it yet",
    "resting": "must wait until the next request is allowed",
    "paused": "paused by an operator",
    "limited": "reached the request limit that an operator set",
    "idle": "nothing is due now",
}
_OUTCOMES = {outcome.value for outcome in Outcome}


class SitePages:
    """The list, the page of a site, and its forms."""

    def __init__(self, console: Console) -> None:
        self._console, self._crawl = console, console.crawl
        # A connection of its own: nobody else's page waits while many sites are sorted.
        self._reader = SharedConnection(console.crawl.folder.database)

    def show_list(self, asked: Asked) -> Response:
        """Sites, page by page."""
        wanted, now = wanted_of(asked), self._crawl.clock.now()
        page = _whole(asked.query.get("page", "1"), 1, 10**6, "a page")
        total = self._reader.ask(lambda db: site_list.count_sites(db, wanted, now))
        rows = self._reader.ask(lambda db: site_list.list_sites(db, wanted, now, _SHOWN, (page - 1) * _SHOWN))
        chosen = {"state": wanted.state, "error": wanted.outcome, "q": wanted.name}
        order = wanted.order if wanted.order != "errors" else ""
        return self._console.page(
            asked, "sites.html", rows=rows, total=total, wanted=wanted, chosen=chosen, sort=order, page=page,
            pages=math.ceil(total / _SHOWN), now=now, words=words, kinds=STATE_KINDS, states=STATE_WORDS,
            said=self._said, last=self._last_asked, outcome_words=outcome_words, errors=ERRORS.listed,
        )  # fmt: skip

    def _said(self, row: SiteRow) -> str:
        """Why a site does not go on, or what fails there most, in words."""
        if row.paused:
            return f"paused: {row.paused}"
        if row.state == "resting":
            return f"{row.wait_reason}; next request in {words.duration(row.not_before - self._crawl.clock.now())}"
        return ""

    def _last_asked(self, row: SiteRow) -> float | None:
        """When the site was last asked, as its clock tells; None where it is resting, and the clock tells the end."""
        if not row.fetched or row.wait_reason:
            return None
        clock = SiteClock(row.crawl_delay, row.trouble, least_delay=row.least_delay)
        return min(row.not_before - gap(clock, self._crawl.settings().polite), self._crawl.clock.now())

    def show_site(self, asked: Asked) -> Response:
        """Everything about a site."""
        name, now = _name(asked.query), self._crawl.clock.now()
        settings = self._crawl.settings()
        found = self._crawl.ask(lambda db: site_page(db, settings, name, now))
        if found is None:
            raise self._unknown(name)
        return self._console.page(
            asked, "site.html", found=found, site=found.site, name=name, now=now, words=words, settings=settings,
            kinds=STATE_KINDS, states=STATE_WORDS, outcome_words=outcome_words,
            newest=newest_documents(self._crawl, name),
        )  # fmt: skip

    def _unknown(self, name: str) -> UsageError:
        removed = self._crawl.ask(lambda db: removal(db, name))
        if removed is not None:
            when = words.ago(removed.removed_at, self._crawl.clock.now())
            return UsageError(f"{name} was removed {when} ({removed.reason or 'no reason given'})")
        return UsageError(f"the crawl has no site {name}: look for it in the list of sites")

    def figures(self, asked: Asked) -> Response:
        """What changes on the page of a site, as JSON."""
        name, now = _name(asked.query), self._crawl.clock.now()
        site = self._crawl.ask(lambda db: site_view.find_site(db, name))
        if site is None:
            raise self._unknown(name)
        state = site.state(now)
        figures = {
            "state": state,
            "fetched": words.number(site.fetched),
            "pages": words.number(site.pages),
            "waiting": words.number(site.waiting),
            "next": "paused" if site.paused else words.ahead(site.not_before, now),
            "trouble": str(site.trouble),
        }
        return self._console.data(
            {"figures": figures, "kind": STATE_KINDS[state], "levels": {}, "most": 1, "at": now, "series": {}}
        )

    def extraction(self, asked: Asked) -> Response:
        """The chart of pages without text."""
        name = _name(asked.query)
        return self._console.data(
            series.extraction_chart(self._crawl.ask(lambda db: extraction_of(db, name, EXTRACTION_DAYS)))
        )  # fmt: skip

    def pause(self, asked: Asked) -> Done:
        """Ask the site no more until it is resumed."""
        name, reason, now = _name(asked.form), asked.form.get("reason", ""), self._crawl.clock.now()
        self._crawl.change(lambda db: controls.pause_site(db, name, reason, now))
        return Done("pause site", name, f"Paused {name}. Its queue stays as it is.", _back(asked, name), reason)

    def resume(self, asked: Asked) -> Done:
        """Ask the site again."""
        name, now = _name(asked.form), self._crawl.clock.now()
        self._crawl.change(lambda db: controls.resume_site(db, name, now))
        return Done("resume site", name, f"Resumed {name}.", _back(asked, name))

    def limit(self, asked: Asked) -> Done:
        """Ask the site more slowly, or only so often."""
        name, now = _name(asked.form), self._crawl.clock.now()
        delay = _seconds(asked.form.get("least_delay", ""))
        most = _whole(asked.form.get("most_pages", "") or "0", 0, 2**53 - 1, "a number of pages")
        self._crawl.change(lambda db: controls.limit_site(db, name, delay, most, now))
        said = [f"at least {delay:g} s between requests"] if delay else []
        said += [f"at most {counted(most, 'request')}"] if most else []
        limits = " and ".join(said) or "none"
        return Done("limit site", name, f"New limits of {name}: {limits}.", _path(name), limits)

    def recrawl(self, asked: Asked) -> Done:
        """Queue what failed again."""
        name, now = _name(asked.form), self._crawl.clock.now()
        if self._crawl.ask(lambda db: site_view.find_site(db, name)) is None:
            raise self._unknown(name)
        urls = self._crawl.change(lambda db: site_view.recrawl_failed(db, name, now))
        sentence = f"Queued again: {counted(urls, 'failed URL')} of {name}."
        return Done("recrawl", name, sentence, _path(name), "failed URLs")

    def remove(self, asked: Asked) -> Done:
        """Take the whole site out, and keep it out."""
        name, reason, now = _name(asked.form), asked.form.get("reason", "").strip(), self._crawl.clock.now()
        if not reason:
            raise UsageError("enter a reason: Gossamer stores it with the removal. Nothing was changed")
        crawl = self._crawl
        # A mere name would mean the host on every port, and so sites that this page does not speak of.
        done = take_down_within(crawl.folder, crawl.settings(), f"//{name}/", reason, now, _WAIT)
        urls = counted(done.urls, "URL")
        sentence = f"Removed {name} with {urls}. It stays out of the crawl and the search."
        if not done.is_done:
            sentence = f"Removing {name}: {urls} so far, the rest follows in the background."
        return Done("remove site", name, sentence, "/console/sites", reason)


def routes(console: Console) -> list[Route]:
    """The list of sites, and the page of each."""
    pages = SitePages(console)
    return [
        console.shows("/sites", pages.show_list),
        console.shows("/site", pages.show_site),
        console.shows("/site.json", pages.figures),
        console.shows("/site/extraction.json", pages.extraction),
        console.does("/site/pause", pages.pause),
        console.does("/site/resume", pages.resume),
        console.does("/site/limit", pages.limit),
        console.does("/site/recrawl", pages.recrawl),
        console.does("/site/remove", pages.remove),
    ]


def wanted_of(asked: Asked) -> Wanted:
    """What the address of a list asks for; what makes no sense is left out."""
    given = {
        "order": asked.query.get("sort", "") if asked.query.get("sort") in ORDERS else "errors",
        "state": asked.query.get("state", "") if asked.query.get("state") in STATES else "",
        "outcome": asked.query.get("error", "") if asked.query.get("error") in _OUTCOMES else "",
        "name": asked.query.get("q", "").strip()[:200],
    }
    return msgspec.convert(given, Wanted)


def outcome_words(kind: str) -> str:
    """An outcome as a sentence."""
    return Outcome(kind).meaning.sentence if kind in _OUTCOMES else kind


def _name(given: Mapping[str, str]) -> str:
    name = given.get("name", "").strip().lower()
    if not name:
        raise UsageError("the site is missing: choose one from the list of sites")
    return name


def _path(name: str) -> str:
    return f"/console/site?name={quote(name, safe=':.')}"


def _back(asked: Asked, name: str) -> str:
    """The page from which a form was sent."""
    return "/console/seeds" if asked.form.get("to") == "seeds" else _path(name)


def _seconds(text: str) -> float:
    try:
        return float(text or 0)
    except ValueError as error:
        raise UsageError(f"{text} is not a number of seconds: enter 2.5, or nothing for no limit") from error


def _whole(text: str, least: int, most: int, what: str) -> int:
    if not text.isdecimal() or not text.isascii() or not least <= int(text[:20]) <= most:
        raise UsageError(f"{text} is not {what}: enter a whole number from {least}")
    return int(text)
