"""The study of growth: the fit finds constants that are known, and the load is what it says it is."""

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import GossamerError
from studies.growth import study as growth
from studies.growth import table_growth
from studies.growth.cycle_model import CYCLE, SEED_RATIO, fit_cycle, fit_logarithm, table_share
from studies.growth.findings import Findings, find
from studies.growth.frontier_load import BATCH, LINKS, Load
from studies.growth.made_up_frontier import VISITED, fill, make_sites
from studies.growth.page_reading import reading_cost
from studies.growth.table_growth import Measured, Work, filled, fitting, kept_at
from studies.study import Options

SIZES = (10_000, 100_000, 1_000_000)


@given(st.floats(0.001, 10), st.floats(10, 5000), st.lists(st.floats(-5, 5), min_size=2, max_size=8))
def test_the_fit_finds_the_constants_of_the_model(per_url, per_page, noise):
    # the same noise hits all sizes of a round: it moves c₂ and leaves c₁ alone
    costs = [[per_page + per_url * size / CYCLE + moved for moved in noise] for size in SIZES]
    found = fit_cycle(SIZES, costs, seed=1)
    middle = sum(noise) / len(noise)
    assert found.per_url == pytest.approx(per_url, rel=1e-4)
    assert found.per_page == pytest.approx(per_page + middle, rel=1e-6)
    assert found.ratio == pytest.approx(found.per_url / found.per_page)
    assert found.misfit < 1e-9
    low, high = found.per_page_interval
    assert per_page + min(noise) - 1e-6 <= low <= high <= per_page + max(noise) + 1e-6
    assert found.cost(2_000_000) == pytest.approx(found.per_page + 100 * found.per_url)


def test_what_a_page_costs_besides_goes_into_the_constant_of_the_page():
    costs = [[200 + 0.4 * size / CYCLE] * 3 for size in SIZES]
    alone, whole = fit_cycle(SIZES, costs, 1), fit_cycle(SIZES, costs, 1, besides=1800)
    assert (alone.per_page, whole.per_page) == (pytest.approx(200), pytest.approx(2000))
    assert alone.per_url == pytest.approx(whole.per_url) == pytest.approx(0.4)


def test_an_interval_is_wide_where_rounds_differ_between_sizes():
    steady = [[100.0, 100.0, 100.0, 100.0], [110.0, 110.0, 110.0, 110.0]]
    uneven = [[100.0, 60.0, 140.0, 100.0], [110.0, 190.0, 30.0, 110.0]]
    for costs, certain in ((steady, True), (uneven, False)):
        low, high = fit_cycle([0, CYCLE], costs, 1).per_url_interval
        assert low <= 10 + 1e-9
        assert high >= 10 - 1e-9
        assert (low > 0) is certain


def test_a_logarithm_is_told_from_a_line():
    costs = [100 + 20 * power for power in (4, 5, 6)]
    found = fit_logarithm(SIZES, costs)
    assert (found.start, found.per_decade) == (pytest.approx(100), pytest.approx(20))
    assert found.cost(10_000_000) == pytest.approx(240)
    assert found.misfit < 1e-9 < fit_cycle(SIZES, [[cost] for cost in costs], 1).misfit


def test_the_seeds_ratio_by_its_formula():
    # 1,000,000 · .0013 = 1,300 against 20,000 pages
    assert table_share(SEED_RATIO, 1_000_000) == pytest.approx(1300 / 21_300)
    assert table_share(0.0, 1_000_000) == 0


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("growth")


def count(path: Path, table: str) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def test_a_filled_database_is_a_crawl_of_that_size(store):
    path = filled(store, 6000, lambda _: None)
    sites = make_sites(6000)
    urls = sum(site.size for site in sites)
    visited = sum(len(range(0, site.size, VISITED)) for site in sites)
    assert count(path, "urls") == urls
    assert count(path, "queue") == urls - visited
    assert count(path, "clusters") == count(path, "texts") == visited
    assert count(path, "sites") == len(sites) == 1000


def test_a_filled_database_is_made_once(store):
    told: list[str] = []
    path = filled(store, 5000, told.append)
    assert filled(store, 5000, told.append) == path
    assert len(told) == 1
    assert {file.suffix for file in store.iterdir()} == {".db"}


def test_a_batch_records_pages_and_enters_only_new_urls(store, tmp_path):
    path = tmp_path / "work.db"
    path.write_bytes(filled(store, 6000, lambda _: None).read_bytes())
    before = count(path, "urls"), count(path, "clusters")
    load = Load(path, 6000)
    steps = [load.step() for _ in range(2)]
    load.close()
    assert count(path, "clusters") - before[1] == 2 * BATCH
    assert count(path, "urls") == steps[-1].urls
    new = steps[-1].urls - before[0]
    assert new / (2 * BATCH * LINKS) == pytest.approx(0.09, abs=0.01)
    assert set(steps[0].cpu) == set(steps[0].wall) == {"take", "report", "release"}


