"""The study of splits: measures that were counted by hand, curves that are distributions, same input, same report."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.lab.webs.ragged import ragged
from gossamer.lab.webs.web import NOWHERE, Facts, RecordedWeb
from gossamer.partition.assignment import ROOT, Assignment
from gossamer.partition.links import SiteGraph
from studies.partition import study as partition
from studies.partition.findings import RULES, cumulative
from studies.partition.mended_crawl import crawl_mending
from studies.partition.splits import SHOWN, SiteSplits, measure, site_graphs
from studies.reports.report import Report
from studies.study import Options
from studies.webs.catalogue import SITES

HOME = "http://a.test/"


def web_of(
    links: dict[str, list[str]], answers: dict[str, str] | None = None, moved: dict[str, str] | None = None
) -> RecordedWeb:
    """A web by its links; what is not said to answer otherwise is a page."""
    urls = list(dict.fromkeys([*links, *(target for targets in links.values() for target in targets)]))
    rows = {url: row for row, url in enumerate(urls)}
    redirect = np.full(len(urls), NOWHERE, np.int64)
    for url, target in (moved or {}).items():
        redirect[rows[url]] = rows[target]
    return RecordedWeb(
        Facts("a", 0.0, 0.0, [0]),
        urls,
        answer=[(answers or {}).get(url, "document") for url in urls],
        links=ragged([[rows[target] for target in links.get(url, [])] for url in urls], np.int64),
        redirect=redirect,
    )


def graph_of(links: dict[str, list[str]]) -> SiteGraph:
    [(_, graph)] = site_graphs(web_of(links), least=1)
    return graph


def two_directories(pages: int = 50) -> dict[str, list[str]]:
    """Home page, and two directories whose first page links to all others of its own."""
    links = {HOME: [f"{HOME}x/0", f"{HOME}y/0"]}
    for name in "xy":
        links[f"{HOME}{name}/0"] = [HOME, *(f"{HOME}{name}/{number}" for number in range(1, pages))]
    return links


@pytest.fixture(scope="module")
def even() -> SiteSplits:
    return measure("even", graph_of(two_directories()))


@pytest.fixture(scope="module")
def made_up() -> Report:
    return partition.run(Options(quick=True))


def test_two_even_directories_measure_as_counted_by_hand(even: SiteSplits) -> None:
    # 101 pages; each of the two crawlers fetches 50 and the home page.
    seed = even.split(2).seed
    assert (seed.coverage, seed.overlap, seed.acceleration) == (1.0, 1 / 102, 101 / 51)
    ours = even.split(2).paths
    assert (ours.coverage, ours.overlap, ours.acceleration) == (1.0, 0.0, 101 / 51)


def test_a_third_crawler_is_idle_by_the_seeds_rule_and_busy_by_ours(even: SiteSplits) -> None:
    assert even.split(3).seed.acceleration == even.split(2).seed.acceleration
    assert even.split(3).paths.acceleration > 2.7
    assert even.picked_by_seed == 2
    assert even.picked > 2
    assert even.picked_live == 4


def test_links_in_own_path_and_key_paths_are_counted_by_page_and_path(even: SiteSplits) -> None:
    facts = even.facts
    # The home page's two links leave its path; of each directory's 50 one does. All other pages have none.
    assert facts.same_path == pytest.approx((0.0 + 49 / 50 + 49 / 50) / 3)
    assert (facts.paths, facts.key_paths) == (3, 2)
    assert (facts.pages, facts.links) == (101, 102)


@pytest.mark.parametrize("rule", RULES)
def test_one_part_is_one_crawler(even: SiteSplits, rule: str) -> None:
    alone = RULES[rule](even.split(1))
    assert (alone.overlap, alone.coverage, alone.acceleration) == (0.0, 1.0, 1.0)
    assert round(alone.total, 2) == 0.45


def test_what_only_another_partys_page_links_to_is_lost_by_the_seeds_rule_alone() -> None:
    links = two_directories()
    links[f"{HOME}x/1"] = [f"{HOME}y/hidden/{number}" for number in range(40)]
    found = measure("hidden", graph_of(links)).split(2)
    assert found.seed.coverage == pytest.approx(101 / 141)
    assert found.seed.total == 0.0, "a split below the least coverage is unfit"
    assert found.paths.coverage == found.urls.coverage == 1.0


def test_a_split_made_early_still_covers_the_whole_site(even: SiteSplits) -> None:
    assert [first.parts for first in even.first] == list(SHOWN)
    for first in even.first:
        assert first.live.coverage == first.paths.coverage == 1.0
        assert first.live.overlap == 0.0
        assert 1.0 <= first.live.acceleration <= first.parts


def test_an_early_split_of_a_site_that_is_mostly_unseen_is_by_urls() -> None:
    wide = {HOME: [f"{HOME}{number}/" for number in range(100)]}
    assert {first.rule for first in measure("wide", graph_of(wide)).first} == {"urls"}


def test_a_plan_that_gives_all_to_one_part_is_mended_on_the_way() -> None:
    links = {HOME: [f"{HOME}d{number % 7}/{number}" for number in range(2000)]}
    one_sided = Assignment(2, {ROOT: (0,)})
    never, mended = (crawl_mending(graph_of(links), one_sided, threshold) for threshold in (9.0, 0.25))
    assert (never.acceleration, never.times) == (1.0, 0)
    assert mended.times >= 1
    assert mended.acceleration > 1.5
    assert mended.moved > 0.3


def test_the_graph_has_pages_only_and_links_go_through_redirects() -> None:
    old, new, gone, far = f"{HOME}old", f"{HOME}new", f"{HOME}gone", "http://b.test/"
    web = web_of(
        {HOME: [old, gone, far], old: [], new: [HOME], far: [HOME]},
        {old: "redirect", gone: "not_found"},
        {old: new},
    )
    graphs = dict(site_graphs(web, least=1))
    assert set(graphs) == {"a.test", "b.test"}, "sites of one web are told apart"
    graph = graphs["a.test"]
    assert graph.urls == [HOME, new]
    assert list(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)) == [(0, 1), (1, 0)]


def test_sites_that_are_too_small_are_left_out() -> None:
    assert not list(site_graphs(web_of(two_directories(pages=3))))


@given(st.lists(st.floats(0.0, 10.0), min_size=1, max_size=60), st.sampled_from([None, (0.0, 10.0)]))
def test_curves_are_shares_of_sites_and_reach_one(values: list[float], ends: tuple[float, float] | None) -> None:
    x, y = cumulative(values, ends)
    assert x == sorted(x)
    assert y == sorted(y)
    assert (y[0], y[-1]) == (0.0, 1.0)
    assert (x[0], x[-1]) == (ends or (min(values), max(values)))
    for place, share in zip(x[1:-1], y[1:-1], strict=True):
        assert share == pytest.approx(sum(value <= place for value in values) / len(values))


def test_figures_show_every_measure_by_both_rules(made_up: Report) -> None:
    seed, ours, over_parts = made_up.figures
    for figure in (seed, ours):
        assert [panel.title for panel in figure.panels] == ["total measure", "acceleration", "coverage", "overlap"]
        for panel in figure.panels:
            assert [series.label for series in panel.series] == [f"{parts} parts" for parts in SHOWN]
            assert all(series.y[-1] == 1.0 for series in panel.series)
    known, first = over_parts.panels[0].series[:4], over_parts.panels[0].series[4:]
    assert [list(series.x) for series in known] == [list(range(1, 11))] * 4
    assert [list(series.x) for series in first] == [list(SHOWN)] * 2


def test_the_same_seed_gives_the_same_report_and_made_up_data_is_called_so(made_up: Report) -> None:
    assert partition.run(Options(quick=True)) == made_up
    assert "made-up" in made_up.data
    assert len(made_up.goals) == 2


def test_the_quick_run_asks_for_sites_that_are_known() -> None:
    assert set(partition.QUICK) <= {source.name for source in SITES}
