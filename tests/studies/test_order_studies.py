"""The studies `useful` and `priority`: their figures are those of the crawls, and their sentences hold for them."""

from __future__ import annotations

import numpy as np
import pytest

from gossamer.lab.tables import Table
from gossamer.lab.webs.ragged import ragged
from gossamer.lab.webs.web import Facts, RecordedWeb
from gossamer.parse.rules import DocumentRule
from studies import priority, useful
from studies.reports.report import Report
from studies.study import Options
from studies.webs.made_up.university import university_web

SITE = "http://paper.test"
STORIES, OTHERS = 40, 60


def paper(*, orphans: int = 0) -> RecordedWeb:
    """A start page that names first what is of no use, and then stories; orphans are stories without a link."""
    others = [f"{SITE}/other/{n}" for n in range(OTHERS)]
    stories = [f"{SITE}/story/{n}" for n in range(STORIES + orphans)]
    urls = [f"{SITE}/", *others, *stories]
    links = [list(range(1, 1 + OTHERS + STORIES)), *([0] for _ in urls[1:])]
    rule = DocumentRule("paper.test", ("/story/{slug}",))
    fit = np.array(["/story/" in url for url in urls], np.int8)
    return RecordedWeb(
        Facts("paper", 1_800_000_000.0, 1_800_000_000.0, [0], rules=[rule]), urls, answer=["document"] * len(urls),
        links=ragged(links, np.int64), fit=fit, text_hash=[f"text {n}" for n in range(len(urls))],
    )  # fmt: skip


def column(table: Table, head: str) -> dict[str, object]:
    place = table.columns.index(head)
    return {str(row[1]): row[place] for row in table.rows}


def useful_of(web: RecordedWeb, monkeypatch: pytest.MonkeyPatch) -> Report:
    monkeypatch.setattr(useful, "ruled_webs", lambda _options: [web])
    return useful.run(Options(quick=True))


def test_the_useful_share_is_that_of_the_order_of_downloads(monkeypatch: pytest.MonkeyPatch) -> None:
    report = useful_of(paper(), monkeypatch)
    (shares,) = report.tables
    assert set(column(shares, "useful pages").values()) == {STORIES}
    assert set(column(shares, "requests").values()) == {1 + OTHERS + STORIES}
    found = column(shares, "useful, 5 % to 90 % found (%)")
    assert found["fit * breadth"] == 100.0, "stories come first once the start page is read"
    assert found["breadth"] < 50.0
    assert "Every strategy finds all useful pages." in report.ours
    assert report.goals[0].met


def test_useful_pages_that_nobody_finds_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "3 are out of reach of all" in useful_of(paper(orphans=3), monkeypatch).ours


def test_the_orders_are_compared_on_the_whole_web(monkeypatch: pytest.MonkeyPatch) -> None:
    web = university_web(hosts=4, pages=120, seed=3)
    monkeypatch.setattr(priority, "graph_webs", lambda _options: [web])
    report = priority.run(Options(quick=True))
    single = next(figure for figure in report.figures if figure.name == "single-webs")
    lengths = {series.label: len(series.x) for series in single.panels[0].series}
    assert min(lengths.values()) > 0.75 * len(web), "all hosts but the mirror, from one seed"
    (areas,) = report.tables
    shares = dict(zip(areas.columns[2:], areas.rows[0][2:], strict=True))
    assert shares["random"] < shares["backlinks"] <= 1.0
    assert "has learnt from" not in report.differs


def test_it_is_told_which_webs_the_network_knows() -> None:
    means = dict.fromkeys((priority.BEST, *priority.LIVE), 0.9)
    assert "has learnt from the graphs of itw66:" in priority.explained(means, ["itw66", "lazarus"])
    assert "better still" not in priority.explained(means, ["itw66", "lazarus"])
