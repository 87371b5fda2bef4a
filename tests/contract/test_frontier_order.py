"""What is fetched first: scores multiply, links raise what waits, rules that come later move what waits."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from frontier_kit import Crew, Hand, page, place_of_database, sql_on

from gossamer.database.database import Database, open_database
from gossamer.frontier.contract import Budgets
from gossamer.frontier.guidance import Guidance
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.steering.fitting import refit
from gossamer.frontier.views.inspect import status
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered, Via
from gossamer.model.site import key64, site_of
from gossamer.parse.rules import DocumentRule, RuleBook
from gossamer.plugins import STRATEGIES
from gossamer.priority.opic import WELCOME
from gossamer.priority.product import build
from gossamer.priority.strategy import Context
from gossamer.revisit.config import FeedConfig, RevisitConfig

pytestmark = pytest.mark.usefixtures("dialect")

SITE = "a.example.org"
SEED = f"https://{SITE}/"
NEWS = DocumentRule("example.org", ("/news/{id}",))


def guidance(strategy: str, *rules: DocumentRule) -> Guidance:
    fits = RuleBook(rules).fits
    made = build(strategy, lambda name: STRATEGIES.get(name)(Context(fits=fits)))
    return Guidance(made, fits, RevisitConfig(policy="none"), FeedConfig(poll=False))


def crew_with(folder: Path, strategy: str, *rules: DocumentRule, per_site: int = 1000) -> Crew:
    database = open_database(place_of_database(folder))
    return Crew(sql_on(database, Budgets(lease=1e9, per_site=per_site), guidance(strategy, *rules)))


def db_of(crew: Crew) -> Database:
    assert isinstance(crew.frontier, SqlFrontier)
    return crew.frontier.db


def url(name: str) -> str:
    return f"https://{SITE}/{name}"


def place(target: str) -> tuple[int, int]:
    return key64(site_of(target)), key64(target)


def read(worker: Hand, source: str, *links: str, outcome: Outcome = Outcome.DOCUMENT) -> None:
    """Visit a page that links to others."""
    depth = worker.tasks(source)[0].depth + 1
    found = [Discovered(link, depth=depth, referrer=source) for link in links]
    worker.did(source, outcome, content_hash=source, outlinks=[place(link) for link in links], found=found)


def check_counters(db: Database) -> None:
    """The numbers kept of the queue are what counting gives."""
    waiting = Counter(row[0] for row in db.execute("SELECT level FROM queue"))
    assert dict(db.execute("SELECT level, queued FROM levels WHERE queued <> 0")) == waiting


class TestUsefulFirst:
    def test_what_fits_a_rule_comes_first_whatever_its_depth(self, tmp_path: Path) -> None:
        crew = crew_with(tmp_path, "fit * breadth", NEWS)
        crew.add(page(url("about"), depth=1), page(url("news/1"), depth=9), page(url("list"), depth=2))
        assert crew.worker("w").urls() == [url("news/1"), url("about"), url("list")]

    def test_a_domain_without_rules_is_crawled_as_ever(self, tmp_path: Path) -> None:
        crew = crew_with(tmp_path, "fit * breadth", NEWS)
        other = "https://other.example.net"
        crew.add(page(f"{other}/deep", depth=3), page(f"{other}/news/1", depth=5), page(f"{other}/top", depth=1))
        assert crew.worker("w").urls() == [f"{other}/top", f"{other}/deep", f"{other}/news/1"]

    def test_a_seed_is_fetched_first_though_it_fits_no_rule(self, tmp_path: Path) -> None:
        crew = crew_with(tmp_path, "fit * breadth", NEWS)
        crew.add(page(url("news/1"), depth=1), page(SEED, via=Via.SEED))
        assert crew.worker("w").urls() == [SEED, url("news/1")]

    def test_the_rows_know_what_fits(self, tmp_path: Path) -> None:
        crew = crew_with(tmp_path, "breadth", NEWS)
        crew.add(page(url("news/1")), page(url("about")))
        [fit] = db_of(crew).execute("SELECT SUM(fit), SUM(known) FROM prefixes")
        assert fit == (1, 2)


class TestRulesThatComeLater:
    def test_waiting_urls_move_to_the_level_they_have_now(self, tmp_path: Path) -> None:
        crew = crew_with(tmp_path, "fit * breadth", per_site=3)
        crew.add(page(url("about"), depth=1), page(url("news/1"), depth=3), page(url("news/x"), depth=2))
        known, fit = refit(db_of(crew), "example.org", guidance("fit * breadth", NEWS), crew.now)
        assert (known, fit) == (3, 1)
        worker = crew.worker("w")
        assert worker.urls() == [url("news/1"), url("about"), url("news/x")]
        check_counters(db_of(crew))
        for name in ("news/1", "about", "news/x"):
            worker.did(url(name), content_hash=name)
        assert worker.refill(SITE) == []
        assert status(db_of(crew), crew.now).urls_due == 0
        assert db_of(crew).execute("SELECT COUNT(*) FROM queue") == [(0,)]

    def test_rules_that_go_leave_no_trace(self, tmp_path: Path) -> None:
        crew = crew_with(tmp_path, "fit * breadth", NEWS)
        crew.add(page(url("about"), depth=1), page(url("news/1"), depth=3))
        refit(db_of(crew), "example.org", guidance("fit * breadth"), crew.now)
        assert crew.worker("w").urls() == [url("about"), url("news/1")]
        assert db_of(crew).execute("SELECT SUM(fit) FROM prefixes") == [(0,)]

    def test_a_rule_of_one_host_leaves_the_others_alone(self, tmp_path: Path) -> None:
        crew = crew_with(tmp_path, "fit * breadth")
        crew.add(page(url("news/1")), page("https://b.example.org/news/1"))
        rule = DocumentRule(SITE, ("/news/{id}",))
        assert refit(db_of(crew), SITE, guidance("fit * breadth", rule), crew.now) == (1, 1)


class TestLinks:
    def test_many_links_raise_a_page_that_waits(self, tmp_path: Path) -> None:
        crew = crew_with(tmp_path, "backlinks", per_site=1)
        crew.add(page(SEED, via=Via.SEED))
        worker = crew.worker("w")
        worker.take()
        others = [url(f"p{n}") for n in range(20)]
        read(worker, SEED, *others, url("loved"))
        visited = []
        for _ in range(10):
            [task] = worker.refill(SITE)
            worker.leases[SITE].tasks = [task]
            visited.append(task.url)
            read(worker, task.url, *([] if task.url == url("loved") else [url("loved")]))
            check_counters(db_of(crew))
        assert visited[0] == others[0], "equal ones in the order in which they were found"
        assert url("loved") in visited, "it was found last, and twenty pages waited before it"

    @pytest.mark.parametrize("strategy", ["backlinks", "opic", "fica", "fit * opic"])
    def test_a_page_that_rose_is_handed_out_once(self, tmp_path: Path, strategy: str) -> None:
        """A small web, each page linked from many: every page is visited exactly once, by whatever strategy."""
        names = [f"p{n}" for n in range(30)]
        links = {name: [names[(n * k) % 30] for k in (2, 3, 5, 7)] for n, name in enumerate(names)}
        crew = crew_with(tmp_path, strategy, NEWS, per_site=3)
        crew.add(page(url("p1"), via=Via.SEED))
        worker = crew.worker("w")
        worker.take()
        visited = []
        while tasks := worker.refill(SITE):
            for task in tasks:
                visited.append(task.url)
                worker.leases[SITE].tasks = [task]
                read(worker, task.url, *(url(name) for name in links[task.url.rpartition("/")[2]]))
            check_counters(db_of(crew))
        assert len(visited) == len(set(visited))
        assert len(visited) == len(reachable("p1", links))
        assert db_of(crew).execute("SELECT COUNT(*) FROM queue") == [(0,)], "rows left behind are cleared away"

    def test_cash_is_neither_made_nor_lost(self, tmp_path: Path) -> None:
        crew = crew_with(tmp_path, "opic")
        crew.add(page(SEED, via=Via.SEED))
        worker = crew.worker("w")
        worker.take()
        read(worker, SEED, url("a"), url("b"), url("c"), url("d"))
        read(worker, url("a"), url("b"), SEED)
        [(cash,)] = db_of(crew).execute("SELECT SUM(cash) FROM standings")
        assert cash == pytest.approx(1.0 + 4 * WELCOME)

    def test_a_lost_batch_gives_nothing(self, tmp_path: Path) -> None:
        crew = crew_with(tmp_path, "opic")
        crew.add(page(SEED, via=Via.SEED))
        worker = crew.worker("w")
        worker.take()

        def fail(_verdicts: object) -> None:
            raise OSError("disk full")

        [task] = worker.tasks(SEED)
        visit = worker.visit(task, content_hash="x", outlinks=[place(url("a"))])
        with pytest.raises(OSError, match="disk full"):
            worker.report(visit, found=[page(url("a"))], write_pages=fail)
        assert db_of(crew).execute("SELECT cash FROM standings") == [(1.0,)]


def reachable(start: str, links: dict[str, list[str]]) -> set[str]:
    seen, todo = {start}, [start]
    while todo:
        for name in links[todo.pop()]:
            if name not in seen:
                seen.add(name)
                todo.append(name)
    return seen
