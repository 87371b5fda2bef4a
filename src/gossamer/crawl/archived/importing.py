"""Imports captures: a batch of them is leased, parsed, and committed with its segment in one transaction.

A batch ends after so many captures or bytes, or where a URL comes again. So batches are cut at the same places
whenever the same file is read, and a capture that is not newer than its URL's last visit is passed over. An import that
is killed anywhere and begun again thus ends like one that was not: what was committed is known, the rest comes in the
same batches.

No request is made. Scope filters, traps, budgets and removals decide as in a crawl, and so do the wishes of a page.
Pages of hosts that do not belong to the crawl are imported, too, but their links are not queued, and no visit is
planned for them.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from gossamer.clock import Clock
from gossamer.crawl.archived.files import opened
from gossamer.crawl.archived.responses import response_of
from gossamer.crawl.page_parsing import job_of
from gossamer.crawl.parsers import ParserPool
from gossamer.crawl.pending import Committer, Pending, Result
from gossamer.crawl.scope import LiveScope
from gossamer.crawl.understand import Rules, of_page, of_response
from gossamer.frontier.contract import CrawlFrontier, Lease, SiteReport
from gossamer.model.decision import Decision
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered, Response, Task, Via
from gossamer.model.url import Canonicalizer
from gossamer.plugins import wanted_types
from gossamer.scope.reach import LISTED_DEPTH
from gossamer.settings import Settings
from gossamer.store.foreign.warc import Capture, Damage, Other, captures

log = logging.getLogger(__name__)

_BATCH, _BATCH_BYTES = 200, 16 << 20
"""Most captures and bytes of a batch."""
_TOLD = 1_000
"""Damaged records that are named."""
_DAY = 86_400.0
"""Clocks may differ by so much; a capture that is younger still would keep real visits out."""


class Imported(msgspec.Struct):
    """What an import has done so far."""

    records: int = 0
    """Records read, of whatever kind."""
    pages: int = 0
    """Captures that were stored."""
    outcomes: dict[str, int] = {}
    """The same by outcome."""
    known: int = 0
    """Captures passed over: no newer than the last visit of their URL."""
    refused: int = 0
    """Captures that scope, filters or budgets refuse, or that were removed."""
    others: int = 0
    """Records that are no responses, and robots.txt files."""
    damaged: int = 0
    """Records that cannot be read."""
    damages: list[str] = []
    """Where the first of them are, and why."""


class _Item(msgspec.Struct, frozen=True):
    """A capture that may be imported."""

    found: Discovered
    capture: Capture
    is_inside: bool
    """Whether its host belongs to the crawl."""


class Importer:
    """Imports files, one after the other; `stop` ends after the batch under way."""

    def __init__(
        self, settings: Settings, frontier: CrawlFrontier, scope: LiveScope, committer: Committer, worker: str,
        clock: Clock, parsers: ParserPool,
    ) -> None:  # fmt: skip
        self._settings, self._frontier, self._scope, self._committer = settings, frontier, scope, committer
        self._worker, self._clock, self._parsers = worker, clock, parsers
        self._canonicalizer: Canonicalizer = scope.canonicalizer()
        self._rules = Rules(
            self._canonicalizer, scope.chain.decide, frontier.seen.unknown, settings.budget,
            settings.crawl.max_redirects, worker, frontier.guidance.strategy.links is not None, settings.feeds.poll,
            settings.reach,
        )  # fmt: skip
        types = wanted_types(settings.fetch.accept_types, settings.parse.skip_types)
        self._fetch = msgspec.structs.replace(settings.fetch, accept_types=types)
        self._known: dict[str, int] = {}
        """Sites → versions of the facts that the parsers have."""
        self._stopped = False
        self._renewed = clock.now()
        self.done = Imported()

    def stop(self) -> None:
        """End soon; what was committed stays."""
        self._stopped = True

    async def run(self, paths: Sequence[Path], watch: Callable[[Imported], None]) -> bool:
        """Import all; returns whether it came to the end. `watch` is told after each batch."""
        for path in paths:
            for name, file in opened(path):
                await self._import(name, captures(file, self._settings.fetch.max_bytes), watch)
                if self._stopped:
                    return False
        return True

    async def _import(
        self, name: str, records: Iterable[Capture | Other | Damage], watch: Callable[[Imported], None]
    ) -> None:
        batch: dict[str, _Item] = {}
        size = 0
        for record in records:
            self.done.records += 1
            item = self._item(name, record)
            if item is None:
                continue
            if item.found.url in batch or len(batch) >= _BATCH or size >= _BATCH_BYTES:
                await self._commit(batch)
                watch(self.done)
                batch, size = {}, 0
                if self._stopped:
                    return
            batch[item.found.url] = item
            size += len(item.capture.body)
        await self._commit(batch)
        watch(self.done)

    # -- one capture ------------------------------------------------------------------------------

    def _item(self, name: str, record: Capture | Other | Damage) -> _Item | None:
        """What may be imported of a record; the rest is counted."""
        done, now = self.done, self._clock.now()
        if isinstance(record, Capture) and record.at > now + _DAY:
            record = Damage(record.offset, "its WARC-Date is in the future")
        if isinstance(record, Damage):
            done.damaged += 1
            if len(done.damages) < _TOLD:
                done.damages.append(f"{name}: the record at byte {record.offset}: {record.problem}")
            return None
        if isinstance(record, Other):
            done.others += 1
            return None
        url = self._canonicalizer.parse(record.url)
        if isinstance(url, Decision):
            done.refused += 1
            return None
        if url.partition("://")[2].partition("/")[2] == "robots.txt" or record.status == 304:
            done.others += 1
            return None
        verdict = self._scope.chain.decide(url, now)
        is_inside = verdict.allowed
        if not is_inside:
            verdict = self._scope.decide_inside(url, now)
        refusal = None if verdict.allowed else verdict
        if refusal is not None:
            done.refused += 1
            if refusal.rule.startswith("scope."):
                return None  # a host outside of a list: nothing of it is kept
        return _Item(Discovered(url, Via.ARCHIVE, depth=LISTED_DEPTH, refusal=refusal), record, is_inside)

    # -- one batch --------------------------------------------------------------------------------

    async def _commit(self, batch: dict[str, _Item]) -> None:
        if not batch:
            return
        items, now = list(batch.values()), self._clock.now()
        leases = self._frontier.admit(
            self._worker, [item.found for item in items], [item.capture.at for item in items], now
        )
        self._renewed = now
        try:
            await self._learn({lease.site for lease in leases})
            pending = Pending()
            wanted = [(lease, task, batch[task.url]) for lease in leases for task in lease.tasks]
            for result in await asyncio.gather(*(self._result(*one) for one in wanted)):
                pending.add(result)
            if pending:
                verdicts = self._committer.commit(pending, _reports(leases), [], self._clock.now())
                self._count(Counter(verdict.outcome.value for verdict in verdicts), len(wanted))
        finally:
            self._frontier.release(self._worker, _reports(leases), [], self._clock.now())
        allowed = sum(item.found.refusal is None for item in items)
        self.done.known += allowed - len(wanted)

    def _count(self, outcomes: Counter[str], pages: int) -> None:
        self.done.pages += pages
        for name, number in outcomes.items():
            self.done.outcomes[name] = self.done.outcomes.get(name, 0) + number

    async def _result(self, lease: Lease, task: Task, item: _Item) -> Result:
        response = response_of(item.capture, task.url, self._fetch)
        result = await self._read(lease, task, response)
        visit = result.visit
        visit.requested = False
        if not item.is_inside:
            visit.rests, visit.retry_at = True, None
        return result

    async def _read(self, lease: Lease, task: Task, response: Response) -> Result:
        if response.outcome is not Outcome.DOCUMENT:
            return of_response(lease.place, task, response, response.finished_at, self._rules)
        parsed = await self._parsers.parse(job_of(task, response))
        now = self._clock.now()
        if now - self._renewed > self._settings.budget.lease / 4:
            self._frontier.renew(self._worker, now)
            self._renewed = now
        return of_page(lease.place, task, response, parsed, self._rules)

    async def _learn(self, sites: set[str]) -> None:
        """Tell the parsers what is known of these sites by now."""
        if not self._settings.site.learn:
            return
        for site, known in self._frontier.facts_since({site: self._known.get(site, 0) for site in sites}).items():
            self._known[site] = known.version
            self._parsers.know(site, known)


def _reports(leases: Sequence[Lease]) -> list[SiteReport]:
    return [SiteReport(lease.place, lease.token, lease.clock, parts=lease.parts) for lease in leases]
