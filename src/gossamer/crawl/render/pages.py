"""Rendering within the crawl: which page, within which budget, and with which requests.

A page that is empty without its scripts is parsed, rendered, and parsed again. Its resources are fetched like any page
(`render.loads`). While a page is rendered the site's other pages wait.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import msgspec

from gossamer.crawl.borrowing import Borrowing
from gossamer.crawl.channel import Channel
from gossamer.crawl.held_site import HeldSite
from gossamer.crawl.render.choice import Modes, has_gained, merged, most_requests, why_render
from gossamer.crawl.render.loads import Loads, Shop, Supply
from gossamer.crawl.seams import Parses, Renders, Runs
from gossamer.database.database import Database
from gossamer.fetch.browser import Rendered
from gossamer.frontier.politeness import gap
from gossamer.model.decision import Decision
from gossamer.model.outcome import Outcome
from gossamer.model.records import Kind, Parsed, ParseJob, Response, Task
from gossamer.model.site import host_of, key64
from gossamer.model.url import parse_base
from gossamer.settings import Settings
from gossamer.tables import scripted

log = logging.getLogger(__name__)


class Kept(msgspec.Struct, frozen=True):
    """The page cannot be rendered this time: the stored text is better than an empty shell."""

    reason: str


class Rendering:
    """Renders pages of the crawl."""

    def __init__(
        self, settings: Settings, shop: Shop, renderer: Renders, parsers: Parses, borrowing: Borrowing,
        thread: Runs, db: Database,
    ) -> None:  # fmt: skip
        self._settings, self._shop, self._renderer, self._parsers = settings, shop, renderer, parsers
        self._thread, self._db = thread, db
        self._modes = Modes(settings)
        guarded = {
            host_of(_site_named(name))
            for name, access in settings.sites.items()
            if access.cookies or access.basic_auth or access.headers
        }
        self._supply = Supply(shop, borrowing, guarded)
        self._pages: set[Loads] = set()

    def why(self, site: str, task: Task, response: Response, parsed: Parsed) -> str:
        """Why to render a page; `""` if not."""
        if task.kind is not Kind.PAGE:
            return ""
        return why_render(self._modes.of(site), response.body, parsed)

    async def read(self, held: HeldSite, task: Task, response: Response, parsed: Parsed) -> Parsed | Kept:
        """The content of a page after its scripts have run, or before if they add nothing."""
        site_id, auto = key64(held.site), self._modes.of(held.site) == "auto"
        pages, requests = (self._settings.browser.pages, self._most(held.channel)) if auto else (2**62, float("inf"))
        now = self._shop.life.clock.now()
        if refusal := await self._thread.run(scripted.claim, self._db, site_id, now, pages, requests):
            log.debug("cannot render %s: %s", task.url, refusal)
            return _unrendered(task, parsed, refusal)
        loads = Loads(self._supply, held)
        self._pages.add(loads)
        try:
            rendered = await self._renderer.render(task.url, response, loads.fetch)
        finally:
            loads.over = True
            self._pages.discard(loads)
        for url, reason in rendered.refused:
            log.debug("did not load %s for %s: %s", url, task.url, reason)
        after = await self._after(task, response, parsed, rendered)
        gained = after is not None and (bool(after.refresh) or has_gained(parsed, after))
        # A site in trouble has not shown yet what its scripts would add.
        worth = None if loads.put_off and not gained else gained
        await self._thread.run(scripted.note, self._db, site_id, now, loads.requests, worth)
        if loads.put_off and (not gained or loads.is_cut_off):
            kept = _unrendered(task, parsed, loads.put_off)
            if isinstance(kept, Kept):
                return kept
        if after is not None and (gained or not auto):
            return after
        log.info("the scripts of %s added no text: %s", task.url, rendered.reason or "they add nothing")
        return parsed if after is not None else _unrendered(task, parsed, rendered.reason)

    async def finish(self, seconds: float) -> None:
        """Begin no further request, and let those under way end."""
        for loads in self._pages:
            loads.over = True
        if self.loading:
            await asyncio.wait(set(self.loading), timeout=seconds)

    @property
    def loading(self) -> set[asyncio.Task[Any]]:
        """Requests of pages under way."""
        return self._supply.under_way

    def _most(self, channel: Channel) -> float:
        return most_requests(self._settings.browser, gap(channel.clock, self._settings.polite))

    async def _after(self, task: Task, response: Response, parsed: Parsed, rendered: Rendered) -> Parsed | None:
        """The content of the rendered page; None if there is none."""
        if rendered.target:
            target = self._shop.rules.canonicalizer.resolve(parse_base(task.url), rendered.target)
            if isinstance(target, Decision) or target == task.url:
                rendered.reason = f"a script leads to {rendered.target[:200]}, which is not another page"
                return None
            return msgspec.structs.replace(parsed, refresh=target)
        if not rendered.html:
            return None
        job = ParseJob(
            task.url, task.kind, "text/html; charset=utf-8", rendered.html,
            response.headers_named("x-robots-tag"), response.headers_named("link"),
        )  # fmt: skip
        after = await self._parsers.parse(job)
        return merged(parsed, after) if after.ok else None


def _unrendered(task: Task, parsed: Parsed, reason: str) -> Parsed | Kept:
    stored = task.previous == Outcome.DOCUMENT.value and task.content_hash
    return Kept(f"not rendered this time: {reason}") if stored and parsed.content_hash != stored else parsed


def _site_named(name: str) -> str:
    """The site of a section of the settings, which may be written as an origin."""
    return name.strip().lower().rstrip("/").rpartition("//")[2]
