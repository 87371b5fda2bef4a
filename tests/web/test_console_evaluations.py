"""How good results are, over time: what `gossamer evaluate` found is kept, compared and shown."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from console_kit import ConsoleUnderTest

from gossamer.cli.main import main
from gossamer.console.pages.evaluations import compare
from gossamer.data.folder import DataFolder
from gossamer.tables import evaluations
from gossamer.tables.evaluations import Evaluation, EvaluationResult, RankingResult, WorstQuery

HOSTILE = "<script>window.owned=1</script>"


def result(scores: dict[str, float], *rankings: str) -> EvaluationResult:
    mean = sum(scores.values()) / len(scores)
    worst = tuple(WorstQuery(query, f"words of {query} {HOSTILE}", score, 0) for query, score in scores.items())
    kept = tuple(
        RankingResult(name, {"nDCG@10": mean, "MRR": mean / 2}, scores, worst) for name in rankings or ("web",)
    )
    return EvaluationResult(len(scores), 0, kept, version="0.1.0")


@pytest.fixture(scope="module")
def evaluated(console: ConsoleUnderTest) -> ConsoleUnderTest:
    """A console of a crawl with some results."""
    database = DataFolder(console.data).open_database()
    evaluations.note(database, 1_790_000_000.0, "library", result({"q1": 0.5, "q2": 0.75}))
    evaluations.note(database, 1_790_086_400.0, "library", result({"q1": 1.0, "q2": 0.25, "q3": 0.5}, "web", "bm25"))
    evaluations.note(database, 1_790_000_000.0, f"old {HOSTILE}", result({"q1": 0.5}))
    database.close()
    return console


def test_the_last_run_is_compared_with_the_one_before() -> None:
    runs = [
        Evaluation(1.0, "x", result({"a": 0.5, "b": 0.5})),
        Evaluation(2.0, "x", result({"a": 0.1}, "bm25")),
        Evaluation(3.0, "x", result({"a": 0.75, "b": 0.25, "c": 1.0})),
    ]
    found = compare(runs, "web")
    assert found is not None
    assert (found.at, found.before_at, found.better, found.worse) == (3.0, 1.0, 1, 1)
    changes = {measure.name: measure.change for measure in found.measures}
    assert changes == pytest.approx({"nDCG@10": 2 / 3 - 0.5, "MRR": 1 / 3 - 0.25})
    assert [(one.query.id, one.change) for one in found.worst] == [("a", 0.25), ("b", -0.25), ("c", None)]


def test_a_first_run_has_nothing_to_be_compared_with() -> None:
    found = compare([Evaluation(1.0, "x", result({"a": 0.5}))], "web")
    assert found is not None and found.before_at is None
    assert [measure.change for measure in found.measures] == [None, None]
    assert compare([], "web") is None


def test_the_set_that_was_run_last_is_shown_with_its_worst_queries(evaluated: ConsoleUnderTest) -> None:
    page = evaluated.reader.get("/console/evaluations").text
    assert "0.5833" in page and "-0.0417" in page
    assert "words of q2" in page and "not found" in page
    assert ": 1 query better, 1 worse." in page
    assert "ranking=bm25" in page
    assert "2026-09" in page or "Sep" in page


def test_names_and_queries_are_text_and_never_markup(evaluated: ConsoleUnderTest) -> None:
    for page in (
        evaluated.reader.get("/console/evaluations").text,
        evaluated.reader.get("/console/evaluations", params={"set": f"old {HOSTILE}"}).text,
        evaluated.reader.get("/console/evaluations", params={"set": HOSTILE, "ranking": HOSTILE}).text,
    ):
        assert "<script>window" not in page


def test_the_chart_has_every_run_of_a_ranking(evaluated: ConsoleUnderTest) -> None:
    chart = evaluated.reader.get("/console/evaluations/chart.json?set=library&ranking=web").json()
    assert chart["at"] == [1_790_000_000.0, 1_790_086_400.0]
    assert chart["series"]["nDCG@10"] == pytest.approx([0.625, 0.58333333])
    chart = evaluated.reader.get("/console/evaluations/chart.json?set=library&ranking=bm25").json()
    assert len(chart["at"]) == 1
    assert evaluated.reader.get("/console/evaluations/chart.json?set=no").json()["at"] == []


def test_a_set_that_is_not_there_is_told(evaluated: ConsoleUnderTest) -> None:
    assert "There is no set with this name." in evaluated.reader.get("/console/evaluations?set=nothing").text


def queries_file(folder: Path, url: str) -> Path:
    path = folder / "queries.json"
    asked = [
        {"id": "1", "text": "gossamer meadow", "relevant": [url]},
        {"id": "2", "text": "xyzzy", "relevant": [url]},
    ]
    path.write_text(json.dumps({"queries": asked}))
    return path


def test_what_the_command_found_is_kept_and_shown(
    crawled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = Path(shutil.copytree(crawled, tmp_path / "data"))
    db = DataFolder(data).read()
    ((url,),) = db.execute("SELECT url FROM urls WHERE url LIKE '%/start.html'")
    db.close()
    asked = str(queries_file(tmp_path, url))
    assert main(["evaluate", asked, "--data", str(data), "--against", "bm25"]) == 0
    assert main(["evaluate", asked, "--data", str(data), "--no-keep"]) == 0
    assert main(["evaluate", asked, "--data", str(data), "--limit-queries", "1"]) == 0
    capsys.readouterr()
    db = DataFolder(data).read()
    kept = {name: runs for name, runs, _ in evaluations.names(db)}
    assert sorted(kept.values()) == [1, 1]
    (name,) = [name for name in kept if "(1 query)" not in name]
    (run,) = evaluations.history(db, name)
    db.close()
    assert [one.ranking for one in run.result.rankings][1] == "bm25"
    web = run.result.rankings[0]
    assert web.per_query == {"1": 1.0, "2": 0.0} and web.measures["nDCG@10"] == 0.5
    assert (web.worst[0].text, web.worst[0].first_relevant) == ("xyzzy", 0)


def test_an_evaluation_is_not_lost_because_it_cannot_be_kept(
    crawled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = Path(shutil.copytree(crawled, tmp_path / "data"))
    db = DataFolder(data).open_database()
    ((url,),) = db.execute("SELECT url FROM urls WHERE url LIKE '%/start.html'")
    db.execute("DROP TABLE evaluations")
    db.close()
    assert main(["evaluate", str(queries_file(tmp_path, url)), "--data", str(data)]) == 0
    said = capsys.readouterr()
    assert "0.5000" in said.out and "not stored" in said.err
