"""Made-up webs: repeatable, well-formed, and like the real ones where it matters to a crawler."""

from __future__ import annotations

from collections import Counter, deque
from pathlib import Path

import msgspec
import numpy as np
import pytest

from gossamer.lab.webs.web import NOWHERE, RecordedWeb, load_web, save_web
from gossamer.model.site import origin_of, site_of
from gossamer.model.url import Canonicalizer
from gossamer.parse.rules import RuleBook
from gossamer.robots.rules import Robots
from studies.webs.made_up import news_web, university_web

SITES, DAYS = 12, 4.0
COLUMNS = (
    "urls", "answer", "media_type", "text_hash", "page_type", "kind", "status", "size", "duration", "fit", "noindex",
    "validates", "redirect", "canonical", "born",
)  # fmt: skip


@pytest.fixture(scope="module")
def news() -> RecordedWeb:
    return news_web(SITES, DAYS)


@pytest.fixture(scope="module")
def university() -> RecordedWeb:
    return university_web(hosts=9, pages=2000)


@pytest.fixture(scope="module", params=["news", "university"])
def web(request: pytest.FixtureRequest) -> RecordedWeb:
    made: RecordedWeb = request.getfixturevalue(request.param)
    return made


def are_same(one: RecordedWeb, other: RecordedWeb) -> bool:
    columns = all(np.array_equal(getattr(one, name), getattr(other, name)) for name in COLUMNS)
    lists = all(getattr(one, name).is_same_as(getattr(other, name)) for name in ("links", "feeds", "changes"))
    return columns and lists and one.facts == other.facts


def walk(web: RecordedWeb, at: float, most: int | None = None) -> tuple[list[int], int, int]:
    """Rows of a breadth-first walk at one moment; how many links it saw, and how many were new."""
    known, waiting, visited = set(web.facts.seeds), deque(web.facts.seeds), []
    links = 0
    while waiting and (most is None or len(visited) < most):
        row = waiting.popleft()
        visited.append(row)
        moved = [int(web.redirect[row])] if web.redirect[row] != NOWHERE else []
        for target in [*web.links.of(row).tolist(), *moved]:
            if web.born[target] <= at:
                links += 1
                if target not in known:
                    known.add(target)
                    waiting.append(target)
    return visited, links, len(known) - len(web.facts.seeds)


def path_of(url: str) -> str:
    return url.removeprefix(origin_of(url))


def test_the_same_seed_makes_the_same_web_and_another_seed_another_one() -> None:
    for make in (lambda seed: news_web(4, 2, seed=seed), lambda seed: university_web(5, 300, seed)):
        assert are_same(make(3), make(3))
        assert not np.array_equal(make(3).links.values, make(4).links.values)


def test_a_site_has_the_same_urls_births_and_changes_in_a_larger_web() -> None:
    small, large = news_web(3, 2), news_web(7, 2)
    for url, row in small.number.items():
        other = large.number[url]
        assert small.born[row] == large.born[other]
        assert small.answer[row] == large.answer[other]
        assert np.array_equal(small.changes.of(row), large.changes.of(other))


def test_urls_are_canonical_and_each_is_there_once(web: RecordedWeb) -> None:
    canonicalizer = Canonicalizer()
    assert [canonicalizer.parse(url) for url in web.urls] == web.urls
    assert len(web.number) == len(web)


def test_a_link_to_a_later_page_comes_with_a_change_of_the_page_that_has_it(web: RecordedWeb) -> None:
    rows, targets = web.links.rows, web.links.values
    later = (web.born[targets] > web.born[rows]) & (web.born[targets] > web.facts.started_at)
    for row, target in zip(rows[later].tolist(), targets[later].tolist(), strict=True):
        assert web.born[target] in web.changes.of(row), (web.urls[row], web.urls[target])


def test_changes_rise_and_lie_in_the_recording_and_after_the_birth(web: RecordedWeb) -> None:
    changes, rows = web.changes.values, web.changes.rows
    assert len(changes) > 0
    assert np.all(np.diff(changes)[np.diff(rows) == 0] > 0)
    assert np.all((changes > web.facts.started_at) & (changes <= web.facts.ended_at))
    assert np.all(changes > web.born[rows])
    assert np.all(web.born <= web.facts.ended_at)


