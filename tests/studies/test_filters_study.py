"""The study of filters, on a shop that is small enough to know what must come out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from gossamer.lab.webs.ragged import ragged
from gossamer.lab.webs.web import Facts, RecordedWeb
from gossamer.parse.rules import DocumentRule
from studies.filters import study as filters
from studies.filters.filtered_tables import (
    Complete,
    Course,
    crawl_filtered,
    crawl_part,
    crawl_whole,
    removal,
)
from studies.filters.findings import POINTS, Filtered, Point, measure
from studies.study import Options

SITE = "shop.example"
ITEMS, TAGS, PRINTS = 60, 300, 50
TAG_FILTER, PRINT_FILTER = (SITE, "prefix", "/tag/"), (SITE, "prefix", "/print/")


def web_of(name: str, pages: Mapping[str, Sequence[str]]) -> RecordedWeb:
    """A web of one site: path → paths it links to; items are useful."""
    rows = {path: row for row, path in enumerate(pages)}
    return RecordedWeb(
        Facts(name, 1_780_272_000.0, 1_780_272_000.0, [0], rules=[DocumentRule(SITE, ("/item/{id}",))]),
        [f"http://{SITE}{path}" for path in pages],
        answer=["document"] * len(rows),
        links=ragged([[rows[target] for target in targets] for targets in pages.values()], np.int64),
        fit=np.array([path.startswith("/item/") for path in pages], np.int8),
        text_hash=list(pages),
    )


def percent(share: float) -> float:
    return round(100 * share, 1)


def shop() -> RecordedWeb:
    """Items on a few lists; a maze of tags, more than there are items, and fewer print views than items."""
    lists = [f"/list/{n}" for n in range(ITEMS // 10)]
    pages: dict[str, list[str]] = {"/": lists}
    for n, path in enumerate(lists):
        pages[path] = [f"/item/{10 * n + k}" for k in range(10)]
    for n in range(ITEMS):
        prints = [f"/print/{n}"] if n < PRINTS else []
        pages[f"/item/{n}"] = ["/", *(f"/tag/word{(n * 7 + k) % TAGS}" for k in range(7)), *prints]
    for n in range(TAGS):
        pages[f"/tag/word{n}"] = [f"/item/{n % ITEMS}", f"/tag/word{(n + 11) % TAGS}"]
    for n in range(PRINTS):
        pages[f"/print/{n}"] = [f"/item/{n}"]
    return web_of("shop", pages)


def shop_with_archive() -> RecordedWeb:
    """Half of the items are linked from an archive only, which has more pages than there are items."""
    archive = [f"/archive/{n}/" for n in range(2 * ITEMS)]
    shown = [f"/item/{n}" for n in range(ITEMS // 2)]
    pages: dict[str, list[str]] = {"/": [*shown, *archive]}
    pages |= {path: ["/"] for path in shown}
    pages |= {path: [f"/item/{ITEMS // 2 + n % (ITEMS // 2)}"] for n, path in enumerate(archive)}
    pages |= {f"/item/{n}": ["/"] for n in range(ITEMS // 2, ITEMS)}
    return web_of("archive", pages)


@pytest.fixture(scope="module")
def web() -> RecordedWeb:
    return shop()


@pytest.fixture(scope="module")
def whole(web: RecordedWeb) -> Complete:
    return crawl_whole(web, seed=1)


@pytest.fixture(scope="module")
def filtered(web: RecordedWeb, whole: Complete) -> Course:
    return crawl_filtered(web, whole.course.seconds, seed=1)


def test_without_filters_everything_is_fetched(web: RecordedWeb, whole: Complete) -> None:
    course = whole.course
    assert (course.requests, course.known, course.refused) == (len(web), len(web), 0)
    assert len(course.useful) == ITEMS
    assert (np.diff(course.known_at) >= 0).all()
    assert course.known_at[-1] == len(web)


def test_the_seeds_rule_removes_what_is_larger_than_all_useful_pages_together(whole: Complete) -> None:
    assert whole.found.seed == [TAG_FILTER]
    done = removal(whole, whole.found.seed)
    assert (done.filters, done.removed, done.lost) == (1, TAGS, 0)


def test_our_rules_remove_smaller_groups_too_and_lose_no_page(whole: Complete) -> None:
    assert {TAG_FILTER, PRINT_FILTER} <= set(whole.found.ours)
    done = removal(whole, whole.found.ours)
    assert (done.removed, done.lost) == (TAGS + PRINTS, 0)


def test_nothing_is_known_to_be_useless_before_it_was_looked_at(web: RecordedWeb) -> None:
    early = crawl_part(web, 20, seed=1)
    assert early.known < len(web)
    assert early.ours == []


def test_pages_to_which_a_filter_cuts_the_only_way_are_lost() -> None:
    whole = crawl_whole(shop_with_archive(), seed=1)
    assert [pattern for _, _, pattern in whole.found.seed] == ["/archive/"]
    assert removal(whole, whole.found.seed).lost == ITEMS // 2
    ours = removal(whole, whole.found.ours)
    assert (ours.removed, ours.lost) == (0, 0)


def test_useful_pages_that_a_filter_matches_are_lost(whole: Complete) -> None:
    done = removal(whole, [(SITE, "prefix", "/item/")])
    assert (done.removed, done.lost) == (0, ITEMS)


def test_a_filter_of_another_site_does_nothing(whole: Complete) -> None:
    assert removal(whole, [("elsewhere.example", "prefix", "/tag/")]).removed == 0


def test_a_crawl_with_filters_asks_less_and_finds_every_useful_page(whole: Complete, filtered: Course) -> None:
    assert TAG_FILTER in filtered.live
    assert filtered.withdrawn == []
    assert filtered.useful == whole.course.useful
    assert filtered.requests < 0.6 * whole.course.requests
    assert filtered.known < 0.6 * whole.course.known
    assert filtered.known + filtered.refused <= whole.course.known


def test_the_table_shrinks_when_a_filter_goes_live(filtered: Course) -> None:
    assert len(filtered.known_at) == filtered.requests
    assert np.diff(filtered.known_at).min() < -20
    assert filtered.known_at.min() > 0


def test_the_same_seed_finds_the_same(web: RecordedWeb, whole: Complete, filtered: Course) -> None:
    again = crawl_filtered(web, whole.course.seconds, seed=1)
    assert again.known_at.tolist() == filtered.known_at.tolist()
    assert (again.live, again.known, again.seconds) == (filtered.live, filtered.known, filtered.seconds)


def test_the_report_says_what_was_measured(web: RecordedWeb) -> None:
    archive = shop_with_archive()
    found = measure([web, archive], Options())
    report = filters.report([web, archive], found, {"archive"})
    assert [goal.met for goal in report.goals] == [True, True]
    removed, crawls = report.tables
    assert len(removed.rows) == 2 * len(POINTS) + 2
    real, both = (dict(zip(removed.columns, row, strict=True)) for row in removed.rows[-2:])
    urls = len(web) + len(archive)
    assert (real["URLs known"], real["it removes (%)"], real["they lose"]) == (len(web), percent(TAGS / len(web)), 0)
    assert (both["URLs known"], both["it loses"], both["they lose"]) == (urls, ITEMS // 2, 0)
    assert both["it removes (%)"] == percent((TAGS + 2 * ITEMS) / urls)
    assert both["they remove (%)"] == percent((TAGS + PRINTS) / urls)
    assert [row[0] for row in crawls.rows] == ["shop", "archive", "real sites together", "all together"]
    assert crawls.rows[2][1:] == crawls.rows[0][1:]
    assert crawls.rows[3][1] == urls
    assert "Under the seed's 16 %: archive." in report.differs
    growth = report.figures[1].panels[0].series
    assert growth[0].y[-1] == len(web)
    assert growth[1].x[-1] == found[0].with_.requests


def test_a_page_that_filters_cost_is_counted(web: RecordedWeb, whole: Complete, filtered: Course) -> None:
    points = [Point(1.0, len(web), ITEMS, removal(whole, []), removal(whole, [PRINT_FILTER]))]
    lossy = Filtered("shop", points, filtered, whole.course)
    assert lossy.missed == 0
    fewer = Course(1, 1.0, set(), np.array([1]), 1, 0, [], [])
    lossy = Filtered("shop", points, whole.course, fewer)
    assert lossy.missed == ITEMS
    report = filters.report([web], [lossy])
    assert [goal.met for goal in report.goals] == [False, False]
