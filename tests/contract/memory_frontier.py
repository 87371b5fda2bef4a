"""The frontier as a few dictionaries: slow, forgetful, and plain enough to be believed.

The contract suite runs the same calls against this and against the SQL frontier
and compares every answer.
"""

from __future__ import annotations

import copy
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

import msgspec

from gossamer.dedup.clusters import Member, choose
from gossamer.dedup.near.contract import NearMethod, unlike
from gossamer.errors import LeaseLost, UsageError
from gossamer.frontier import politeness
from gossamer.frontier.contract import (
    Added,
    Batch,
    Budgets,
    Lease,
    Place,
    SiteReport,
    Verdict,
    Visit,
    WritePages,
)  # fmt: skip
from gossamer.frontier.copies.copying import LOWERINGS, is_trap, lowered_by
from gossamer.frontier.copies.duplicates import loop_of, loop_reason
from gossamer.frontier.politeness import PolitenessConfig, SiteClock
from gossamer.model.outcome import Outcome
from gossamer.model.records import LEVELS, Discovered, Kind, Task, Via
from gossamer.model.site import host_of, key64, registrable_domain, site_of
from gossamer.priority.levels import levels_of
from gossamer.priority.product import Product


class _Url(msgspec.Struct):
    found: Discovered
    level: int = 0
    state: str = "queued"
    seq: int = 0
    attempts: int = 0
    due_at: float | None = None
    outcome: Outcome | None = None
    target: str = ""
    etag: str = ""
    last_modified: str = ""
    content_hash: str = ""
    lowered: int = 0
    cluster: int | None = None
    joined: bool | None = None
    keep_alias: bool = False


class _Site(msgspec.Struct):
    clock: SiteClock = SiteClock()
    address: str = ""
    owner: str | None = None
    token: int = 0
    known: int = 0
    refused: int = 0
    ready_at: float | None = None
    next_seq: int = 1
    paused: bool = False
    most_pages: int = 0
    fetched: int = 0

    @property
    def left(self) -> int:
        """Requests until the operator's limit."""
        return self.most_pages - self.fetched if self.most_pages else sys.maxsize


class _Cluster(msgspec.Struct):
    fingerprint: bytes
    near_keys: frozenset[int]
    representative: str
    members: dict[str, tuple[str, float]] = {}
    """URL → publication date, time at which it joined."""