@pytest.mark.parametrize("moment", [0.0, 0.37, 1.0])
def test_every_page_can_be_reached_from_the_seeds_as_soon_as_it_is_born(web: RecordedWeb, moment: float) -> None:
    at = web.facts.started_at + moment * (web.facts.ended_at - web.facts.started_at)
    visited, _, _ = walk(web, at)
    there = web.pages & (web.born <= at)
    assert there.sum() > 500
    assert set(np.flatnonzero(there).tolist()) <= set(visited)


def test_a_page_links_to_nothing_twice_and_not_to_itself(web: RecordedWeb) -> None:
    for row in range(len(web)):
        targets = web.links.of(row).tolist()
        assert len(targets) == len(set(targets))
        assert row not in targets


def test_lists_feeds_and_sitemaps_have_the_newest_article_first(news: RecordedWeb) -> None:
    resources = news.kind > 0
    lists = [
        row
        for row in range(len(news))
        if resources[row] or (news.page_type[row] == "listing" and "?" not in news.urls[row])
    ]
    longest = 0
    for row in lists:
        targets = news.links.of(row)
        born = news.born[targets[news.fit[targets] == 1]]
        assert np.all(np.diff(born) < 0), news.urls[row]
        longest = max(longest, len(born))
    assert longest > 20


def test_old_articles_are_some_hops_deep_in_lists() -> None:
    web = news_web(3, 1, articles_per_day=20, archive=600)
    at = web.facts.started_at
    depth = dict.fromkeys(web.facts.seeds, 0)
    waiting = deque(web.facts.seeds)
    lists = np.array([kind == "listing" for kind in web.page_type])
    while waiting:
        row = waiting.popleft()
        for target in web.links.of(row).tolist():
            if target not in depth and web.born[target] <= at and (lists[target] or web.fit[target] == 1):
                depth[target] = depth[row] + 1
                if lists[target]:
                    waiting.append(target)
    articles = np.flatnonzero(web.useful & (web.born <= at))
    assert Counter(depth[row] for row in articles.tolist())[1] > 0
    assert max(depth[row] for row in articles.tolist()) >= 4


@pytest.mark.parametrize("seed", [1, 2])
def test_breadth_first_finds_as_little_of_use_as_the_seed_document_says(seed: int) -> None:
    """Seed 000, 40 news sites: about 10 % of the downloads useful, about 9 % of the links new."""
    web = news_web(40, 0.5, seed=seed)
    visited, links, new = walk(web, web.facts.started_at)
    assert 0.07 < web.useful[visited].mean() < 0.15
    assert 0.06 < new / links < 0.11


def test_the_number_of_urls_is_what_was_asked_for() -> None:
    week = news_web(30, 7)
    assert 350 * 30 < len(week) < 900 * 30
    assert len(week.links.values) < 25 * len(week)
    assert 1800 < len(university_web(9, 2000)) < 2200


def test_articles_are_born_at_the_asked_rate_more_by_day_than_by_night() -> None:
    web = news_web(60, 7, articles_per_day=10)
    born = web.born[(web.fit == 1) & (web.born > web.facts.started_at)]
    assert 6 < len(born) / 60 / 7 < 15
    by_site = Counter(site_of(web.urls[row]) for row in np.flatnonzero(web.fit == 1).tolist())
    assert max(by_site.values()) > 10 * min(by_site.values())
    hour = born % 86_400 // 3600
    assert np.sum((hour >= 11) & (hour < 17)) > 4 * np.sum((hour >= 23) | (hour < 5))


def test_most_edits_come_in_the_first_hours_of_an_article(news: RecordedWeb) -> None:
    rows = news.changes.rows
    edits = news.useful[rows] & (news.born[rows] > news.facts.started_at)
    ages = (news.changes.values - news.born[rows])[edits]
    assert len(ages) > 100
    assert np.median(ages) < 6 * 3600


def test_the_document_rules_say_of_every_url_whether_it_is_an_article(news: RecordedWeb) -> None:
    fits = RuleBook(news.facts.rules).fits
    assert [bool(fits(url)) for url in news.urls] == (news.fit == 1).tolist()


