"""Filters over the life of a crawl: made on evidence, tried, live, withdrawn; no useful page is ever lost by them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from gossamer.data.folder import DataFolder
from gossamer.data.stored_links import stored_in
from gossamer.database.database import open_database
from gossamer.dedup.near.registry import near_method
from gossamer.frontier.contract import Batch, Budgets, Place, SiteReport, Visit
from gossamer.frontier.guidance import Guidance
from gossamer.frontier.politeness import PolitenessConfig
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.steering import filters
from gossamer.frontier.steering.filters import ACTIVE, OFF, SHADOW, WITHDRAWN
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered, Link, PageRow, Via
from gossamer.parse.rules import DocumentRule, RuleBook
from gossamer.revisit.config import FeedConfig, RevisitConfig
from gossamer.scope.automatic import AutomaticRule, FilterConfig, is_probe
from gossamer.scope.shape import path_shape
from gossamer.store.layout import new_segment_id
from gossamer.store.segments import SegmentWriter
from gossamer.tables.rulebook import load_rules, save_rules
from gossamer.upkeep.filters.look import Report
from gossamer.upkeep.filters.run import all_sites, run_filters, switch

NOW = 1_700_000_000.0
CONFIG = FilterConfig(probe=0)
ROOT = "http://a.org/"
NEWS = DocumentRule("a.org", ("/news/{id}",))


class ToyCrawl:
    """Crawls a web that is a table, with a real frontier and real segments."""

    def __init__(self, folder: Path, web: Mapping[str, Sequence[str]], rules: Sequence[DocumentRule] = (NEWS,)) -> None:
        self.web = web
        self.folder = DataFolder(folder)
        self.folder.create()
        self.db = open_database(self.folder.database)
        self.db.execute("PRAGMA synchronous = OFF")
        save_rules(self.db, rules, NOW)
        guidance = Guidance(
            fits=RuleBook(rules).fits, revisit=RevisitConfig(policy="none"), feeds=FeedConfig(hubs=False)
        )
        self.frontier = SqlFrontier(
            self.db, Budgets(), PolitenessConfig(delay=0.0), path_shape, near_method("minhash"), guidance=guidance
        )
        self.frontier.add([Discovered(ROOT, Via.SEED)], NOW)
        self.now, self.probe = NOW, 0
        self.visited: list[str] = []

    def go(self, pages: int) -> int:
        """Fetch up to so many pages; how many there were."""
        rule = AutomaticRule(filters.load_filters(self.db), RuleBook(load_rules(self.db)).fits, self.probe)
        self.frontier.register("w", self.now)
        before = len(self.visited)
        while len(self.visited) - before < pages:
            leases = self.frontier.take("w", self.now, 10, min(20, pages - (len(self.visited) - before)))
            if not leases:
                break
            for lease in leases:
                self._visit(lease.site, lease.token, lease.clock, lease.tasks, rule)
        self.frontier.retire("w", self.now)
        return len(self.visited) - before

    def _visit(self, site: str, token: int, clock: object, tasks: list, rule: AutomaticRule) -> None:
        self.now += 1.0
        segment = new_segment_id("w", self.now, 1)
        writer = SegmentWriter(self.folder.segments, segment, archive=False)
        links = [(task.url, self.now, [Link(url) for url in self.web.get(task.url, ())]) for task in tasks]
        writer.write_links(links)
        visits, rows, found = [], [], []
        for number, task in enumerate(tasks):
            there = task.url in self.web
            outcome = Outcome.DOCUMENT if there else Outcome.GONE
            visits.append(
                Visit(Place(site), task, outcome, self.now, content_hash=task.url if there else "", row=number)
            )
            rows.append(PageRow(task.url, site, site, self.now, outcome.value, 200 if there else 404))
            found += [
                Discovered(url, depth=task.depth + 1, referrer=task.url, refusal=rule.decide(url, self.now))
                for url in self.web.get(task.url, ())
            ]
        report = SiteReport(Place(site), token, clock)

        def write(_verdicts: object) -> None:
            writer.write_pages(rows)
            writer.sync()

        self.frontier.report("w", Batch(segment, visits, found, sites=[report]), self.now, write)
        self.frontier.release("w", [report], [], self.now)
        self.visited += [task.url for task in tasks]

    def filter(self, config: FilterConfig = CONFIG, later: float = 0.0) -> Report:
        self.now += later
        return run_filters(stored_in(self.folder), self.db, config, self.now, all_sites(self.db, config))

    def states(self) -> dict[str, str]:
        return {f"{row.kind} {row.pattern}": row.state for row in filters.list_filters(self.db)}

    def useful(self) -> set[str]:
        fits = RuleBook(load_rules(self.db)).fits
        return {url for url in self.visited if fits(url)}


def news(number: int) -> str:
    return f"http://a.org/news/{number}"


def blog(posts: int = 60, tags: int = 200) -> dict[str, list[str]]:
    """News in a chain, listed by archive pages; each has tags, which list a few news."""
    pages = posts // 10
    web: dict[str, list[str]] = {ROOT: [f"http://a.org/archive/{n}" for n in range(pages)]}
    for page in range(pages):
        web[f"http://a.org/archive/{page}"] = [news(n) for n in range(page * 10, page * 10 + 10)]
    for n in range(posts):
        web[news(n)] = [ROOT, *(f"http://a.org/tag/t{(n * 7 + k) % tags}" for k in range(tags // posts + 2))]
    for n in range(tags):
        web[f"http://a.org/tag/t{n}"] = [news(n % posts), news((n + 1) % posts)]
    return web


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[ToyCrawl]:
    toy = ToyCrawl(tmp_path / "data", blog())
    yield toy
    toy.db.close()


def test_useless_tags_are_proposed_tried_and_refused_and_nothing_is_lost(crawl: ToyCrawl) -> None:
    crawl.go(140)
    assert [row.pattern for row in crawl.filter().proposed] == ["/tag/"]
    assert crawl.states() == {"prefix /tag/": SHADOW}
    waiting = len(crawl.db.execute("SELECT 1 FROM queue"))
    assert waiting > 20 and crawl.filter().left == 0
    live = crawl.filter(later=CONFIG.shadow)
    assert [row.pattern for row in live.activated] == ["/tag/"] and live.left == waiting
    assert crawl.go(1000) == 0
    assert crawl.useful() == {news(n) for n in range(60)}


def test_the_archive_that_leads_to_the_news_is_not_cut(crawl: ToyCrawl) -> None:
    crawl.go(1000)
    report = crawl.filter(FilterConfig(probe=0, known=5, chance=1.1))
    assert "/archive/" in {row.pattern for row in report.rejected}
    assert "/archive/" not in {row.pattern for row in report.proposed}


def test_pages_of_which_hardly_one_was_seen_are_not_judged(crawl: ToyCrawl) -> None:
    crawl.go(68)  # root, archive and news; no tag was fetched yet
    report = crawl.filter()
    assert not report.proposed
    assert any("visited since the last one that led" in row.evidence.note for row in report.rejected)


def test_a_trial_needs_urls_to_be_right_about(tmp_path: Path) -> None:
    web = blog()
    crawl = ToyCrawl(tmp_path / "data", web)
    crawl.go(140)
    crawl.filter()
    web["http://a.org/tag/t1"] = []
    late = [f"http://a.org/tag/late{n}" for n in range(CONFIG.shadow_urls)]
    crawl.frontier.add([Discovered(url, referrer=ROOT) for url in late], crawl.now)
    report = crawl.filter()
    assert [row.evidence.since.known for row in report.activated] == [CONFIG.shadow_urls]


def test_a_useful_url_that_turns_up_ends_the_trial(crawl: ToyCrawl) -> None:
    crawl.go(140)
    crawl.filter()
    save_rules(crawl.db, [DocumentRule("a.org", ("/tag/t9",), "tag")], crawl.now)
    report = crawl.filter(later=CONFIG.shadow)
    assert [row.pattern for row in report.withdrawn] == ["/tag/"] and not report.activated
    assert crawl.states() == {"prefix /tag/": WITHDRAWN}


def test_a_filter_by_which_a_way_leads_now_is_withdrawn_and_its_urls_return(tmp_path: Path) -> None:
    web = blog()
    crawl = ToyCrawl(tmp_path / "data", web)
    crawl.go(140)
    crawl.filter()
    crawl.filter(later=CONFIG.shadow)
    assert crawl.states() == {"prefix /tag/": ACTIVE}
    probe = next(url for n in range(1000) if is_probe(url := f"http://a.org/tag/probe{n}", 50))
    web |= {news(776): [probe], probe: [news(777)], news(777): []}
    crawl.frontier.add([Discovered(news(776), Via.SEED)], crawl.now)
    crawl.probe = 50
    crawl.go(10)
    assert news(777) in crawl.visited
    report = crawl.filter()
    assert [row.pattern for row in report.withdrawn] == ["/tag/"] and report.back > 20
    crawl.go(1000)
    assert {url for url in web if "/tag/" in url} <= set(crawl.visited)


def test_what_an_operator_switched_off_is_not_made_again(crawl: ToyCrawl) -> None:
    crawl.go(140)
    crawl.filter()
    [row] = filters.list_filters(crawl.db)
    switch(crawl.db, row, False, CONFIG, crawl.now)
    report = crawl.filter(later=CONFIG.shadow)
    assert "prefix /tag/" not in {f"{row.kind} {row.pattern}" for row in (*report.proposed, *report.activated)}
    assert crawl.states()["prefix /tag/"] == OFF
    [row] = [row for row in filters.list_filters(crawl.db) if row.pattern == "/tag/"]
    assert switch(crawl.db, row, True, CONFIG, crawl.now) > 20


def test_an_active_filter_that_turns_out_to_match_something_useful_is_withdrawn_unless_the_operator_wants_it(
    crawl: ToyCrawl,
) -> None:
    crawl.go(140)
    crawl.filter()
    crawl.filter(later=CONFIG.shadow)
    save_rules(crawl.db, [DocumentRule("a.org", ("/tag/t9",), "tag")], crawl.now)
    assert [row.pattern for row in crawl.filter().withdrawn] == ["/tag/"]
    [row] = filters.list_filters(crawl.db)
    switch(crawl.db, row, True, CONFIG, crawl.now)
    assert crawl.filter().withdrawn == [] and crawl.states() == {"prefix /tag/": ACTIVE}


@pytest.mark.parametrize("mode", ["off", "shadow"])
def test_without_being_on_nothing_is_refused(tmp_path: Path, mode: str) -> None:
    crawl = ToyCrawl(tmp_path / "data", blog())
    config = FilterConfig(mode=mode, probe=0)
    crawl.go(140)
    crawl.filter(config)
    assert crawl.filter(config, later=config.shadow).activated == []
    assert crawl.states() == {"prefix /tag/": SHADOW}
    crawl.go(1000)
    assert set(crawl.web) <= set(crawl.visited)


def test_without_rules_a_prefix_of_missing_pages_is_refused(tmp_path: Path) -> None:
    web = blog(tags=1)
    for n in range(60):
        web[news(n)] = [*web[news(n)], *(f"http://a.org/gone/{n}x{k}" for k in range(5))]
    crawl = ToyCrawl(tmp_path / "data", web, rules=())
    crawl.go(150)
    assert "/gone/" in {row.pattern for row in crawl.filter().proposed}
    crawl.filter(later=CONFIG.shadow)
    crawl.go(1000)
    assert set(web) <= set(crawl.visited)
    assert sum("/gone/" in url for url in crawl.visited) < 150


def test_by_itself_it_looks_at_sites_that_grew_within_its_share_of_the_time(crawl: ToyCrawl) -> None:
    crawl.go(140)

    def looks(share: float, later: float = 1000.0) -> int:
        crawl.now += later
        return run_filters(stored_in(crawl.folder), crawl.db, FilterConfig(probe=0, share=share), crawl.now).sites

    assert looks(share=1.0) == 1
    assert crawl.states() == {"prefix /tag/": SHADOW}
    assert looks(share=1.0) == 0  # nothing came about since
    crawl.go(40)
    assert looks(share=0.0) == 0
    assert looks(share=1.0) == 1
    assert run_filters(stored_in(crawl.folder), crawl.db, FilterConfig(mode="off"), crawl.now + 1e6).sites == 0
