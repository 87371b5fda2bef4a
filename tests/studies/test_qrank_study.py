"""Telling importance from URLs: on sites with a law that is known, so that it is known who must win."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gossamer.errors import UsageError
from gossamer.priority.qrank.learning import Schooling
from studies.qrank import study
from studies.qrank.importance import (
    MEAN,
    MEDIAN,
    OURS,
    OWN,
    OWN_MEDIAN,
    Site,
    in_both_forms,
    prepare,
    read_sites,
    score,
)
from studies.study import Options

WORDS = "green house river stone winter music paper bread".split()
HOW = Schooling(steps=150, batch=128)


def paths(count: int, seed: int) -> list[str]:
    luck = random.Random(seed)
    return [f"/{'/'.join(luck.choices(WORDS, k=luck.randint(1, 7)))}/{number}" for number in range(count)]


def short_is_good(path: str) -> float:
    return 1000 / len(path) ** 2


def long_is_good(path: str) -> float:
    return float(len(path) ** 2)


def site(name: str, law: Callable[[str], float], seed: int, count: int = 150) -> Site:
    found = paths(count, seed)
    ranks = np.array([law(path) for path in found])
    return Site(name, [f"https://www.{name}.org{path}" for path in found], ranks, np.zeros(count, np.int64))


def write_site(folder: Path, name: str, law: Callable[[str], float], seed: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows = "".join(f"{path}\t1\t1\t{law(path)}\n" for path in paths(150, seed))
    (folder / f"{name}.pages.tsv.gz").write_bytes(gzip.compress(rows.encode()))


def test_a_law_that_all_sites_share_is_told_on_a_site_never_seen() -> None:
    held, *others = [prepare(site(f"s{number}", short_is_good, number)) for number in range(4)]
    got = score(held, others, HOW)
    assert got.correlations[OURS] > 0.8
    assert got.deviations[OURS] < 0.6 * got.deviations[MEDIAN]


def test_a_site_with_a_law_of_its_own_is_told_by_its_own_crawl_only() -> None:
    held = prepare(site("odd", long_is_good, 9))
    got = score(held, [prepare(site(f"s{number}", short_is_good, number)) for number in range(3)], HOW)
    assert got.correlations[OURS] < -0.5
    assert got.correlations[OWN] > 0.8
    assert got.deviations[OWN] < got.deviations[OWN_MEDIAN] < got.deviations[OURS]


def test_what_is_tested_is_not_learnt_from() -> None:
    """Ranks by lot cannot be told by anybody who has not seen them."""
    luck = np.random.default_rng(3)
    noise = [site(f"n{number}", short_is_good, number, count=300) for number in range(3)]
    held, *others = [prepare(Site(one.name, one.urls, luck.random(300) + 0.1, one.folds)) for one in noise]
    got = score(held, others, HOW)
    assert all(abs(value) < 0.25 for value in got.correlations.values())


def test_the_mean_deviates_as_a_constant_does() -> None:
    """Two sites whose pages lie at 0 and 1 in equal parts: a mean of one half is wrong by one half everywhere."""
    ranks = np.array([1.0, 10.0] * 60)
    sites = [
        prepare(Site(name, site(name, short_is_good, 1, 120).urls, ranks, np.zeros(120, np.int64))) for name in "ab"
    ]
    assert score(sites[0], sites[1:], HOW).deviations[MEAN] == pytest.approx(0.5)


def test_hosts_of_a_file_of_many_are_held_out_as_a_whole(tmp_path: Path) -> None:
    lines = [f"http://host{number % 20}.example/{number}\t1\t1\t{number + 1}\n" for number in range(100)]
    (tmp_path / "many_url_pagerank.tsv").write_text("".join(lines))
    (many,) = read_sites([tmp_path])
    assert many.name == "many"
    folds: dict[str, set[int]] = {}
    for url, fold in zip(many.urls, many.folds.tolist(), strict=True):
        folds.setdefault(url.split("/")[2], set()).add(fold)
    assert len(folds) == 20
    assert all(len(found) == 1 for found in folds.values())
    assert len(set.union(*folds.values())) > 1


def test_half_of_the_index_pages_are_learnt_as_folders() -> None:
    urls = [f"https://a.org/{number}/index.html" for number in range(100)] + ["https://a.org/page.html"]
    both = in_both_forms(urls, seed=1)
    folders = [url for url in both if url.endswith("/")]
    assert 30 < len(folders) < 70
    assert both[-1] == "https://a.org/page.html"
    assert all(one in (url, url.removesuffix("index.html")) for one, url in zip(both, urls, strict=True))


def test_the_study_tests_sites_and_only_learns_from_further_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study, "Schooling", lambda seed: Schooling(steps=40, seed=seed))
    for number in range(2):
        write_site(tmp_path / "graph", f"site{number}", short_is_good, number)
    write_site(tmp_path / "graph" / "further", "teacher", short_is_good, 7)
    report, again = (study.run(Options(quick=True, webs=tmp_path)) for _ in range(2))
    assert report == again
    deviation, correlation = report.tables
    assert [row[0] for row in deviation.rows] == ["site0", "site1", "all sites"]
    assert [row[0] for row in correlation.rows] == ["site0", "site1", "all sites"]
    assert "1 further site" in report.data
    assert all(series.kind == "bars" for figure in report.figures for panel in figure.panels for series in panel.series)
    assert {goal.met for goal in report.goals} <= {True, False}


def test_without_data_the_study_says_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"NAME\.pages\.tsv\.gz .*--webs"):
        study.run(Options())
    with pytest.raises(UsageError, match=r"pages\.tsv\.gz"):
        study.run(Options(webs=tmp_path))


def test_a_file_without_ranks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x_url_pagerank.tsv").write_text("http://a/\t1\n")
    with pytest.raises(UsageError, match="no PageRank"):
        read_sites([tmp_path])