class MemoryFrontier:
    """The reference for the contract suite."""

    def __init__(
        self, budgets: Budgets, config: PolitenessConfig, shape_of: Callable[[str], str], near: NearMethod,
        strategy: Product,
    ) -> None:  # fmt: skip
        """`strategy` goes by URLs alone; nothing is visited again by itself."""
        self._strategy = strategy
        self._budgets, self._config, self._shape_of, self._near = budgets, config, shape_of, near
        self._clusters: dict[int, _Cluster] = {}
        self._next_cluster = 1
        self._waiting: dict[str, bytes] = {}
        self._near_copies: Counter[tuple[str, str]] = Counter()
        self._urls: dict[str, _Url] = {}
        self._sites: dict[str, _Site] = {}
        self._workers: dict[str, float] = {}
        self._addresses: dict[str, tuple[str | None, float]] = {}
        self._texts: dict[tuple[str, str], str] = {}
        self._copies: Counter[tuple[str, str]] = Counter()
        self._documents: Counter[tuple[str, str]] = Counter()
        self._paused = False

    # -- intake -------------------------------------------------------------------------------

    def add(self, found: Sequence[Discovered], now: float) -> Added:
        """Queue what is new; remember what was refused."""
        items: dict[str, Discovered] = {}
        for item in found:
            if item.url in items and items[item.url].refusal is not None and item.refusal is None:
                del items[item.url]  # the place of a URL is that of its first sighting that is not refused
            items.setdefault(item.url, item)
        added = Added(known=len(found) - len(items))
        for item in sorted(items.values(), key=lambda item: key64(site_of(item.url))):
            self._add(item, now, added)
        return added

    def _add(self, item: Discovered, now: float, added: Added) -> None:
        row = self._urls.get(item.url)
        if row is not None and (row.state != "refused" or row.outcome is Outcome.ROBOTS_DENIED or item.refusal):
            added.known += 1
            return
        name = site_of(item.url)
        if name not in self._sites and len(self._sites) >= self._budgets.sites:
            added.refused += 1
            return
        site = self._sites.setdefault(name, _Site())
        visited = row is not None and row.outcome is not None
        if not visited and self._refuses(site, item):
            self._refuse(site, item, row, added)
            return
        added.new += 1
        if not visited:
            site.known += 1
            site.refused -= row is not None
        row = row or _Url(item)
        level = (
            0
            if item.kind is not Kind.PAGE or item.via is Via.SEED
            else int(levels_of(self._strategy.scores([item]))[0])
        )
        self._urls[item.url] = row = msgspec.structs.replace(row, found=item, level=level, lowered=0)
        if not visited:
            self._lower(row, self._lowered(item.url))
        self._enqueue(site, self._urls[item.url], now)

    def _refuse(self, site: _Site, item: Discovered, row: _Url | None, added: Added) -> None:
        if row is not None:
            added.known += 1
            return
        added.refused += 1
        site.refused += 1
        if site.refused <= self._budgets.refused_per_site:
            self._urls[item.url] = _Url(item, state="refused")

    def _refuses(self, site: _Site, item: Discovered) -> bool:
        if item.refusal is not None or site.known >= self._budgets.pages_per_site:
            return True
        shape = self._shape_of(item.url)
        mine = [url for url, row in self._rows(site_of(item.url)) if row.state != "refused" or row.outcome]
        if sum(self._shape_of(url) == shape for url in mine) >= self._budgets.similar_paths:
            return True
        place = (site_of(item.url), shape)
        return is_trap(self._copies[place], self._documents[place], self._budgets)

    def _rows(self, site: str) -> list[tuple[str, _Url]]:
        return [(url, row) for url, row in self._urls.items() if site_of(url) == site]

    def _enqueue(self, site: _Site, row: _Url, now: float) -> None:
        row.state, row.due_at = "queued", None
        row.seq, site.next_seq = site.next_seq, site.next_seq + 1
        ready = max(now, site.clock.not_before)
        site.ready_at = ready if site.ready_at is None else min(site.ready_at, ready)

    # -- leases -------------------------------------------------------------------------------

    def register(self, worker: str, now: float) -> None:
        """Enter a worker; what an earlier one of that name held is free."""
        self.retire(worker, now)
        self._workers[worker] = now + self._budgets.lease

    def renew(self, worker: str, now: float) -> None:
        """A sign of life."""
        self._check_alive(worker)
        self._workers[worker] = now + self._budgets.lease

    def take(self, worker: str, now: float, sites: int, urls: int) -> list[Lease]:
        """Lease ready sites, with their first URLs."""
        self._expire(now)
        free = [
            (site.ready_at, key64(name), name)
            for name, site in self._sites.items()
            if site.owner is None and site.ready_at is not None and site.ready_at <= now
            and self._addresses.get(site.address, (None, 0.0))[0] in (None, worker)
            and self._may_be_asked(site)
        ]  # fmt: skip
        if not free or sites <= 0 or urls <= 0:
            return []
        self.renew(worker, now)
        leases: list[Lease] = []
        urls = min(urls, self._budgets.batch)
        for _, _, name in sorted(free)[:sites]:
            if urls <= 0:
                break
            site = self._sites[name]
            site.owner, site.token = worker, site.token + 1
            clock = politeness.believable(site.clock, now, self._config)
            tasks = self._tasks(name, (), now, min(self._budgets.per_site, urls, site.left))
            urls -= len(tasks)
            if tasks:
                leases.append(Lease(Place(name), site.token, clock, site.address, tasks))
            else:
                self._free(name, now)
        return leases

    def refill(
        self, worker: str, place: Place, holding: Collection[int], now: float, urls: int, returned: int = 0
    ) -> list[Task]:
        """More URLs of a leased site."""
        site = place.site
        if site not in self._sites or self._sites[site].owner != worker:
            raise LeaseLost(f"{site} has another worker now")
        if self._paused or self._sites[site].paused:
            return []
        left = self._sites[site].left - len(holding)
        return self._tasks(site, holding, now, min(urls, self._budgets.per_site, left)) if left > 0 else []

    def _tasks(self, site: str, holding: Collection[int], now: float, urls: int) -> list[Task]:
        rows = [row for _, row in self._rows(site)]
        due = [row for row in rows if row.state == "scheduled" and row.due_at is not None and row.due_at <= now]
        for row in sorted(due, key=lambda row: (row.due_at, key64(row.found.url))):
            self._enqueue(self._sites[site], row, now)
        for _ in range(LOWERINGS):
            tasks = self._best(rows, holding, urls)
            late = [task for task in tasks if not task.lowered and not task.previous and self._lowered(task.url)]
            if not late:
                break
            for task in late:
                self._lower(self._urls[task.url], self._lowered(task.url))
                self._enqueue(self._sites[site], self._urls[task.url], now)
        return self._best(rows, holding, urls)

    def _best(self, rows: Sequence[_Url], holding: Collection[int], urls: int) -> list[Task]:
        queued = sorted((r for r in rows if r.state == "queued"), key=lambda r: (r.level, r.seq))
        return [task for task in map(_task, queued) if task.key not in holding][: max(urls, 0)]

    def _lowered(self, url: str) -> int:
        place = (site_of(url), self._shape_of(url))
        return lowered_by(self._copies[place], self._documents[place], self._near_copies[place])

    def _lower(self, row: _Url, by: int) -> None:
        row.lowered, row.level = by, min(row.level + by, LEVELS - 1)

    def hold_address(self, worker: str, site: str, address: str, now: float) -> float | None:
        """Become the only worker that talks to an address, if it is free."""
        self._expire(now)
        self._check_alive(worker)
        self._sites[site].address = address
        owner, not_before = self._addresses.get(address, (None, 0.0))
        if owner not in (None, worker):
            return None
        self._addresses[address] = (worker, not_before)
        return not_before

    def release(
        self, worker: str, sites: Sequence[SiteReport], addresses: Sequence[tuple[str, float]], now: float
    ) -> None:
        """Give sites and addresses back in good order."""
        self._check_leases(worker, sites)
        self._set_clocks(sites, addresses)
        for site in sites:
            self._free(site.site, now)
        for address, _ in addresses:
            owner, not_before = self._addresses.get(address, (None, 0.0))
            if owner == worker:
                self._addresses[address] = (None, not_before)

    def _free(self, name: str, now: float) -> None:
        site = self._sites[name]
        rows = [row for _, row in self._rows(name)]
        due = [row.due_at for row in rows if row.state == "scheduled" and row.due_at is not None]
        ready = now if any(row.state == "queued" for row in rows) else min(due, default=None)
        site.owner = None
        site.ready_at = None if ready is None else max(ready, site.clock.not_before)

    def retire(self, worker: str, now: float) -> None:
        """The worker is gone: its sites are free, and count as asked now."""
        for name, site in self._sites.items():
            if site.owner == worker:
                site.clock = politeness.taken_over(site.clock, now, self._config)
                self._free(name, now)
        for address, (owner, not_before) in self._addresses.items():
            if owner == worker:
                self._addresses[address] = (None, max(not_before, now + self._config.address_delay))
        self._workers.pop(worker, None)

    def block_until(self, site: str, until: float, reason: str) -> None:
        """Nobody asks the site before `until`."""
        row = self._sites.get(site)
        if row is None or row.clock.not_before >= until:
            return
        row.clock = msgspec.structs.replace(row.clock, not_before=until, reason=reason)
        if row.owner is None and row.ready_at is not None:
            row.ready_at = max(row.ready_at, until)

    # -- what an operator says ----------------------------------------------------------------

    def pause_site(self, site: str, reason: str, now: float) -> None:
        """No URL of the site is handed out until it is resumed."""
        self._known(site).paused = True

    def resume_site(self, site: str, now: float) -> None:
        """The site goes on where it stopped."""
        self._known(site).paused = False

    def limit_site(self, site: str, least_delay: float, most_pages: int, now: float) -> None:
        """Ask a site more slowly, or only so often in all."""
        row = self._known(site)
        row.most_pages = most_pages
        until = now + least_delay if least_delay else 0.0
        later = max(row.clock.not_before, until)
        row.clock = msgspec.structs.replace(row.clock, least_delay=least_delay, not_before=later)
        if row.owner is None and row.ready_at is not None:
            row.ready_at = max(row.ready_at, until)

    def pause_crawl(self, reason: str, now: float) -> None:
        """No URL is handed out until the crawl is resumed."""
        self._paused = True

    def resume_crawl(self, now: float) -> None:
        """The crawl goes on."""
        self._paused = False

    def _known(self, site: str) -> _Site:
        if site not in self._sites:
            raise UsageError(f"this crawl knows no site {site!r}")
        return self._sites[site]

    def _may_be_asked(self, site: _Site) -> bool:
        return not self._paused and not site.paused and site.left > 0

    def _expire(self, now: float) -> None:
        for worker in sorted(w for w, expires in self._workers.items() if expires < now):
            self.retire(worker, now)

    def _check_alive(self, worker: str) -> None:
        if worker not in self._workers:
            raise LeaseLost(f"worker {worker} was silent too long")

    def _check_leases(self, worker: str, sites: Sequence[SiteReport]) -> None:
        for site in sites:
            row = self._sites.get(site.site)
            if row is None or row.owner != worker or row.token != site.token:
                raise LeaseLost(f"{site.site} has another worker now")

    # -- reports ------------------------------------------------------------------------------

    def report(self, worker: str, batch: Batch, now: float, write_pages: WritePages | None = None) -> list[Verdict]:
        """Record a batch, or put everything back as it was."""
        before = copy.deepcopy(
            (
                self._urls, self._sites, self._workers, self._addresses, self._texts, self._clusters,
                self._next_cluster, self._waiting,
            )
        )  # fmt: skip
        try:
            return self._report(worker, batch, now, write_pages)
        except BaseException:
            (
                self._urls, self._sites, self._workers, self._addresses, self._texts, self._clusters,
                self._next_cluster, self._waiting,
            ) = before  # fmt: skip
            raise

    def _report(self, worker: str, batch: Batch, now: float, write_pages: WritePages | None) -> list[Verdict]:
        self.renew(worker, now)
        self._check_leases(worker, batch.sites)
        if not {visit.site for visit in batch.visits} <= {site.site for site in batch.sites}:
            raise LeaseLost("a visit was reported without the lease of its site")
        self.add(batch.found, now)
        verdicts = self._judge(batch.visits)
        self._cluster(batch.visits, verdicts)
        if write_pages is not None:
            write_pages(verdicts)
        judged = list(zip(batch.visits, verdicts, strict=True))
        for visit, verdict in judged:
            self._record(visit, verdict)
            self._sites[visit.site].fetched += visit.fetched
        self._clusters = {number: cluster for number, cluster in self._clusters.items() if cluster.members}
        for visit, verdict in judged:
            self._wake(visit, verdict, now)
            self._count(visit, verdict)
        self._wake_strangers(batch.visits, verdicts, now)
        self._set_clocks(batch.sites, batch.addresses)
        return verdicts

    def _count(self, visit: Visit, verdict: Verdict) -> None:
        place = (visit.site, self._shape_of(visit.task.url))
        if not visit.task.previous and verdict.outcome.meaning.copy:
            self._copies[place] += 1
        elif not visit.task.previous and verdict.outcome is Outcome.DOCUMENT:
            self._documents[place] += 1
            self._near_copies[place] += verdict.is_copy

    def foresee(self, visits: Sequence[Visit]) -> list[bool]:
        """A guess that the contract allows: nobody is a copy."""
        return [False for _ in visits]

    def _judge(self, visits: Sequence[Visit]) -> list[Verdict]:
        verdicts: list[Verdict] = []
        joined: dict[str, str] = {}
        for visit in visits:
            if visit.task.previous == "alias" and visit.retry_at is None:
                self._waiting.pop(visit.task.url, None)
        redirects = {visit.task.url: visit.target for visit in visits if visit.outcome is Outcome.REDIRECT}
        for visit in visits:
            verdict = Verdict(visit.outcome, visit.target)
            joins = visit.outcome is Outcome.DOCUMENT and visit.canonical and not visit.task.keep_alias
            if visit.outcome is Outcome.REDIRECT and (loop := self._redirect_loop(visit, redirects)):
                visit.reason, verdict = loop_reason(loop), Verdict(Outcome.BAD_REDIRECT)
            elif joins and self._canonical_counts(visit, joined, visits):
                verdict = Verdict(Outcome.ALIAS, visit.canonical)
            if verdict.outcome.meaning.joined:
                joined[visit.task.url] = verdict.target
            verdicts.append(verdict)
        judged = list(zip(visits, verdicts, strict=True))
        for visit, verdict in judged:
            place = (_area(visit.site, visit.task.content_hash), visit.task.content_hash)
            if _lost_text(visit, verdict) and self._texts.get(place) == visit.task.url:
                del self._texts[place]
        for visit, verdict in sorted(judged, key=lambda one: one[0].at):
            if verdict.outcome is Outcome.DOCUMENT and visit.content_hash:
                area = _area(visit.site, visit.content_hash)
                owner = self._texts.setdefault((area, visit.content_hash), visit.task.url)
                if owner != visit.task.url:
                    verdict.outcome, verdict.target = Outcome.DUPLICATE, owner
        return verdicts

    def _cluster(self, visits: Sequence[Visit], verdicts: Sequence[Verdict]) -> None:
        """Documents join the cluster whose founder they are most like, or found one."""
        for visit, verdict in sorted(zip(visits, verdicts, strict=True), key=lambda one: one[0].at):
            if verdict.outcome is not Outcome.DOCUMENT:
                continue
            before = self._urls[visit.task.url].cluster
            if before is not None and visit.content_hash == visit.task.content_hash:
                verdict.cluster, verdict.joined = before, self._urls[visit.task.url].joined
            elif visit.fingerprint:
                verdict.cluster = self._most_alike(visit, before)
                cluster = self._clusters[verdict.cluster]
                stays = verdict.cluster == before
                verdict.joined = self._urls[visit.task.url].joined if stays else bool(cluster.members)
                if verdict.cluster != before and cluster.members:
                    verdict.is_copy = site_of(cluster.representative) == visit.site
                if visit.task.url not in cluster.members:
                    cluster.members[visit.task.url] = (visit.published, visit.at)
                    cluster.representative = self._choose(cluster, {cluster.representative, visit.task.url})

    def _most_alike(self, visit: Visit, before: int | None) -> int:
        found = []
        for number, cluster in self._clusters.items():
            likeness = self._near.similarity(visit.fingerprint, cluster.fingerprint)
            if not cluster.near_keys.isdisjoint(visit.near_keys) and likeness >= self._near.threshold:
                found.append((number != before, -likeness, number))
        if found:
            return min(found)[2]
        number, self._next_cluster = self._next_cluster, self._next_cluster + 1
        self._clusters[number] = _Cluster(visit.fingerprint, frozenset(visit.near_keys), visit.task.url)
        return number

    def _choose(self, cluster: _Cluster, urls: Collection[str]) -> str:
        members = []
        for url in urls:
            naming = [row for row in self._urls.values() if row.outcome is Outcome.ALIAS and row.target == url]
            published, seen_at = cluster.members[url]
            members.append(Member(url, seen_at, len(naming), published))
        return choose(members).member.url

    def _leave(self, number: int, url: str) -> None:
        cluster = self._clusters[number]
        cluster.members.pop(url, None)
        if cluster.members and cluster.representative == url:
            cluster.representative = self._choose(cluster, cluster.members)

    def _stands(self, target: str, page: str) -> bool:
        return bool(self._end(target, page, {}))

    def _end(self, target: str, page: str, joined: dict[str, str]) -> str:
        """The page at which following `target` ends, if it can stand for `page`."""
        for _ in range(5):
            row = self._urls.get(target)
            if target == page or row is None:
                return ""
            if target in joined:
                target = joined[target]
            elif row.state == "refused" or (row.outcome is not None and not row.outcome.meaning.leads_on):
                return ""
            elif row.outcome is None or not row.outcome.meaning.joined:
                return target
            else:
                target = row.target
        return ""

    def _canonical_counts(self, visit: Visit, joined: dict[str, str], visits: Sequence[Visit]) -> bool:
        """Whether a canonical link leads to a page that may have the text; if nobody knows yet, the page waits."""
        end = self._end(visit.canonical, visit.task.url, joined)
        if not end:
            return False
        row = self._urls[end]
        now = next((v for v in visits if v.task.url == end and v.outcome is Outcome.DOCUMENT), None)
        if now is None and row.outcome is not Outcome.DOCUMENT:
            if visit.fingerprint:
                self._waiting[visit.task.url] = visit.fingerprint
            return True
        cluster = self._clusters.get(row.cluster) if row.cluster is not None else None
        theirs = now.fingerprint if now else cluster.fingerprint if cluster else b""
        if visit.content_hash and visit.content_hash == (now.content_hash if now else row.content_hash):
            return True
        return not unlike(self._near, visit.fingerprint, theirs) if theirs else True

    def _wake_strangers(self, visits: Sequence[Visit], verdicts: Sequence[Verdict], now: float) -> None:
        """Queue pages again that waited for one of these and have another text."""
        found = {}
        for visit, verdict in zip(visits, verdicts, strict=True):
            if verdict.outcome in (Outcome.DOCUMENT, Outcome.DUPLICATE) and visit.task.previous != "document":
                for url in self._naming(visit.task.url, 5):
                    theirs = self._waiting.pop(url, b"")
                    if theirs and (not visit.fingerprint or unlike(self._near, theirs, visit.fingerprint)):
                        found[url] = self._urls[url]
        for url in sorted(found, key=lambda u: (key64(site_of(u)), key64(u))):
            found[url].target = ""
            self._enqueue(self._sites[site_of(url)], found[url], now)

    def _naming(self, target: str, steps: int) -> Iterator[str]:
        """Finished aliases of a page, also through redirects."""
        for url, row in self._urls.items() if steps else ():
            if row.target == target and row.outcome is Outcome.ALIAS and row.state == "done":
                yield url
            elif row.target == target and row.outcome is Outcome.REDIRECT:
                yield from self._naming(url, steps - 1)

    def _redirect_loop(self, visit: Visit, redirects: dict[str, str]) -> list[str]:
        def following(url: str) -> str | None:
            row = self._urls.get(url)
            return redirects.get(url) or (row.target if row and row.outcome is Outcome.REDIRECT else None)

        return loop_of(visit.task.url, visit.target, following)

    def _record(self, visit: Visit, verdict: Verdict) -> None:
        row = self._urls[visit.task.url]
        row.due_at = visit.retry_at
        if visit.retry_at is not None:
            row.state, row.attempts = "scheduled", row.attempts + 1
        else:
            row.state, row.attempts = "refused" if verdict.outcome.meaning.refusal else "done", 0
        if _unchanged(visit, verdict):
            return
        row.outcome, row.target = verdict.outcome, verdict.target
        target = self._urls.get(verdict.target)
        if target is not None and visit.task.depth == 0 and verdict.outcome.meaning.named:
            target.found = msgspec.structs.replace(target.found, depth=0)
        if row.cluster is not None and row.cluster != verdict.cluster:
            self._leave(row.cluster, visit.task.url)
        row.cluster, row.joined = verdict.cluster, verdict.joined
        read = verdict.outcome.meaning.validated and visit.retry_at is None
        row.etag, row.last_modified = (visit.etag, visit.last_modified) if read else ("", "")
        row.content_hash = visit.content_hash if read and verdict.outcome is Outcome.DOCUMENT else ""
        row.keep_alias = row.keep_alias and visit.retry_at is not None

    def _wake(self, visit: Visit, verdict: Verdict, now: float) -> None:
        if visit.retry_at is not None or _unchanged(visit, verdict):
            return
        url = visit.task.url
        if verdict.outcome is Outcome.REDIRECT and not self._stands(verdict.target, url):
            self._wake_joined(url, Outcome.ALIAS, now, set())
        if not verdict.outcome.meaning.leads_on:
            self._wake_joined(url, Outcome.ALIAS, now, set())
        if _lost_text(visit, verdict):
            self._wake_joined(url, Outcome.DUPLICATE, now, set())

    def _wake_joined(self, target: str, outcome: Outcome, now: float, walked: set[str]) -> None:
        """Queue again what leans on a page by this outcome, also by way of redirects to it."""
        walked.add(target)
        joined = [u for u, row in self._urls.items() if row.target == target and u not in walked]
        for url in sorted(joined, key=lambda u: (key64(site_of(u)), key64(u))):
            row = self._urls[url]
            if row.outcome is outcome and row.state == "done":
                row.target, row.keep_alias = "", row.keep_alias or outcome is Outcome.ALIAS
                self._enqueue(self._sites[site_of(url)], row, now)
            elif row.outcome is Outcome.REDIRECT and outcome is Outcome.ALIAS:
                self._wake_joined(url, outcome, now, walked)

    def _set_clocks(self, sites: Sequence[SiteReport], addresses: Sequence[tuple[str, float]]) -> None:
        for site in sites:
            row = self._sites[site.site]
            later = row.clock.not_before > site.clock.not_before
            kept = row.clock if later else site.clock
            row.clock = SiteClock(
                site.clock.crawl_delay, site.clock.trouble, kept.not_before, kept.reason, row.clock.least_delay
            )  # fmt: skip
            row.address = site.address or row.address
        for address, not_before in addresses:
            if address in self._addresses:
                owner, before = self._addresses[address]
                self._addresses[address] = (owner, max(before, not_before))


