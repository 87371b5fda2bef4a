"""One leased site: takes its URLs one by one, asks, fetches, hands over, until there is no more."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterator
from typing import Protocol

from gossamer.crawl.channel import Channel, Rest
from gossamer.crawl.pending import Result
from gossamer.crawl.robots import RobotsBook
from gossamer.crawl.understand import Rules, of_mirror, of_page, of_response, of_unasked, plain_result
from gossamer.fetch import Request
from gossamer.frontier.contract import Lease
from gossamer.model.decision import Decision, allow
from gossamer.model.outcome import Outcome
from gossamer.model.records import LEVELS, Kind, Parsed, ParseJob, Response, Task
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
"""Types that are read; an HTML page in place of a sitemap says politely that there is none."""


_SECOND_CHOICE = LEVELS // 2
"""The level from which on a page is fetched for want of better ones: useful pages wait above it."""
_AHEAD = 4
"""Pages that may wait for the parsers while a second choice is fetched."""


class Workshop(Protocol):
    """What a runner needs of its worker."""

    @property
    def rules(self) -> Rules:
        """What a response means."""

    @property
    def robots(self) -> RobotsBook:
        """What robots.txt says."""

    @property
    def stopping(self) -> bool:
        """Whether no new request should be made."""

    async def refill(self, runner: SiteRunner, returned: int) -> list[Task]:
        """More URLs of the site, for so many that are given back untried."""

    async def look_at_scope(self, since: float) -> None:
        """See to it that the scope is no older than this time."""

    async def committed(self) -> None:
        """Wait until what was handed over is in the frontier."""

    async def room(self) -> None:
        """Wait until there is memory for another body."""

    def parse_later(self, runner: SiteRunner, task: Task, response: Response) -> None:
        """Have the body parsed, then hand the result over."""

    def hand_over(self, result: Result) -> None:
        """Put a result into the next commit."""


class SiteRunner:
    """Works on one site until it is exhausted, must rest, or the worker stops."""

    def __init__(self, lease: Lease, channel: Channel, workshop: Workshop) -> None:
        self.site, self.part = lease.site, lease.part
        self.channel = channel
        self.tasks: deque[Task] = deque(lease.tasks)
        self.holding: set[int] = {task.key for task in lease.tasks}
        """Keys handed out to us and not yet reported."""
        self.job: asyncio.Task[None] | None = None
        self._workshop = workshop
        self._filled_at = channel.now()
        self._leaving = False
        self._returned = 0
        """URLs given back untried since the last refill."""
        self._parsing = 0
        self._one_parsed = asyncio.Event()
        self._rendering = 0
        self._calm = asyncio.Event()
        self._calm.set()

    def offer(self, level: int) -> None:
        """New URLs of the site wait in this level: give back what is worse, the best is asked for next."""
        if any(level < task.level < LEVELS for task in self.tasks):
            self.holding.difference_update(task.key for task in self.tasks)
            self._returned += len(self.tasks)
            self.tasks.clear()

    def leave(self) -> None:
        """Give the site back after the request under way; one that still waits for its turn is not made."""
        self._leaving = True
        self.channel.leave()

    @contextlib.contextmanager
    def rendering(self) -> Iterator[None]:
        """While a page of the site is rendered it has the site's turns: no other is begun."""
        self._rendering += 1
        self._calm.clear()
        try:
            yield
        finally:
            self._rendering -= 1
            if not self._rendering:
                self._calm.set()

    def wake(self) -> None:
        """Look again whether the worker stops: what is waited for may not come any more."""
        self._one_parsed.set()

    @property
    def unused(self) -> int:
        """URLs that were handed out and not tried."""
        return len(self.tasks) + self._returned

    @property
    def done(self) -> bool:
        """Whether the site can be given back: nothing under way, nothing unreported but what was not tried."""
        under_way = self.job is None or not self.job.done() or self.channel.borrowers
        return not under_way and len(self.holding) <= len(self.tasks)

    async def run(self) -> None:
        """Visit URL after URL."""
        while not self._workshop.stopping and not self._leaving:
            await self._calm.wait()
            task = await self._next()
            if task is None:
                return
            if not await self._visit(task):
                self.tasks.appendleft(task)
                return

    async def _next(self) -> Task | None:
        if self.tasks and _SECOND_CHOICE <= self.tasks[0].level < LEVELS:
            await self._caught_up()
        while not self.tasks:
            returned, self._returned = self._returned, 0
            fresh = await self._workshop.refill(self, returned)
            self._filled_at = self.channel.now()
            self.tasks.extend(fresh)
            self.holding.update(task.key for task in fresh)
            if fresh:
                break
            if not self.holding or self._workshop.stopping:
                return None
            # The pages under way may lead to more: look again when they are in the table.
            await self._workshop.committed()
        return self.tasks.popleft()

    async def _caught_up(self) -> None:
        """Before a second choice: most pages under way are parsed, and may have led to something better."""
        while self._parsing > _AHEAD and not self._workshop.stopping:
            self._one_parsed.clear()
            await self._one_parsed.wait()

    async def _visit(self, task: Task) -> bool:
        """Deal with one URL; False where the site must rest first."""
        workshop = self._workshop
        mapped = await self._mapped(task)
        if mapped != task.url:
            workshop.hand_over(of_mirror(self.site, self.part, task, mapped, workshop.rules, self.channel.now()))
            return True
        verdict = await self._decide(task)
        if not verdict.allowed:
            self._refused(task, Outcome.REFUSED, verdict)
            return True
        await workshop.room()
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
            self.channel.rest(response)
            return False
        self._answered(task, response)
        return True

    async def _permission(self, task: Task) -> Decision | Rest | Response:
        """What robots.txt says; a start page may have been named again just now, with the wish to ask it anew."""
        robots, channel = self._workshop.robots, self.channel
        said = await robots.may_fetch(task.url, channel)
        kept_out = said.of_origin if isinstance(said, Rest) else isinstance(said, Decision) and not said.allowed
        if not kept_out or task.depth > 0:
            return said
        await self._workshop.look_at_scope(self._filled_at)
        return await robots.may_fetch(task.url, channel)

    def _rests(self, task: Task, rest: Rest) -> bool:
        """The site rests; only the task does while there is something to do for another scheme of the site, whose
        robots.txt is another one."""
        origin = origin_of(task.url)
        if not rest.of_origin or all(origin_of(other.url) == origin for other in self.tasks):
            self.channel.rest(rest)
            return False
        rules, now = self._workshop.rules, self.channel.now()
        self._workshop.hand_over(of_unasked(self.site, self.part, task, rest, rules, now))
        return True

    async def _mapped(self, task: Task) -> str:
        """The URL on the main site; a mirror may have been rejected just now."""
        mapped = self._workshop.rules.canonicalizer.mapped(task.url)
        if mapped == task.url:
            return mapped
        await self._workshop.look_at_scope(self._filled_at)
        return self._workshop.rules.canonicalizer.mapped(task.url)

    async def _decide(self, task: Task) -> Decision:
        """What the scope says; a foreign host may be a seed that was injected just now."""
        verdict = self._verdict(task)
        if verdict.allowed or not verdict.rule.startswith("scope."):
            return verdict
        await self._workshop.look_at_scope(self._filled_at)
        return self._verdict(task)

    def _verdict(self, task: Task) -> Decision:
        rules = self._workshop.rules
        verdict = rules.decide(task.url, self.channel.now())
        if verdict.allowed and not task.previous:
            # Only what would be new: how deep a known page is was not asked when it came in without a limit.
            return rules.reach.too_deep(task.depth) or verdict
        if verdict.rule.startswith(AUTOMATIC) and (task.previous or task.depth == 0):
            # It is for what would be new: a filter takes no page away from readers, and no seed from the operator.
            return allow(AUTOMATIC, f"a seed or known page, though {verdict.reason}")
        return verdict

    async def _fetch(self, task: Task) -> Response | Rest:
        request = Request(
            task.url, etag=task.etag, last_modified=task.last_modified,
            accept_types=_ACCEPT[task.kind],
        )  # fmt: skip
        response = await self.channel.request(request)
        if isinstance(response, Response) and self._is_cookie_wall(task, response):
            return await self.channel.request(request)
        return response

    def _is_cookie_wall(self, task: Task, response: Response) -> bool:
        """A redirect to itself that sets a cookie lets us in the second time."""
        if response.outcome is not Outcome.REDIRECT or not response.headers_named("set-cookie"):
            return False
        return self._workshop.rules.canonicalizer.literal(parse_base(task.url), response.location) == task.url

    def _refused(self, task: Task, outcome: Outcome, verdict: Decision) -> None:
        now = self.channel.now()
        result = plain_result(self.site, self.part, task, outcome, verdict, now)
        self._workshop.hand_over(result)

    def _answered(self, task: Task, response: Response) -> None:
        if response.outcome is Outcome.DOCUMENT:
            self._parsing += 1
            self._workshop.parse_later(self, task, response)
            return
        not_before = self.channel.clock.not_before
        rules = self._workshop.rules
        self._workshop.hand_over(of_response(self.site, self.part, task, response, not_before, rules))

    def parsed(self, task: Task, response: Response, parsed: Parsed, scripted: bool = False) -> None:
        """The parser is done with a page; `scripted`: it needs its scripts, whether or not they were run this time."""
        self._parsing -= 1
        self._one_parsed.set()
        rules = self._workshop.rules
        result = of_page(self.site, self.part, task, response, parsed, rules)
        if scripted:
            # "Not modified" would only be said of the shell, and one that was not rendered would never be.
            result.visit.etag = result.visit.last_modified = ""
        self._workshop.hand_over(result)

    def kept(self, task: Task, response: Response, reason: str) -> None:
        """A page that could not be read as before: what is stored of it stays."""
        self._parsing -= 1
        self._one_parsed.set()
        response.outcome, response.reason = Outcome.NOT_MODIFIED, reason
        not_before, rules = self.channel.clock.not_before, self._workshop.rules
        self._workshop.hand_over(of_response(self.site, self.part, task, response, not_before, rules))


def job_of(task: Task, response: Response) -> ParseJob:
    """What the parser gets of a response."""
    return ParseJob(
        task.url, task.kind, response.header("content-type"), response.body,
        response.headers_named("x-robots-tag"), response.headers_named("link"),
    )  # fmt: skip
