"""Works on one leased site: takes its URLs one by one, checks, fetches, hands over, until there are no more."""

from __future__ import annotations

import asyncio

import msgspec

from gossamer.crawl.bound_frontier import BoundFrontier
from gossamer.crawl.channel import Rest
from gossamer.crawl.commit_queue import CommitQueue
from gossamer.crawl.held_site import HeldSite
from gossamer.crawl.life import Life
from gossamer.crawl.live_rules import LiveRules
from gossamer.crawl.page_parsing import PageParsing, Read
from gossamer.crawl.pending import Result
from gossamer.crawl.render.pages import Kept
from gossamer.crawl.robots import RobotsBook
from gossamer.crawl.understand import Rules, of_mirror, of_page, of_response, of_unasked, plain_result
from gossamer.fetch.request import Request
from gossamer.model.decision import Decision, allow
from gossamer.model.outcome import Outcome
from gossamer.model.records import LEVELS, Kind, Response, Task
from gossamer.model.site import origin_of
from gossamer.model.url import parse_base
from gossamer.scope.automatic import RULE as AUTOMATIC

_LISTS = (
    "application/xml",
    "application/rss+xml",
    "application/atom+xml",
    "application/rdf+xml",
    "application/feed+json",
    "application/json",
    "text/xml",
    "text/plain",
    "application/gzip",
    "application/x-gzip",
    "application/octet-stream",
)
"""Types under which servers send sitemaps and feeds."""
_ACCEPT = {Kind.PAGE: None, Kind.SITEMAP: _LISTS, Kind.FEED: (*_LISTS, "text/html")}
"""Types that are read; an HTML page in place of a sitemap is a polite “not found”."""


_SECOND_CHOICE = LEVELS // 2
"""The level from which pages are a second choice: useful pages wait above it."""


class Services(msgspec.Struct, frozen=True):
    """The parts that a runner works with."""

    frontier: BoundFrontier
    live: LiveRules
    robots: RobotsBook
    parsing: PageParsing
    commits: CommitQueue
    life: Life
    per_site: int
    """URLs of a site that are taken at once."""