def _task(row: _Url) -> Task:
    found = row.found
    return Task(
        found.url, key64(found.url), found.kind, row.level, row.seq, found.depth, found.hops, row.attempts,
        row.keep_alias, row.etag, row.last_modified, row.content_hash, row.outcome.value if row.outcome else "",
        row.lowered,
    )  # fmt: skip


def _area(site: str, content_hash: str) -> str:
    """Within which no two documents have this hash: the registrable domain, or the site for a page without a text."""
    return f"site {site}" if content_hash.startswith("page-") else registrable_domain(host_of(site))


def _unchanged(visit: Visit, verdict: Verdict) -> bool:
    """Whether the URL stays what it was: an unchanged page, or one that is tried again soon."""
    before = Outcome(visit.task.previous) if visit.task.previous else None
    if verdict.outcome is Outcome.NOT_MODIFIED:
        return before is not None and before.meaning.validated
    return visit.retry_at is not None and before is not None and not before.meaning.retry


def _lost_text(visit: Visit, verdict: Verdict) -> bool:
    """Whether a page that was a document is so no longer with the same text."""
    if visit.task.previous != "document" and not visit.task.content_hash:
        return False
    if verdict.outcome is Outcome.NOT_MODIFIED or visit.retry_at is not None:
        return False
    return verdict.outcome is not Outcome.DOCUMENT or visit.content_hash != visit.task.content_hash
