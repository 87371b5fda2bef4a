"""The crawler that only revisits, on changes that are known, and the study made with it."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from gossamer.errors import UsageError
from gossamer.lab.webs.ragged import nothing, ragged
from gossamer.lab.webs.web import Facts, RecordedWeb
from gossamer.revisit.buckets import DAY, YEAR
from gossamer.revisit.change import estimator
from studies.freshness import study
from studies.freshness.change_history import History, history_of, poisson_history, read_history
from studies.freshness.revisiting import CEILING, FLOOR, Crawler, Outcome, Trial, Truth, never
from studies.freshness.trials import check_closed_form, poisson_collection, recorded_collection
from studies.study import Options


def history_file(path: Path, lines: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))
    return path


def next_change(history: History, name: str, after: float) -> float:
    return float(history.next_changes(np.array([history.names.index(name)]), after)[0])


def test_a_history_is_read_from_a_file(tmp_path: Path) -> None:
    lines = ["500\tM\ta", "100\tA\ta", "200\tA\tb", "300\tM\ta", "400\tD\tb", "600\tA\tb", "900\tM\tb", "950\tD\tz"]
    history = read_history(history_file(tmp_path / "x.tsv.gz", lines), end=900)
    assert history.names == ["a", "b", "b"]
    assert history.born.tolist() == [100, 200, 600]
    assert history.died.tolist() == [900, 400, 900]
    assert [next_change(history, "a", after) for after in (100, 300, 500)] == [300, 500, np.inf]
    assert next_change(history, "b", 200) == np.inf
    assert history.mean_rates(100, 900).tolist() == [2 / DAY, 0, 0]


@pytest.mark.parametrize("lines", [[], ["100\tA"], ["soon\tA\ta"]])
def test_a_file_that_is_no_history_is_refused(tmp_path: Path, lines: list[str]) -> None:
    with pytest.raises(UsageError, match=r"x\.tsv\.gz"):
        read_history(history_file(tmp_path / "x.tsv.gz", lines))


def test_the_history_of_a_recorded_web_has_its_pages_from_their_birth_on() -> None:
    web = RecordedWeb(
        Facts("small", started_at=1000, ended_at=2000, seeds=[0]),
        ["http://a/", "http://a/missing", "http://a/later", "http://a/never"],
        answer=["document", "not_found", "document", "document"],
        links=nothing(4, np.int64),
        born=np.array([-np.inf, -np.inf, 1500, 2500]),
        changes=ragged([[900, 1100, 1200], [], [1600], []], np.float64),
    )
    history = history_of(web)
    assert history.names == ["http://a/", "http://a/later"]
    assert (history.born.tolist(), history.died.tolist()) == ([1000, 1500], [2000, 2000])
    assert history.changes == 3
    assert [next_change(history, name, 0) for name in history.names] == [1100, 1600]


@given(step=st.integers(1, 5), pages=st.integers(1, 12), seed=st.integers(0, 99))
@settings(max_examples=30)
def test_each_nth_page_keeps_its_changes(step: int, pages: int, seed: int) -> None:
    whole = poisson_history(np.full(pages, 5 / YEAR), YEAR, seed)
    part = whole.every(step)
    assert part.names == whole.names[::step]
    kept = np.arange(0, pages, step)
    for after in (0.0, YEAR / 3):
        expected = whole.next_changes(kept, after)
        np.testing.assert_allclose(part.next_changes(np.arange(len(kept)), after), expected, atol=1e-3)


def one_change(at: float) -> History:
    return read_like({"page": [at]}, end=100 * DAY)


def read_like(changes: dict[str, list[float]], end: float) -> History:
    web = RecordedWeb(
        Facts("x", started_at=0, ended_at=end, seeds=[]),
        list(changes),
        answer=["document"] * len(changes),
        links=nothing(len(changes), np.int64),
        changes=ragged(changes.values(), np.float64),
    )
    return history_of(web)


def test_without_visits_a_copy_is_stale_from_its_first_change_on() -> None:
    found = never(Trial(one_change(60 * DAY), counted=20 * DAY, end=100 * DAY, period=10))
    assert found.freshness == pytest.approx(40 / 80)
    assert found.age == pytest.approx(40 * 40 / 2 / 80)
    assert found.visits == 0


def test_a_copy_is_stale_from_a_change_to_the_next_visit() -> None:
    """One page, a visit every ten days: the change on day 33 is seen on day 40."""
    trial = Trial(one_change(33 * DAY), counted=0, end=100 * DAY, period=10, renew=False, spread=0)
    found = Crawler(trial, "uniform", Truth()).run()
    assert found.visits == 10
    assert found.found == pytest.approx(1 / 10)
    assert found.freshness == pytest.approx(93 / 100)
    assert found.age == pytest.approx(7 * 7 / 2 / 100)


def test_all_contestants_get_the_same_visits() -> None:
    collection = poisson_collection(pages=40, learn=1, count=1, seed=3)
    trial = collection.trial(10, DAY, seed=1)
    learned = Crawler(trial, "age", estimator("gamma", "age", FLOOR, CEILING)).run()
    known = Crawler(trial, "age", Truth()).run()
    assert abs(learned.visits - known.visits) <= 40


def test_who_knows_the_rates_is_fresher_than_uniform_visits_and_less_old() -> None:
    trial = poisson_collection(pages=300, learn=0.1, count=1, seed=2).trial(14, DAY, seed=1)
    uniform, fresh, young = (Crawler(trial, policy, Truth()).run() for policy in ("uniform", "freshness", "age"))
    assert fresh.freshness > uniform.freshness + 0.01
    assert young.age < uniform.age
    assert young.age < fresh.age


@pytest.mark.parametrize("interval", [3, 30])
def test_measured_freshness_and_age_agree_with_the_closed_forms(interval: float) -> None:
    """Age(λ, t) is also integrated here by small steps: the closed form is not trusted to be the integral."""
    history = poisson_collection(pages=400, learn=0.5, count=1, seed=4).history
    assert history.rates is not None
    check = check_closed_form(history, interval)
    assert max(one.errors for one in check.measures) < 4
    assert check.freshness.found == pytest.approx(check.freshness.expected, rel=0.02)
    assert check.mean_age.found == pytest.approx(check.mean_age.expected, rel=0.03)
    steps = 4000
    t = interval * DAY
    x = (np.arange(steps) + 0.5) * t / steps
    rates = history.rates[:, None]
    integral = np.sum(rates * np.exp(-rates * x) * (t - x), axis=1) * t / steps
    assert check.last_age.expected == pytest.approx(integral.mean() / DAY, rel=1e-4)
    assert check.last_age.found == pytest.approx(integral.mean() / DAY, rel=0.03)


def test_of_a_short_history_half_counts(tmp_path: Path) -> None:
    lines = [f"{day * 86400}\t{'A' if day == 1 else 'M'}\tpage" for day in range(1, 102, 10)]
    collection = recorded_collection(history_file(tmp_path / "short.tsv.gz", lines))
    assert (collection.name, collection.real) == ("short", True)
    assert collection.counted == 51 * DAY


@pytest.fixture(scope="module")
def made_up() -> study.Findings:
    """What the study finds without data, on fewer pages than it takes."""
    with pytest.MonkeyPatch.context() as patch:
        shorten(patch)
        return study.measure(Options(quick=True))


def shorten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(study, "QUICK_PERIODS", (30.0,))
    patch.setattr(study, "CHECKED", (30.0,))
    patch.setattr(study, "poisson_collection", lambda _pages, _l, _c, seed: poisson_collection(50, 0.5, 0.5, seed))


def test_the_study_compares_all_policies_on_both_kinds_of_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made_up: study.Findings
) -> None:
    shorten(monkeypatch)
    luck = np.random.default_rng(1)
    moments = np.sort(luck.integers(0, int(YEAR), 400))
    lines = [f"{when}\tM\tfolder/{page}" for when, page in zip(moments, luck.integers(0, 40, 400), strict=True)]
    history_file(tmp_path / "history" / "site.tsv.gz", lines)
    findings = study.measure(Options(quick=True, webs=tmp_path))
    assert [one for one in findings.results if one.collection == "poisson"] == made_up.results, "same seed, same result"
    report = study.report(findings)
    tables = {table.name: table for table in report.tables}
    for name in ("site", "poisson"):
        rows = {(row[0], row[1]): row[2:] for row in tables[f"{name}-freshness"].rows}
        assert {policy for policy, _ in rows} == {"none", "uniform", "proportional", "freshness", "age"}
        assert {rates for policy, rates in rows if policy == "age"} == {"true", "gamma", "steps"}
        assert all(0 < float(value or 0) <= 100 for row in rows.values() for value in row)
    assert "site" in report.data
    assert all(panel.log_x for figure in report.figures for panel in figure.panels)
    assert [len(figure.panels) for figure in report.figures] == [2, 2, 2]


def test_without_webs_the_study_has_made_up_pages_alone_and_says_so(made_up: study.Findings) -> None:
    report = study.report(made_up)
    assert "No history of a real site" in report.data
    assert all(len(figure.panels) == 1 for figure in report.figures)


def test_a_policy_that_loses_too_much_by_learning_is_named(made_up: study.Findings) -> None:
    bad = Outcome(freshness=0.01, age=9.0, expected=0.1, visits=1, found=1.0)
    results = [replace(one, outcome=bad) if one.rates == "gamma" else one for one in made_up.results]
    report = study.report(replace(made_up, results=results))
    assert "`age` with `gamma`, Poisson pages, a visit every 30 days" in report.differs
    assert [goal.met for goal in report.goals if "gamma" in goal.text] == [False, False]