def test_only_articles_are_useful_and_print_copies_repeat_their_text(news: RecordedWeb) -> None:
    prints = [row for row, url in enumerate(news.urls) if path_of(url).startswith("/print/")]
    useful = set(np.flatnonzero(news.useful).tolist())
    assert all(news.page_type[row] == "article" for row in useful)
    original = {news.text_hash[row]: row for row in useful}
    assert prints
    for row in prints:
        assert news.fit[row] == 0
        article = original[news.text_hash[row]]
        assert article in news.links.of(row)
        assert news.canonical[row] in (NOWHERE, article)


def test_there_are_errors_redirects_traps_feeds_and_sitemaps(news: RecordedWeb) -> None:
    answers = Counter(news.answer)
    assert {"document", "resource", "redirect", "gone"} <= set(answers)
    assert 0 < answers["gone"] < 0.05 * len(news)
    moved = np.flatnonzero(np.array(news.answer) == "redirect")
    assert np.all(news.redirect[moved] != NOWHERE)
    calendars = Counter(site_of(url) for url in news.urls if path_of(url).startswith("/calendar/"))
    assert 0 < len(calendars) < SITES
    assert set(calendars.values()) == {120}
    assert 0 < news.validates.mean() < 1
    homes = set(news.facts.seeds)
    assert set(np.flatnonzero(news.feeds.counts).tolist()) <= homes
    assert np.all(news.kind[news.feeds.values] == 2)
    assert len(news.feeds.values) > SITES / 2
    assert news.facts.feed_entries == 20


def test_robots_files_name_the_sitemaps_and_keep_nobody_from_articles() -> None:
    web = news_web(60, 0.2)
    robots = {origin: Robots(body, "gossamer") for origin, body in web.facts.robots.items()}
    sitemaps = {web.urls[row] for row in np.flatnonzero(web.kind == 1).tolist()}
    assert {url for one in robots.values() for url in one.sitemaps} == sitemaps
    assert 0 < sum(one.crawl_delay is not None for one in robots.values()) < 15
    refused = [
        row
        for row, url in enumerate(web.urls)
        if (one := robots.get(origin_of(url))) is not None and not one.decide(url).allowed
    ]
    assert refused
    assert not web.useful[refused].any()


def test_some_sites_share_an_address() -> None:
    web = news_web(60, 0.1, archive=1)
    assert set(web.facts.addresses) <= {site_of(url) for url in web.urls}
    assert max(Counter(web.facts.addresses.values()).values()) > 1
    assert len(web.facts.addresses) < 30


def test_a_made_up_web_is_the_same_after_saving_and_loading(web: RecordedWeb, tmp_path: Path) -> None:
    save_web(web, tmp_path / "a.web.parquet")
    again = load_web(tmp_path / "a.web.parquet")
    assert are_same(web, again)
    assert msgspec.json.encode(web.facts) == msgspec.json.encode(again.facts)


def test_the_smallest_webs_can_be_made() -> None:
    assert len(news_web(1, 0.01, archive=0)) > 1
    assert news_web(2, 0.0).useful.any()
    assert len(university_web(1, 10)) > 1
    assert len(university_web(2, 10)) > 1
    assert len(university_web(3, 10)) > 1


def test_the_mirror_repeats_another_host_page_by_page(university: RecordedWeb) -> None:
    hosts: dict[str, dict[str, int]] = {}
    for row, url in enumerate(university.urls):
        hosts.setdefault(site_of(url), {})[path_of(url)] = row
    assert len(hosts) == 9
    mirror = hosts.pop("mirror.uni.example")
    [twin] = [
        paths for paths in hosts.values() if university.text_hash[paths["/"]] == university.text_hash[mirror["/"]]
    ]
    assert twin.keys() == mirror.keys()
    assert all(university.text_hash[row] == university.text_hash[mirror[path]] for path, row in twin.items())


def test_a_few_pages_of_a_university_have_most_of_the_links_and_few_pages_change(university: RecordedWeb) -> None:
    degrees = np.sort(np.bincount(university.links.values, minlength=len(university)))[::-1]
    assert degrees[: len(degrees) // 20].sum() > 0.6 * degrees.sum()
    assert np.median(degrees) < 5
    assert 0 < (university.changes.counts > 0).mean() < 0.15
    assert {"text/html", "application/pdf", "application/zip"} == set(university.media_type)
    assert np.all(university.fit == -1)
