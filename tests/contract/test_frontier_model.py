"""Random lives of a crawl, lived by both frontiers at once: every answer must be the same.

Beside the answers, the whole state is compared after every step, and the SQL frontier's
kept numbers (queue by level, URLs by outcome and shape) with what counting gives.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import msgspec
import pytest
from frontier_kit import DELAY, LEASE, NO, NOW, POLITENESS, dump, make_memory, page, prints, shape_of, sql_on
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from memory_frontier import MemoryFrontier

from gossamer.database.database import open_database
from gossamer.database.schema import STATE_NAMES
from gossamer.errors import LeaseLost, UsageError
from gossamer.frontier import politeness
from gossamer.frontier.contract import Batch, Budgets, Lease, Place, SiteReport, Verdict, Visit, WritePages
from gossamer.frontier.politeness import SiteClock
from gossamer.frontier.recording import requeue
from gossamer.frontier.sql import SqlFrontier
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered, Task
from gossamer.model.site import key64, site_of
from gossamer.scope.statistics import prefix_of

SITES = ["a.one.org", "b.one.org", "two.org", "three.org"]
PATHS = ["/", "/1", "/2", "/3", "/4", "/x1"]
URLS = [f"https://{site}{path}" for site in SITES for path in PATHS]
BUDGETS = Budgets(
    batch=6, per_site=3, pages_per_site=5, sites=3, similar_paths=3, refused_per_site=2, copies=2, lease=LEASE
)

workers = st.sampled_from(["w1", "w2"])
sites = st.sampled_from(SITES)
urls = st.sampled_from(URLS)
addresses = st.sampled_from(["10.0.0.1", "10.0.0.2"])
found = st.lists(
    st.builds(
        Discovered,
        url=urls,
        depth=st.integers(0, 3),
        refusal=st.sampled_from([None, None, None, NO]),
    ),
    max_size=6,
)
outcomes = st.sampled_from(
    [Outcome.DOCUMENT] * 6
    + [Outcome.NOT_MODIFIED, Outcome.NOINDEX, Outcome.RESOURCE, Outcome.REDIRECT, Outcome.REDIRECT]
    + [Outcome.GONE, Outcome.TIMEOUT, Outcome.TIMEOUT, Outcome.ROBOTS_DENIED, Outcome.REFUSED]
)
what = st.fixed_dictionaries(
    {
        "outcome": outcomes,
        "content_hash": st.sampled_from(["", "t1", "t1b", "t2", "t3"]),
        "published": st.sampled_from(["", "2023-01-01", "2023-02-02"]),
        "canonical": st.sampled_from(["", "", *URLS]),
        "target": urls,
        "etag": st.sampled_from(["", "e1"]),
        "retry": st.sampled_from([None, 0.0, 5.0, 90.0]),
        "ago": st.sampled_from([0.0, 1.0]),
    }
)


class Failure(Exception):  # noqa: N818 - it is what the disk does
    """The disk is full."""


def plain(answer: Any) -> Any:
    """An answer without what the reference does not learn: how often pages change."""
    if isinstance(answer, list):
        return [plain(item) for item in answer]
    if isinstance(answer, Lease):
        return msgspec.structs.replace(answer, tasks=plain(answer.tasks))
    if isinstance(answer, Task):
        return msgspec.structs.replace(answer, checked_at=0.0, change=(0.0, 0.0), bucket=None)
    return answer


class BothFrontiers(RuleBasedStateMachine):
    """Performs each call on both."""

    def __init__(self) -> None:
        super().__init__()
        self.exit = contextlib.ExitStack()
        folder = self.exit.enter_context(tempfile.TemporaryDirectory())
        self.db = open_database(Path(folder) / "frontier.db")
        self.exit.callback(self.db.close)
        self.sql: SqlFrontier = sql_on(self.db, BUDGETS)
        self.memory: MemoryFrontier = make_memory(Path(folder), BUDGETS)
        self.now = NOW
        self.segments = 0
        self.leases: dict[tuple[str, str], Lease] = {}
        self.held: dict[tuple[str, str], dict[int, Task]] = {}

    def teardown(self) -> None:
        self.exit.close()

    def both(self, method: str, *args: Any, **more: Any) -> Any:
        """Call both, compare, return the answer; both may lose the lease."""
        answers: list[Any] = []
        for frontier in (self.memory, self.sql):
            try:
                answers.append(getattr(frontier, method)(*args, **more))
            except (LeaseLost, Failure, UsageError) as error:
                answers.append(type(error))
        assert plain(answers[1]) == plain(answers[0]), f"{method}: the SQL frontier differs from the reference"
        return answers[1]

    # -- rules --------------------------------------------------------------------------------

    @initialize(items=found)
    def begin(self, items: list[Discovered]) -> None:
        self.both("register", "w1", self.now)
        self.both("register", "w2", self.now)
        self.both("add", [*items, page(URLS[0]), page(URLS[5])], self.now)

    @rule(items=found)
    def add(self, items: list[Discovered]) -> None:
        self.both("add", items, self.now)

    @rule(worker=workers, sites=st.integers(0, 3), urls=st.integers(0, 8))
    def take(self, worker: str, sites: int, urls: int) -> None:
        taken = self.both("take", worker, self.now, sites, urls)
        if taken is LeaseLost:
            self.both("register", worker, self.now)
            return
        for lease in taken:
            self.leases[worker, lease.site] = lease
            self.held[worker, lease.site] = {task.key: task for task in lease.tasks}

    @rule(worker=workers, data=st.data(), items=found)
    def work(self, worker: str, data: st.DataObject, items: list[Discovered]) -> None:
        """Report some of what is held, after a look for more."""
        self.take(worker, 3, 8)
        self._report(worker, data, items, None)

    @rule(worker=workers, data=st.data(), items=found)
    def work_after_a_pause(self, worker: str, data: st.DataObject, items: list[Discovered]) -> None:
        self.now += DELAY
        self.work(worker, data, items)

    @rule(worker=workers, data=st.data(), items=found)
    def report(self, worker: str, data: st.DataObject, items: list[Discovered]) -> None:
        """Report what is held, perhaps too late."""
        self._report(worker, data, items, None)

    @rule(worker=workers, data=st.data(), items=found)
    def fail_to_write(self, worker: str, data: st.DataObject, items: list[Discovered]) -> None:
        """The segment cannot be written: nothing of the report counts."""

        def fail(verdicts: list[Verdict]) -> None:
            raise Failure

        self._report(worker, data, items, fail)

    @rule(site=sites)
    def recrawl(self, site: str) -> None:
        """The finished pages of a site are to be fetched again."""
        done = [row for url, row in self.memory._urls.items() if site_of(url) == site and row.state == "done"]
        for row in done:
            self.memory._enqueue(self.memory._sites[site], row, self.now)
        with self.db.transaction():
            requeue(self.db, key64(site), [key64(row.found.url) for row in done], self.now)

    @rule(worker=workers, site=sites, urls=st.integers(0, 4))
    def refill(self, worker: str, site: str, urls: int) -> None:
        held = self.held.get((worker, site), {})
        more = self.both("refill", worker, Place(site), list(held), self.now, urls)
        if isinstance(more, list) and (worker, site) in self.held:
            held.update((task.key, task) for task in more)

    @rule(worker=workers, site=sites)
    def release(self, worker: str, site: str) -> None:
        if (worker, site) in self.leases:
            self.both("release", worker, [self._site_report(worker, site)], [], self.now)
            del self.leases[worker, site], self.held[worker, site]

    @rule(worker=workers, again=st.booleans())
    def die(self, worker: str, again: bool) -> None:
        """A worker ends; what it had in its hands is what late reports are made of."""
        self.both("retire", worker, self.now)
        if again:
            self.both("register", worker, self.now)

    @rule(worker=workers, site=sites, address=addresses)
    def hold_address(self, worker: str, site: str, address: str) -> None:
        if (worker, site) in self.leases:
            self.both("hold_address", worker, site, address, self.now)

    @rule(worker=workers, address=addresses, seconds=st.sampled_from([0.0, 3.0, 30.0]))
    def release_address(self, worker: str, address: str, seconds: float) -> None:
        self.both("release", worker, [], [(address, self.now + seconds)], self.now)

    @rule(site=sites, seconds=st.sampled_from([-5.0, 10.0, 100.0]))
    def block(self, site: str, seconds: float) -> None:
        self.both("block_until", site, self.now + seconds, "blocked")

    @rule(site=sites, begin=st.booleans())
    def pause_or_resume(self, site: str, begin: bool) -> None:
        if begin:
            self.both("pause_site", site, "maintenance", self.now)
        else:
            self.both("resume_site", site, self.now)

    @rule(seconds=st.sampled_from([0.0, DELAY]), worker=workers)
    def pause_the_crawl_for_a_while(self, seconds: float, worker: str) -> None:
        self.both("pause_crawl", "maintenance", self.now)
        self.now += seconds
        self.take(worker, 3, 8)
        self.both("resume_crawl", self.now)

    @rule(site=sites, delay=st.sampled_from([0.0, 3.0, 20.0]), pages=st.sampled_from([0, 0, 1, 5]))
    def limit(self, site: str, delay: float, pages: int) -> None:
        self.both("limit_site", site, delay, pages, self.now)

    @rule(worker=workers, seconds=st.sampled_from([0.5, DELAY, 7.0, LEASE - 1]))
    def wait(self, worker: str, seconds: float) -> None:
        self.now += seconds
        self.both("renew", worker, self.now)

    @rule(seconds=st.sampled_from([LEASE + 1, 500.0]))
    def long_silence(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def restart(self) -> None:
        """Another process opens the database: nothing it has to know was in memory."""
        self.sql = sql_on(self.db, BUDGETS)

    # -- help ---------------------------------------------------------------------------------

    def _report(self, worker: str, data: st.DataObject, items: list[Discovered], write: WritePages | None) -> None:
        tasks = [(site, task) for (name, site), held in self.held.items() if name == worker for task in held.values()]
        chosen = data.draw(st.lists(st.sampled_from(tasks), unique=True, min_size=1, max_size=4)) if tasks else []
        visits = [self._visit(site, task, data.draw(what)) for site, task in chosen]
        reports = [self._site_report(worker, site) for site in {visit.site: 0 for visit in visits}]
        canonical = [page(visit.canonical) for visit in visits if visit.canonical]
        self.segments += 1
        batch = Batch(f"s{self.segments}", visits, [*items, *canonical], sites=reports)
        verdicts = self.both("report", worker, batch, self.now, write)
        if verdicts is LeaseLost:
            self._drop(worker)
            self.both("register", worker, self.now)
        elif verdicts is not Failure:
            for site, task in chosen:
                del self.held[worker, site][task.key]

    def _visit(self, site: str, task: Task, what: dict[str, Any]) -> Visit:
        outcome: Outcome = what["outcome"]
        retry_at = self.now + what["retry"] if outcome.meaning.retry and what["retry"] is not None else None
        return Visit(
            Place(site), task, outcome, self.now - what["ago"], etag=what["etag"],
            canonical=what["canonical"], retry_at=retry_at,
            content_hash=what["content_hash"] if outcome is Outcome.DOCUMENT else "",
            target=what["target"] if outcome is Outcome.REDIRECT else "", published=what["published"],
            **(prints(what["content_hash"]) if outcome is Outcome.DOCUMENT else {}),
        )  # fmt: skip

    def _site_report(self, worker: str, site: str) -> SiteReport:
        lease = self.leases[worker, site]
        lease.clock = politeness.answered(lease.clock, self.now, POLITENESS)
        return SiteReport(Place(site), lease.token, lease.clock)

    def _drop(self, worker: str) -> None:
        for place in [place for place in self.leases if place[0] == worker]:
            del self.leases[place], self.held[place]

    # -- state --------------------------------------------------------------------------------

    @invariant()
    def urls_are_equal(self) -> None:
        rows = self.db.execute(
            "SELECT url, state, level, attempts, due_at, outcome, target, etag, content_hash, keep_alias FROM urls"
        )
        names = {"queued": "waiting"}
        mine = {
            url: (
                names.get(row.state, row.state), row.level, row.attempts, row.due_at,
                row.outcome.value if row.outcome else None, row.target, row.etag, row.content_hash, row.keep_alias,
            )
            for url, row in self.memory._urls.items()
        }  # fmt: skip
        theirs = {
            url: (STATE_NAMES[state], level, attempts, due, out, to or "", etag or "", text or "", bool(keep))
            for url, state, level, attempts, due, out, to, etag, text, keep in rows
        }
        assert theirs == mine

    @invariant()
    def sites_are_equal(self) -> None:
        rows = self.db.execute(
            "SELECT name, crawl_delay, trouble, sites.not_before, wait_reason, least_delay, address, owner, token, "
            "known, refused, ready_at, next_seq FROM sites JOIN parts ON site_id = id"
        )
        theirs = {
            name: (SiteClock(*clock), address, owner, token, known, refused, None if owner else ready, seq)
            for name, *clock, address, owner, token, known, refused, ready, seq in rows
        }
        mine = {
            name: (
                s.clock,
                s.address,
                s.owner,
                s.token,
                s.known,
                s.refused,
                None if s.owner else s.ready_at,
                s.next_seq,
            )
            for name, s in self.memory._sites.items()
        }
        assert theirs == mine

    @invariant()
    def texts_are_equal(self) -> None:
        rows = self.db.execute(
            "SELECT t.domain, t.content_hash, u.url FROM texts t JOIN urls u ON u.site_id = t.site_id AND u.key = t.key"
        )
        assert set(rows) == {(key64(domain), text, url) for (domain, text), url in self.memory._texts.items()}

    @invariant()
    def clusters_are_equal(self) -> None:
        rows = self.db.execute(
            "SELECT c.id, c.pages, u.url FROM clusters c JOIN urls u ON u.site_id = c.site_id AND u.key = c.key "
            "WHERE c.pages > 0"
        )
        mine = {(n, len(c.members), c.representative) for n, c in self.memory._clusters.items()}
        assert set(rows) == mine
        pages = self.db.execute("SELECT cluster, url FROM urls WHERE cluster IS NOT NULL")
        assert set(pages) == {(n, url) for n, c in self.memory._clusters.items() for url in c.members}
        listed = self.db.execute("SELECT cluster, COUNT(*) FROM members GROUP BY cluster")
        assert all(len(self.memory._clusters[n].members) == count for n, count in listed), "a member is missing"
        keys = set(self.db.execute("SELECT near_key, cluster FROM near_keys"))
        assert keys == {(key, n) for n, c in self.memory._clusters.items() for key in c.near_keys}

    @invariant()
    def the_same_texts_wait_for_the_page_they_name(self) -> None:
        rows = self.db.execute(
            "SELECT u.url, c.fingerprint FROM clusters c JOIN urls u ON u.key = c.id WHERE c.pages = 0"
        )
        assert dict(rows) == self.memory._waiting

    @invariant()
    def kept_numbers_are_what_counting_gives(self) -> None:
        urls = self.memory._urls
        queued = Counter(row.level for row in urls.values() if row.state == "queued")
        assert dict(self.db.execute("SELECT level, queued FROM levels WHERE queued <> 0")) == queued
        assert dict(self.db.execute("SELECT level, COUNT(*) FROM queue GROUP BY level")) == queued
        outcomes = Counter((key64(site_of(u)), row.outcome.value) for u, row in urls.items() if row.outcome)
        rows = self.db.execute("SELECT site_id, outcome, urls FROM outcomes WHERE urls <> 0")
        assert {(site, name): n for site, name, n in rows} == outcomes
        entered = [url for url, row in urls.items() if row.state != "refused" or row.outcome]
        shapes = Counter((key64(site_of(url)), key64(shape_of(url))) for url in entered)
        assert {(site, shape): n for site, shape, n in self.db.execute("SELECT * FROM shapes")} == shapes

    @invariant()
    def statistics_of_the_table_are_what_counting_gives(self) -> None:
        urls = self.memory._urls
        counted: dict[tuple[int, int], list[int]] = {}
        for url, row in urls.items():
            if row.state == "refused" and row.outcome is None:
                continue
            place = (key64(site_of(url)), key64(prefix_of(shape_of(url))))
            counts = counted.setdefault(place, [0] * 5)
            outcome = row.outcome
            kinds = [True, outcome is not None, outcome is Outcome.DOCUMENT]
            kinds += [outcome is not None and outcome.meaning.error, outcome in (Outcome.DUPLICATE, Outcome.ALIAS)]
            counted[place] = [count + kind for count, kind in zip(counts, kinds, strict=True)]
        rows = self.db.execute("SELECT site_id, prefix, known, visited, documents, failed, duplicates FROM prefixes")
        assert {(site, prefix): counts for site, prefix, *counts in rows} == counted
        [(documents,)] = self.db.execute("SELECT COALESCE(SUM(pages), 0) FROM freshness")
        assert documents == sum(row.outcome is Outcome.DOCUMENT for row in urls.values())

    @invariant()
    def every_text_that_was_read_has_a_page(self) -> None:
        """An alias leads, by whatever chain, to a page that is kept or still to be read."""
        urls = self.memory._urls
        for url, row in urls.items():
            if row.state != "done" or row.outcome is not Outcome.ALIAS:
                continue
            walked = [url]
            end = row
            while end.state == "done" and end.outcome in (Outcome.ALIAS, Outcome.REDIRECT, Outcome.DUPLICATE):
                assert end.target not in walked, f"{url} leads nowhere: {walked}"
                assert end.target in urls, f"{url} leads to {end.target}, which nobody will read"
                walked.append(end.target)
                end = urls[end.target]
            assert end.state in ("queued", "scheduled") or end.outcome in (
                Outcome.DOCUMENT, Outcome.NOINDEX, Outcome.NOT_MODIFIED,
            ), f"{url} leads to {walked[-1]}, which is {end.outcome}"  # fmt: skip


BothFrontiers.TestCase.settings = settings(
    max_examples=300,
    stateful_step_count=45,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.timeout(1200)  # all of them are one test
class TestBothFrontiers(BothFrontiers.TestCase):
    """Random lives, the same in every run."""


def test_the_dump_sees_everything(tmp_path: Path) -> None:
    """The comparison of dumps can fail: one changed value is seen."""
    frontier = sql_on(open_database(tmp_path / "frontier.db"), BUDGETS)
    frontier.add([page(URLS[0])], NOW)
    before = dump(frontier)
    frontier.db.execute("UPDATE urls SET hops = 1")
    assert dump(frontier) != before