def test_sizes_that_the_disk_has_no_room_for_are_left_out(tmp_path, monkeypatch):
    class Usage:
        free = 10_000_000

    monkeypatch.setattr(table_growth.shutil, "disk_usage", lambda _: Usage)
    assert fitting(tmp_path, (10_000_000, 1000)) == [1000]
    assert fitting(tmp_path, (12_000,)) == []
    kept_at(tmp_path, 12_000).touch()  # only the copy needs room now
    assert fitting(tmp_path, (12_000,)) == [12_000]


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> tuple[Findings, Path]:
    """What is found of two small sizes, and where their databases are kept."""
    cache = tmp_path_factory.mktemp("cache")
    return find(Options(quick=True, cache=cache), (5000, 6000), 2 * BATCH, 3), cache / "growth"


@pytest.mark.long
def test_every_size_is_measured_while_it_grows(found):
    measured = found[0].measured
    assert [one.size for one in measured] == [5000, 6000]
    for one in measured:
        assert one.pages == 2 * BATCH
        assert one.urls > one.size
        assert one.cost == pytest.approx(sum(one.calls.values()))


def test_kept_databases_stay_as_they_were_filled(found, tmp_path):
    fill(tmp_path / "fresh.db", 5000)
    kept = filled(found[1], 5000, lambda _: None)
    assert count(kept, "urls") == count(tmp_path / "fresh.db", "urls")
    assert count(kept, "workers") == 0
    assert {path.suffix for path in found[1].iterdir()} == {".db"}  # no copies are left behind


def test_a_process_that_fails_ends_the_measurement(tmp_path):
    (tmp_path / "broken.db").write_bytes(b"no database")
    with pytest.raises((EOFError, GossamerError)):
        table_growth._in_turns([tmp_path / "broken.db"], [5000], Work(pages=BATCH))


def test_reading_a_page_costs_something():
    assert reading_cost(3, 1) > 10


def findings(costs: dict[int, float], reading: float = 1800.0) -> Findings:
    """As if these had been measured, in three rounds."""
    measured = [
        Measured(size, size, [cost - 1, cost, cost + 1], {"take": 1, "report": cost - 2, "release": 1}, 2 * cost,
                 10**8, 10**8, 300 * size)
        for size, cost in costs.items()
    ]  # fmt: skip
    rounds = [one.cpu for one in measured]
    return Findings(
        measured, [], reading, fit_cycle(list(costs), rounds, 1), fit_cycle(list(costs), rounds, 1, reading),
        fit_logarithm(list(costs), list(costs.values())), 10**10,
    )  # fmt: skip


def test_a_table_that_costs_nothing_meets_all_goals():
    report = growth.report(findings({10_000: 200.0, 1_000_000: 200.0}))
    assert [goal.met for goal in report.goals] == [True, True, True]
    assert "no growth is certain" in report.ours


def test_a_table_that_costs_more_than_the_seeds_is_said_to():
    # c₁ = 2 µs a URL and cycle: 100 µs more at a million; c₁/c₂ = .01, with the reading .001
    report = growth.report(findings({10_000: 201.0, 1_000_000: 300.0}))
    assert "For the frontier alone it is worse than the seed's" in report.differs
    assert [goal.met for goal in report.goals] == [False, True, True]
    constants = {row[0]: row for row in report.tables[1].rows}
    assert constants["frontier alone"][1:4] == (pytest.approx(2), pytest.approx(200), pytest.approx(0.01))
    assert constants["frontier alone"][5] == pytest.approx(1 / 3)  # 100 of 300 µs
    assert constants["frontier and reading"][3] == pytest.approx(0.001)


def test_a_cost_that_grows_as_the_table_does_lets_the_product_stand_still():
    report = growth.report(findings({10_000: 100.0, 1_000_000: 11_000.0}, reading=0.0))
    assert not report.goals[2].met


def test_the_report_of_a_real_measurement(found):
    report = growth.report(found[0])
    assert [row[0] for row in report.tables[0].rows] == [5000, 6000]
    assert [len(panel.series) for panel in report.figures[0].panels] == [4, 4]
    assert "left out" not in report.data.lower()


def test_what_was_left_out_is_named():
    made = msgspec.structs.replace(findings({10_000: 200.0, 100_000: 201.0}), left_out=[1_000_000])
    assert "1,000,000 URLs" in growth.report(made).data
