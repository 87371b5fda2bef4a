"""The frontier on an SQL database: see `contract` for what it promises.

Each public method is one transaction. The methods block; a worker calls them from a thread of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

import msgspec

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.dedup.near.contract import NearMethod
from gossamer.errors import LeaseLost
from gossamer.frontier import changes, depths, handing_out, leases, partitions, recording
from gossamer.frontier.contract import (
    Added,
    Batch,
    Budgets,
    Directions,
    KnownFacts,
    Lease,
    Place,
    SiteReport,
    Verdict,
    Visit,
    WritePages,
)
from gossamer.frontier.copies import clusters, duplicates
from gossamer.frontier.copies.copying import LOWERINGS, count_copies, lowered_shapes
from gossamer.frontier.copies.mirrors import find_mirrors
from gossamer.frontier.extraction import Extraction
from gossamer.frontier.freshness import NOT_COUNTED, Planned
from gossamer.frontier.guidance import Guidance
from gossamer.frontier.intake import Intake
from gossamer.frontier.knowledge import Knowledge, facts_since, templates_of
from gossamer.frontier.politeness import PolitenessConfig
from gossamer.frontier.prefixes import count_prefixes
from gossamer.frontier.queueing import Queue, queue_of
from gossamer.frontier.revisits import Revisits
from gossamer.frontier.seen import SeenCache
from gossamer.frontier.sources import Sources, note_hubs
from gossamer.frontier.standing import collect_gifts, raise_known
from gossamer.frontier.steering import captures, controls, fitting, naming, seed_redirects
from gossamer.frontier.steering.replanning import replan_visits
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered, Task
from gossamer.model.site import key64
from gossamer.scope.reach import Reach

_REFUSED = Outcome.REFUSED

P = ParamSpec("P")
T = TypeVar("T")


def patient(
    method: Callable[Concatenate[SqlFrontier, P], T],
) -> Callable[Concatenate[SqlFrontier, P], T]:
    """Repeat a method, which is one transaction, if the connection broke before the commit."""

    @wraps(method)
    def call(self: SqlFrontier, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.db.patiently(lambda: method(self, *args, **kwargs))

    return call


class SqlFrontier:
    """The one implementation for SQLite and, by another `Database`, PostgreSQL."""

    def __init__(
        self,
        database: Database,
        budgets: Budgets,
        politeness: PolitenessConfig,
        shape_of: Callable[[str], str],
        near: NearMethod,
        mirrors: bool = True,
        guidance: Guidance | None = None,
        machine: str = "",
    ) -> None:
        """`mirrors`: whether to look for them; `guidance`: by default breadth first and the usual revisits; `machine`:
        the machine of the workers that register here."""
        self._knowledge = Knowledge(database)
        self.db = database
        self._mirrors = mirrors
        self._machine = machine
        self._near = near
        self._budgets = budgets
        self._politeness = politeness
        self._shape_of = shape_of
        self._extraction = Extraction(database)
        self._intake = Intake(database, budgets, shape_of, guidance or Guidance())
        self.guide(guidance or Guidance())
        clusters.adopt_method(database, near.name)

    def guide(self, guidance: Guidance) -> None:
        """Use this from now on; URLs that wait already stay in their places."""
        guidance.documents.take_over(self._intake.guidance.documents)
        self._intake.guidance = self._guidance = guidance
        self._revisits = Revisits(self.db, guidance.revisit)
        self._sources = Sources(self.db, guidance.feeds, guidance.revisit.ceiling, self._politeness)

    @property
    def guidance(self) -> Guidance:
        """What is fetched first, and when pages are fetched again."""
        return self._guidance

    @patient
    def add(self, found: Sequence[Discovered], now: float) -> Added:
        """Queue new URLs; remember refused ones."""
        with self._taking_in():
            return self._intake.add(found, None, now)

    @patient
    def add_seeds(self, found: Sequence[Discovered], now: float, robots: Sequence[tuple[str, bytes]] = ()) -> Added:
        """Queue seeds, also known ones, and make their sites part of the crawl, all or nothing; `robots`: origins and
        states of robots.txt files that are to be requested anew."""
        with self._taking_in():
            naming.add_seeds(self.db, found, now)
            added = self._intake.add(found, None, now)
            naming.expire_robots(self.db, robots)
            added.again = naming.ask_again(
                self.db, [item for item in found if item.refusal is None], now, self._politeness
            )
            return added

    @patient
    def readmit(self, before: Reach, now: float) -> int:
        """Queue URLs that an earlier reach refused and this one lets in; returns how many. A site with very many
        refusals did not remember the later ones: there, pages whose links were refused are fetched once more."""
        forgot = self.db.execute("SELECT 1 FROM sites WHERE refused > ? LIMIT 1", (self._budgets.refused_per_site,))
        added = 0
        for found in depths.refused_by_reach(self.db, self._guidance.reach):
            with self._taking_in():
                added += self._intake.add(found, None, now).new
        start = 0 if before.sitemaps == "only" else before.depth
        for places in depths.pages_from(self.db, start) if forgot and start is not None else ():
            with self.db.transaction():
                depths.follow_anew(self.db, places, now)
        return added

    @contextmanager
    def _taking_in(self) -> Iterator[None]:
        """A transaction that adds URLs; it changes the seen cache only if it is committed."""
        try:
            with self.db.transaction():
                yield
        except BaseException:
            self._intake.rolled_back()
            raise
        self._intake.committed()

    @patient
    def register(self, worker: str, now: float) -> None:
        """Enter a worker."""
        with self.db.transaction():
            leases.register(self.db, worker, now, self._budgets, self._politeness, self._machine)

    @patient
    def renew(self, worker: str, now: float) -> None:
        """A sign of life; it does not wait for a turn."""
        leases.renew(self.db, worker, now, self._budgets)

    @patient
    def take(self, worker: str, now: float, sites: int, urls: int) -> list[Lease]:
        """Lease ready sites, with their first URLs."""
        self._expire(now)
        self._split_anew(now)
        if sites <= 0 or urls <= 0 or not leases.anything_ready(self.db, worker, now):
            return []
        taken: list[Lease] = []
        with self.db.transaction():
            leases.renew(self.db, worker, now, self._budgets)
            urls = min(urls, self._page_allowance())
            if urls <= 0:
                return []
            for lease, left in leases.claim(self.db, worker, now, sites, self._politeness):
                queue = queue_of(lease.place)
                handing_out.promote(self.db, queue, now)
                most = min(self._budgets.per_site, urls) if left is None else min(self._budgets.per_site, urls, left)
                lease.tasks = self._tasks(queue, (), most, now)
                urls -= len(lease.tasks)
                if lease.tasks:
                    taken.append(lease)
                else:
                    leases.free_part(self.db, queue, now)
                if urls <= 0:
                    break
            self._reserve(worker, sum(len(lease.tasks) for lease in taken))
        return taken

    @patient
    def refill(
        self, worker: str, place: Place, holding: Sequence[int], now: float, urls: int, returned: int = 0
    ) -> list[Task]:
        """More URLs of a leased site."""
        left = leases.allowance(self.db, worker, place, len(holding))
        if left == 0:
            if returned:
                with self.db.transaction():
                    self._unreserve(worker, returned)
            return []
        queue = queue_of(place)
        urls = min(urls, self._budgets.per_site) if left is None else min(urls, self._budgets.per_site, left)
        if handing_out.has_due(self.db, queue, now):
            with self.db.transaction():
                handing_out.promote(self.db, queue, now)
        if self._page_limit() is None and not lowered_shapes(self.db, queue.site_id):
            handful = handing_out.tasks(self.db, queue, set(holding), urls, self._guidance.revisit.share)
            if not handful.stale:
                return handful.tasks
        with self.db.transaction():
            self._unreserve(worker, returned)
            allowed = min(urls, self._page_allowance())
            tasks = self._tasks(queue, set(holding), allowed, now) if allowed > 0 else []
            self._reserve(worker, len(tasks))
        return tasks

    def _tasks(self, queue: Queue, holding: Collection[int], urls: int, now: float) -> list[Task]:
        """The best due URLs of a site; those whose shape has turned out to yield copies move down first."""
        lowered = lowered_shapes(self.db, queue.site_id)
        share = self._guidance.revisit.share
        for _ in range(LOWERINGS):
            handful = handing_out.tasks(self.db, queue, holding, urls, share)
            handing_out.drop_stale(self.db, queue, handful.stale)
            late = [(task, by) for task in handful.tasks if lowered and (by := self._lowered_now(task, lowered))]
            if not late:
                return handful.tasks
            handing_out.lower(self.db, queue, late, now)
        return handing_out.tasks(self.db, queue, holding, urls, share).tasks

    def _lowered_now(self, task: Task, lowered: Mapping[int, int]) -> int:
        """Levels by which a first visit has to move down now."""
        return 0 if task.lowered or task.previous else lowered.get(key64(self._shape_of(task.url)), 0)

    @patient
    def hold_address(self, worker: str, site: str, address: str, now: float) -> float | None:
        """Become the only worker that talks to an address, if it is free."""
        self._expire(now)
        with self.db.transaction():
            return leases.hold_address(self.db, worker, key64(site), address, now)

    @patient
    def foresee(self, visits: Sequence[Visit]) -> list[bool]:
        """Which visits `report` will most likely judge to be copies; changes nothing."""
        return duplicates.foresee(self.db, visits)

    @patient
    def report(self, worker: str, batch: Batch, now: float, write_pages: WritePages | None = None) -> list[Verdict]:
        """Record a batch. The segment's pages are written inside the transaction, because only here it is known which
        of them are documents."""
        with self._taking_in():
            verdicts = self._report(worker, batch, now, write_pages)
        self._intake.forget([v.task.key for v, r in zip(batch.visits, verdicts, strict=True) if r.outcome is _REFUSED])
        return verdicts

    def _report(self, worker: str, batch: Batch, now: float, write_pages: WritePages | None) -> list[Verdict]:
        leases.check_alive(self.db, worker)
        recording.clean_texts(batch)
        leases.check_leases(self.db, worker, batch.sites)
        leased = {site.place for site in batch.sites}
        for visit in batch.visits:
            if visit.place not in leased:
                raise LeaseLost(f"a visit to {visit.site} was reported without the site's lease")
        strategy = self._guidance.strategy
        gifts = collect_gifts(self.db, strategy, batch.visits, now)
        # First, because a canonical target can represent a page only if it was let in.
        self._intake.add(*self._found(batch), now, gifts)
        raise_known(self.db, strategy, gifts, now)
        removed = recording.removed(self.db, batch.visits)
        verdicts = duplicates.judge(self.db, self._near, batch.visits, removed, batch.segment, worker)
        before = clusters.current_clusters(self.db, batch.visits)
        clusters.assign(self.db, self._near, batch.visits, verdicts, before)
        if write_pages is not None:
            write_pages(verdicts)
        judged = recording.judged_visits(batch.visits, verdicts, removed)
        shapes = [self._shape_of(visit.task.url) for visit, _, _ in judged]
        planned = self._plan(judged, shapes, now)
        departed = recording.record_visits(self.db, judged, batch.segment, planned, now)
        recording.wake_strangers(self.db, self._near, judged, now)
        limit = self._guidance.reach.depth
        if limit is not None:
            depths.follow_anew(self.db, depths.came_nearer(self.db, judged, limit), now)
        count_prefixes(self.db, judged, shapes, recording.keeps_outcome)
        clusters.leave(self.db, recording.left_clusters(batch.visits, verdicts, removed, before))
        count_copies(self.db, batch.visits, verdicts, self._shape_of)
        if self._mirrors:
            find_mirrors(self.db, batch.visits, verdicts, now)
        recording.record_sites(self.db, batch)
        self._extraction.count(batch.visits, now)
        self._knowledge.take_in(judged, now)
        note_hubs(self.db, batch.visits, now)
        stored = sum(visit.row is not None for visit in batch.visits)
        if stored or departed:
            change = changes.next_change(self.db)
            changes.note_departures(self.db, change, departed)
        if stored:
            self.db.execute(
                "INSERT INTO segments (id, worker, created_at, pages, bytes, seq) VALUES (?, ?, ?, ?, ?, ?)",
                (batch.segment, worker, now, stored, batch.bytes_stored, change),
            )
        leases.renew(self.db, worker, now, self._budgets)
        self._count(worker, batch)
        return verdicts

    def _found(self, batch: Batch) -> tuple[list[Discovered], list[int] | None]:
        """The URLs of a batch with their keys; targets of seeds' redirects are among them."""
        taken = seed_redirects.take_in(self.db, batch.beyond)
        if not taken:
            return batch.found, batch.found_keys
        refusals = {(item.referrer, item.url): item.refusal for item in taken}
        for visit in batch.visits:
            if (visit.task.url, visit.target) in refusals:
                refusal = refusals[visit.task.url, visit.target]
                visit.reason = f"its target is refused: {refusal.reason}" if refusal else ""
        keys = batch.found_keys
        return [*batch.found, *taken], None if keys is None else [*keys, *(key64(item.url) for item in taken)]

    def _plan(
        self, judged: Sequence[tuple[Visit, Verdict, int]], shapes: Sequence[str], now: float
    ) -> dict[tuple[int, int], Planned]:
        """When visited URLs are visited again; a source when its habit says so, if that is earlier."""
        planned = self._revisits.plan_visits(judged, shapes, now)
        for place, due in self._sources.plan_polls(judged, self._intake.news, now).items():
            plan = planned.get(place)
            if plan is not None and (plan.due_at is None or due < plan.due_at or plan.bucket == NOT_COUNTED):
                at = next(visit.at for visit, _, site_id in judged if (site_id, visit.task.key) == place)
                planned[place] = plan._replace(due_at=due, checked_at=plan.checked_at or at)
        return planned

    def replan_visits(self, now: float) -> int:
        """Plan the next visits of finished pages by the present settings; returns how many plans changed."""
        return replan_visits(self.db, self._revisits, self._guidance.feeds.poll, now)

    @patient
    def follow_anew(self, places: Sequence[tuple[int, int]], now: float) -> None:
        """Fetch finished pages, by site and key, once more, whether or not they have changed."""
        with self.db.transaction():
            depths.follow_anew(self.db, places, now)

    @patient
    def replan_polls(self, now: float) -> int:
        """Bring the next polls of all sources within the present limits; returns how many were beyond them."""
        with self.db.transaction():
            return self._sources.replan(now)

    @patient
    def release(
        self, worker: str, sites: Sequence[SiteReport], addresses: Sequence[tuple[str, float]], now: float
    ) -> None:
        """Give sites and addresses back in good order."""
        with self.db.transaction():
            leases.check_leases(self.db, worker, sites)
            batch = Batch("", sites=list(sites), addresses=list(addresses))
            recording.clean_texts(batch)
            recording.record_sites(self.db, batch)
            for site in sites:
                leases.free_part(self.db, queue_of(site.place), now)
            self.db.many(
                "UPDATE addresses SET owner = NULL WHERE address = ? AND owner = ?",
                [(address, worker) for address, _ in addresses],
            )
            self._unreserve(worker, sum(site.unused for site in sites))

    @patient
    def retire(self, worker: str, now: float) -> None:
        """A worker is gone: its sites are free, and count as asked now."""
        with self.db.transaction():
            leases.retire(self.db, worker, now, self._politeness)

    @patient
    def borrow(self, worker: str, site: str, now: float) -> Lease | None:
        """Lease one site by name, known or not, without URLs; None while another worker has it."""
        self._expire(now)
        with self.db.transaction():
            leases.renew(self.db, worker, now, self._budgets)
            self._intake.make_site(site, now)
            return leases.claim_site(self.db, worker, key64(site), now, self._politeness)

    @patient
    def admit(self, worker: str, found: Sequence[Discovered], at: Sequence[float], now: float) -> list[Lease]:
        """Queue URLs of which there are captures of these times, and lease those whose capture is newer than their last
        visit."""
        self._expire(now)
        with self._taking_in():
            leases.renew(self.db, worker, now, self._budgets)
            self._intake.add(found, None, now)
            times = {item.url: time for item, time in zip(found, at, strict=True) if item.refusal is None}
            return captures.lease(self.db, worker, times, now, self._politeness)

    @patient
    def fewest_sites(self, worker: str, now: float) -> int | None:
        """Sites of the other live worker that holds the fewest; None if there is no other."""
        return leases.fewest_sites(self.db, worker, now)

    @patient
    def split_anew(self, now: float) -> None:
        """Apply new plans for split sites that nobody works on."""
        self._split_anew(now)

    def _split_anew(self, now: float) -> None:
        if partitions.anything_waiting(self.db):
            with self.db.transaction():
                partitions.apply_waiting(self.db, now)

    def sites_to_leave(self) -> set[str]:
        """Sites to give back, because they are about to be split anew."""
        return partitions.waiting_sites(self.db)

    def directions(self, held: Collection[str]) -> Directions:
        """Orders for the sites that a worker holds: those to give back, and the operator's delays."""
        said = controls.directions(self.db, held)
        robots = naming.robots_version(self.db)
        return msgspec.structs.replace(said, leave=said.leave | self.sites_to_leave(), robots=robots)

    @patient
    def pause_site(self, site: str, reason: str, now: float) -> None:
        """Send no request to the site until it is resumed."""
        controls.pause_site(self.db, site, reason, now)

    @patient
    def resume_site(self, site: str, now: float) -> None:
        """Resume a paused site."""
        controls.resume_site(self.db, site, now)

    @patient
    def limit_site(self, site: str, least_delay: float, most_pages: int, now: float) -> None:
        """Send a site requests more slowly, or only so many in all."""
        controls.limit_site(self.db, site, least_delay, most_pages, now)

    @patient
    def pause_crawl(self, reason: str, now: float) -> None:
        """Send no request until the crawl is resumed."""
        controls.pause_crawl(self.db, reason, now)

    @patient
    def resume_crawl(self, now: float) -> None:
        """Resume the crawl."""
        controls.resume_crawl(self.db, now)

    def waits(self, sites: Collection[str]) -> dict[str, tuple[float, str]]:
        """Until when these sites must wait, and why: troubles that owners of other parts met."""
        rows = [
            row for chunk in chunks(sorted(map(key64, sites))) for row in self.db.execute(
                f"SELECT name, not_before, wait_reason FROM sites WHERE id IN ({marks(chunk)})", chunk
            )
        ]  # fmt: skip
        return {name: (until, reason) for name, until, reason in rows if reason}

    def robots(self, origin: str) -> bytes | None:
        """The stored state of an origin's robots.txt."""
        row = self.db.execute("SELECT state FROM robots WHERE origin = ?", (origin,))
        return bytes(row[0][0]) if row else None

    def facts_since(self, known: Mapping[str, int]) -> dict[str, KnownFacts]:
        """What is known of sites by now, where it is newer than the versions given."""
        return facts_since(self.db, known)

    def prefer(self, known: Mapping[str, KnownFacts]) -> list[str]:
        """Fetch first what looks like the documents of these sites; returns those of them where other URLs do now."""
        documents = self._guidance.documents
        return [site for site, one in known.items() if documents.know(site, templates_of(one))]

    @patient
    def reorder(self, site: str, after: int | None, now: float) -> int | None:
        """Put the next waiting URLs of a site, by key, where they belong now; returns the last key, None at the end."""
        rows = self.db.execute("SELECT not_before FROM sites WHERE id = ?", (key64(site),))
        place = fitting.SitePlace(key64(site), rows[0][0] if rows else 0.0)
        return fitting.refit_some(self.db, place, after, self._guidance, now).last

    @property
    def learned(self) -> dict[str, KnownFacts]:
        """Sites that the last report learned something about."""
        return self._knowledge.learned

    @property
    def best_new(self) -> dict[int, int]:
        """The best level into which the last report put new URLs, by the key of their site."""
        return self._intake.best

    @property
    def seen(self) -> SeenCache:
        """Keys of URLs that are surely in the table."""
        return self._intake.seen

    @patient
    def block_until(self, site: str, until: float, reason: str) -> None:
        """Send no request to the site before `until`."""
        with self.db.transaction():
            self.db.execute(
                "UPDATE sites SET not_before = ?, wait_reason = ? WHERE id = ? AND not_before < ?",
                (until, reason, key64(site), until),
            )
            self.db.execute(
                "UPDATE parts SET ready_at = ? WHERE site_id = ? AND owner IS NULL AND ready_at < ?",
                (until, key64(site), until),
            )

    @patient
    def limit_pages(self, pages: int | None) -> None:
        """Fetch at most this many pages from now on, over all workers; None lifts the limit."""
        with self.db.transaction():
            self.db.execute("DELETE FROM meta WHERE key = 'page_limit'")
            if pages is not None:
                total = str(pages + self.fetched())
                self.db.execute("INSERT INTO meta VALUES ('page_limit', ?)", (total,))

    @patient
    def page_limit_reached(self) -> bool:
        """Whether nothing more may be fetched."""
        return self._page_limit() is not None and self._page_allowance() <= 0

    def fetched(self) -> int:
        """Pages requested since the crawl began."""
        before = self.db.execute("SELECT value FROM meta WHERE key = 'fetched_before'")
        now: int = self.db.execute("SELECT COALESCE(SUM(fetched), 0) FROM workers")[0][0]
        return now + (int(before[0][0]) if before else 0)

    def _expire(self, now: float) -> None:
        if leases.expired(self.db, now):
            with self.db.transaction():
                for worker in leases.expired(self.db, now, lock=True):
                    leases.retire(self.db, worker, now, self._politeness)

    def _page_limit(self) -> int | None:
        row = self.db.execute("SELECT value FROM meta WHERE key = 'page_limit'")
        return int(row[0][0]) if row else None

    def _page_allowance(self) -> int:
        limit = self._page_limit()
        if limit is None:
            return self._budgets.batch
        reserved: int = self.db.execute("SELECT COALESCE(SUM(reserved), 0) FROM workers")[0][0]
        return limit - self.fetched() - reserved

    def _reserve(self, worker: str, urls: int) -> None:
        if urls:
            self.db.execute("UPDATE workers SET reserved = reserved + ? WHERE id = ?", (urls, worker))

    def _count(self, worker: str, batch: Batch) -> None:
        fetched = sum(visit.fetched and visit.requested for visit in batch.visits)
        self.db.execute("UPDATE workers SET fetched = fetched + ? WHERE id = ?", (fetched, worker))
        self._unreserve(worker, len(batch.visits))

    def _unreserve(self, worker: str, urls: int) -> None:
        self.db.execute(
            "UPDATE workers SET reserved = CASE WHEN reserved > ? THEN reserved - ? ELSE 0 END WHERE id = ?",
            (urls, urls, worker),
        )
