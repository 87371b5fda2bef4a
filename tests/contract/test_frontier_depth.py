"""A limit of depth: in whatever order pages are fetched, the crawl ends with all that are within it."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from random import Random

import msgspec
import pytest
from frontier_kit import NO, NOW, ONCE, Crew, Hand, page, place_of_database, sql_on

from gossamer.database.database import open_database
from gossamer.frontier.contract import Budgets
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.steering.operate import recrawl_url
from gossamer.frontier.views.inspect import find_url
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered, Task, Via
from gossamer.model.site import key64, packed_keys, site_of
from gossamer.scope.reach import DEPTH_RULE, Reach

pytestmark = pytest.mark.usefixtures("dialect")

Graph = dict[str, list[str]]


def frontier_with(folder: Path, depth: int | None) -> SqlFrontier:
    guidance = msgspec.structs.replace(ONCE, reach=Reach(depth))
    return sql_on(open_database(place_of_database(folder)), Budgets(lease=1e9, per_site=100), guidance)


def random_graph(chance: Random) -> Graph:
    """Pages of two hosts, each of which many ways of different length lead to."""
    urls = [f"https://h{chance.randrange(2)}.test/{number}" for number in range(40)]
    graph: Graph = {}
    for number, url in enumerate(urls):
        graph[url] = [urls[number + step] for step in (1, *chance.sample(range(2, 8), 2)) if number + step < len(urls)]
    return graph


def distances(graph: Graph, seed: str) -> dict[str, int]:
    found, todo = {seed: 0}, deque([seed])
    while todo:
        url = todo.popleft()
        for target in graph[url]:
            if target not in found:
                found[target] = found[url] + 1
                todo.append(target)
    return found


def links_of(frontier: SqlFrontier, graph: Graph, task: Task) -> list[Discovered]:
    """What a worker offers of a page, by the same rules as `crawl.understand`."""
    depth = task.depth + 1
    refusal = frontier.guidance.reach.refusal(depth)
    links = graph[task.url]
    fresh = [links[at] for at, _ in frontier.seen.unknown(packed_keys([key64(url) for url in links]), depth)]
    return [page(url, depth=depth, referrer=task.url, refusal=refusal) for url in fresh]


class Run:
    """Workers that fetch in any order, and now and then begin anew with nothing in memory."""

    def __init__(self, folder: Path, graph: Graph, depth: int | None, chance: Random) -> None:
        self.folder, self.graph, self.depth, self.chance = folder, graph, depth, chance
        self.fetched: list[str] = []
        self.restart(NOW)

    def restart(self, now: float) -> None:
        self.crew = Crew(frontier_with(self.folder, self.depth))
        self.crew.now = now
        self.worker: Hand = self.crew.worker(f"w{self.chance.random()}")

    @property
    def frontier(self) -> SqlFrontier:
        assert isinstance(self.crew.frontier, SqlFrontier)
        return self.crew.frontier

    def go(self) -> None:
        """Until nothing is left: mostly the deepest first, alone or with others, which is the worst order there is."""
        while leases := self.worker.take():
            held = [task for lease in leases for task in lease.tasks]
            while held and self.chance.random() < 0.95:
                held.sort(key=lambda task: task.depth)
                many = self.chance.choice((1, 1, 1, 2, 3))
                now, held = held[-many:], held[:-many]
                self.visit(now)
                for site in {site_of(task.url) for task in now}:
                    known = {task.key for task in held}
                    held += self.worker.refill(site, known)
            for lease in leases:
                self.worker.release(lease.site)
            self.crew.wait(60)
            if self.chance.random() < 0.3:
                self.frontier.db.close()
                self.restart(self.crew.now)

    def visit(self, tasks: list[Task]) -> None:
        found = [link for task in tasks for link in links_of(self.frontier, self.graph, task)]
        visits = [self.worker.visit(task, content_hash=task.url) for task in tasks]
        self.worker.report(*visits, found=found, segment=f"s{self.chance.random()}")
        self.fetched += [task.url for task in tasks]


@pytest.mark.parametrize("seed", (0, 2, 4, 5, 6, 8))
def test_any_order_ends_with_the_pages_within_the_limit(tmp_path: Path, seed: int) -> None:
    chance = Random(seed)
    graph = random_graph(chance)
    start, limit = next(iter(graph)), seed
    run = Run(tmp_path, graph, limit, chance)
    run.crew.add(page(start, via=Via.SEED))
    run.go()
    within = {url: depth for url, depth in distances(graph, start).items() if depth <= limit}
    assert set(run.fetched) == set(within)
    for url, depth in within.items():
        record = find_url(run.frontier.db, url)
        assert record is not None
        assert (record.depth, record.outcome) == (depth, Outcome.DOCUMENT.value)


def crew_with(folder: Path, depth: int | None) -> tuple[Crew, Hand]:
    crew = Crew(frontier_with(folder, depth))
    return crew, crew.worker("w")


A, B, C, D = (f"https://one.test/{name}" for name in "abcd")


def state_of(crew: Crew, url: str) -> tuple[str, int, str | None]:
    assert isinstance(crew.frontier, SqlFrontier)
    record = find_url(crew.frontier.db, url)
    assert record is not None
    return record.state, record.depth, record.rule


def test_a_shorter_way_lets_in_what_was_too_deep(tmp_path: Path) -> None:
    crew, worker = crew_with(tmp_path, 2)
    crew.add(page(B, depth=2))
    worker.take()
    refusal = Reach(2).refusal(3)
    worker.did(B, etag='"1"', content_hash="b", found=[page(C, depth=3, referrer=B, refusal=refusal)])
    assert state_of(crew, C) == ("refused", 3, DEPTH_RULE)
    crew.add(page(B, depth=1, referrer=A))
    assert state_of(crew, B)[:2] == ("waiting", 1)
    [again] = worker.refill("one.test")
    assert (again.url, again.depth, again.etag) == (B, 1, "")
    worker.did(B, content_hash="b", found=[page(C, depth=2, referrer=B)])
    assert state_of(crew, C) == ("waiting", 2, None)


def test_a_page_that_came_nearer_while_it_was_fetched_is_fetched_once_more(tmp_path: Path) -> None:
    crew, worker = crew_with(tmp_path, 3)
    crew.add(page(B, depth=3))
    worker.take()
    crew.add(page(B, depth=1, referrer=A))
    worker.did(B, content_hash="b")
    assert [(task.url, task.depth) for task in worker.refill("one.test")] == [(B, 1)]


def test_nothing_is_fetched_twice_for_a_way_that_changes_nothing(tmp_path: Path) -> None:
    crew, worker = crew_with(tmp_path, 2)
    crew.add(page(B, depth=3), page(C, depth=1), page(D, depth=2))
    worker.take()
    for url in (B, C, D):
        worker.did(url, content_hash=url)
    crew.add(page(B, depth=2), page(C, depth=2), page(D, depth=2))
    assert [state_of(crew, url)[:2] for url in (B, C, D)] == [("done", 2), ("done", 1), ("done", 2)]
    assert worker.refill("one.test") == []


def test_without_a_limit_depths_stay_as_they_were_found(tmp_path: Path) -> None:
    crew, worker = crew_with(tmp_path, None)
    crew.add(page(B, depth=3))
    worker.take()
    worker.did(B, content_hash="b")
    crew.add(page(B, depth=1))
    assert state_of(crew, B)[:2] == ("done", 3)


def test_a_higher_limit_lets_in_what_only_the_lower_one_refused(tmp_path: Path) -> None:
    crew, worker = crew_with(tmp_path, 1)
    crew.add(page(A, depth=1), page(D, depth=2, refusal=NO))
    worker.take()
    refusal = Reach(1).refusal(2)
    worker.did(A, content_hash="a", found=[page(B, depth=2, referrer=A, refusal=refusal)])
    crew.add(page(C, depth=4, refusal=Reach(1).refusal(4)))
    wider = frontier_with(tmp_path, 3)
    assert wider.readmit(Reach(1), crew.now) == 1
    states = {url: find_url(wider.db, url) for url in (B, C, D)}
    assert {url: record.state for url, record in states.items() if record} == {
        B: "waiting", C: "refused", D: "refused"
    }  # fmt: skip
    assert states[B] is not None
    assert states[B].found_on == A


def test_refusals_that_were_too_many_to_remember_are_found_again(tmp_path: Path) -> None:
    database = open_database(place_of_database(tmp_path))
    few = Budgets(lease=1e9, refused_per_site=1)
    crew = Crew(sql_on(database, few, msgspec.structs.replace(ONCE, reach=Reach(1))))
    worker = crew.worker("w")
    crew.add(page(A, depth=1), page(D, depth=0))
    worker.take()
    worker.did(A, etag="x", content_hash="a", found=[page(url, depth=2, refusal=Reach(1).refusal(2)) for url in (B, C)])
    worker.did(D, etag="x", content_hash="d")
    wider = sql_on(database, few, msgspec.structs.replace(ONCE, reach=Reach(2)))
    assert wider.readmit(Reach(1), crew.now) == 1
    found = {url: find_url(database, url) for url in (A, D)}
    assert {url: (one.state, one.depth) for url, one in found.items() if one} == {A: ("waiting", 1), D: ("done", 0)}


def test_a_page_that_comes_nearer_while_it_waits_for_its_next_visit_is_asked_for_as_a_whole(tmp_path: Path) -> None:
    """Its server would say that it has not changed, and its links would never be followed from its new place."""
    crew, hand = crew_with(tmp_path, 2)
    seed, deep = "https://a.example/", "https://a.example/deep"
    assert isinstance(crew.frontier, SqlFrontier)
    crew.frontier.add_seeds([page(seed, via=Via.SEED)], crew.now)
    hand.take()
    hand.did(seed, found=[page(deep, depth=2)])
    hand.take()
    hand.did(deep, etag='"1"')
    recrawl_url(crew.frontier.db, deep, crew.now)
    hand.take()
    [held] = hand.tasks(deep)
    crew.frontier.add([page(deep, depth=1)], crew.now)
    hand.report(hand.visit(held, Outcome.NOT_MODIFIED))
    hand.take()
    [task] = hand.tasks(deep)
    assert (held.etag, held.depth) == ('"1"', 2)
    assert (task.etag, task.depth) == ("", 1)