class SiteRunner:
    """Works on one site until it is exhausted, must wait, or the worker stops."""

    def __init__(self, held: HeldSite, services: Services) -> None:
        self._held, self._channel = held, held.channel
        self._frontier, self._live, self._robots = services.frontier, services.live, services.robots
        self._parsing, self._commits, self._life = services.parsing, services.commits, services.life
        self._per_site = services.per_site
        self._filled_at = held.channel.now()

    @property
    def _rules(self) -> Rules:
        return self._live.rules

    async def run(self) -> None:
        """Visit URL after URL."""
        while not self._life.stopping and not self._channel.is_left:
            await self._held.calm()
            await self._commits.room()  # before the choice: the commit that makes room may bring something better
            task = await self._next()
            if task is None:
                return
            if not await self._visit(task):
                self._held.tasks.appendleft(task)
                return

    async def _next(self) -> Task | None:
        held = self._held
        if held.tasks and _SECOND_CHOICE <= held.tasks[0].level < LEVELS:
            await self._caught_up()
        while not held.tasks:
            returned, held.returned = held.returned, 0
            fresh = await self._frontier.refill(held.place, tuple(held.holding), self._per_site, returned)
            self._filled_at = self._channel.now()
            held.tasks.extend(fresh)
            held.holding.update(task.key for task in fresh)
            if fresh:
                break
            if not held.holding or self._life.stopping:
                return None
            # The pages under way may lead to more: look again when they are in the table.
            await self._commits.committed()
            if self._life.stopping:
                return None
        return held.tasks.popleft()

    async def _caught_up(self) -> None:
        """Before a second choice: most pages under way are committed, and may have led to something better."""
        while self._held.uncommitted > self._commits.near and not self._life.stopping:
            await self._commits.committed()

    async def _visit(self, task: Task) -> bool:
        """Handle one URL; False if the site must wait first."""
        mapped = await self._mapped(task)
        if mapped != task.url:
            held, now = self._held, self._channel.now()
            self._commits.add(of_mirror(held.place, task, mapped, self._rules, now))
            return True
        verdict = await self._decide(task)
        if not verdict.allowed:
            self._refused(task, Outcome.REFUSED, verdict)
            return True
        permission = await self._permission(task)
        if isinstance(permission, Rest):
            return self._rests(task, permission)
        if isinstance(permission, Response):
            self._answered(task, permission)
            return True
        if not permission.allowed:
            self._refused(task, Outcome.ROBOTS_DENIED, permission)
            return True
        response = await self._fetch(task)
        if isinstance(response, Rest):
            self._channel.rest(response)
            return False
        self._answered(task, response)
        return True

    async def _permission(self, task: Task) -> Decision | Rest | Response:
        """The verdict of robots.txt; a person may have just named a start page again, to have it asked anew."""
        robots, channel = self._robots, self._channel
        said = await robots.may_fetch(task.url, channel)
        kept_out = said.of_origin if isinstance(said, Rest) else isinstance(said, Decision) and not said.allowed
        if not kept_out or task.depth > 0:
            return said
        await self._live.refresh(self._filled_at)
        return await robots.may_fetch(task.url, channel)

    def _rests(self, task: Task, rest: Rest) -> bool:
        """The site waits; only the task does while another scheme of the site, with another robots.txt, has something
        to do."""
        origin = origin_of(task.url)
        if not rest.of_origin or all(origin_of(other.url) == origin for other in self._held.tasks):
            self._channel.rest(rest)
            return False
        rules, now = self._rules, self._channel.now()
        self._commits.add(of_unasked(self._held.place, task, rest, rules, now))
        return True

    async def _mapped(self, task: Task) -> str:
        """The URL on the main site; a mirror may have been rejected just now."""
        mapped = self._rules.canonicalizer.mapped(task.url)
        if mapped == task.url:
            return mapped
        await self._live.refresh(self._filled_at)
        return self._rules.canonicalizer.mapped(task.url)

    async def _decide(self, task: Task) -> Decision:
        """The verdict of the scope; a foreign host may be a seed that was added just now."""
        verdict = self._verdict(task)
        if verdict.allowed or not verdict.rule.startswith("scope."):
            return verdict
        await self._live.refresh(self._filled_at)
        return self._verdict(task)

    def _verdict(self, task: Task) -> Decision:
        rules = self._rules
        verdict = rules.decide(task.url, self._channel.now())
        if verdict.allowed and not task.previous:
            # Only for new URLs: the depth of a known page did not matter when it came in without a limit.
            return rules.reach.too_deep(task.depth) or verdict
        if verdict.rule.startswith(AUTOMATIC) and (task.previous or task.depth == 0):
            # Only for new URLs: a filter takes no page away from readers, and no seed from the operator.
            return allow(AUTOMATIC, f"a seed or a known page, although {verdict.reason}")
        return verdict

    async def _fetch(self, task: Task) -> Response | Rest:
        request = Request(
            task.url, etag=task.etag, last_modified=task.last_modified,
            accept_types=_ACCEPT[task.kind],
        )  # fmt: skip
        response = await self._channel.request(request)
        if isinstance(response, Response) and self._is_cookie_wall(task, response):
            return await self._channel.request(request)
        return response

    def _is_cookie_wall(self, task: Task, response: Response) -> bool:
        """A redirect to itself that sets a cookie lets us in the second time."""
        if response.outcome is not Outcome.REDIRECT or not response.headers_named("set-cookie"):
            return False
        return self._rules.canonicalizer.literal(parse_base(task.url), response.location) == task.url

    def _refused(self, task: Task, outcome: Outcome, verdict: Decision) -> None:
        now = self._channel.now()
        result = plain_result(self._held.place, task, outcome, verdict, now)
        self._commits.add(result)

    def _answered(self, task: Task, response: Response) -> None:
        if response.outcome is not Outcome.DOCUMENT:
            self._commits.add(self._plain(task, response))
            return
        page = asyncio.create_task(self._page(task, response))
        self._held.pages.add(page)
        page.add_done_callback(self._held.pages.discard)

    async def _page(self, task: Task, response: Response) -> None:
        """Have a body parsed and hand the result over, while the site's next URL is visited."""
        try:
            read = await self._parsing.read(self._held, task, response)
            if read is None:
                self._commits.wake()
                return
            self._commits.add(self._kept(task, response, read) if isinstance(read, Kept) else
                              self._parsed(task, response, read))  # fmt: skip
        except Exception as error:
            self._commits.fail(error)

    def _plain(self, task: Task, response: Response) -> Result:
        held = self._held
        return of_response(held.place, task, response, self._channel.clock.not_before, self._rules)

    def _parsed(self, task: Task, response: Response, read: Read) -> Result:
        result = of_page(self._held.place, task, response, read.parsed, self._rules)
        if read.scripted:
            # “Not modified” would refer to the shell only, and a page that was not rendered would never be.
            result.visit.etag = result.visit.last_modified = ""
        return result

    def _kept(self, task: Task, response: Response, kept: Kept) -> Result:
        """A page that could not be read as before: its stored content stays."""
        response.outcome, response.reason = Outcome.NOT_MODIFIED, kept.reason
        return self._plain(task, response)
