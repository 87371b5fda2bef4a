"""What readers look for, and results of evaluations: counted right, bounded, and nothing about anybody."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.data.folder import DataFolder
from gossamer.data.opening import open_frontier
from gossamer.database.database import Database
from gossamer.search.results import Request, Results, ShardsAnswered
from gossamer.serving.asked import StoredAsked
from gossamer.settings import Settings
from gossamer.tables import asked, evaluations
from gossamer.tables.asked import DAY, AskedQuery, DayVolume, Times, normalised
from gossamer.tables.evaluations import EvaluationResult, RankingResult, WorstQuery
from gossamer.testing import FakeClock

TODAY = 19_675


# -- the table ------------------------------------------------------------------------------------


def test_queries_of_several_days_add_up(db: Database) -> None:
    asked.record(db, TODAY - 1, {"rocket": Times(3), "zebra": Times(1, 1)})
    asked.record(db, TODAY, {"rocket": Times(2), "zebra": Times(4, 4), "moon": Times(1)})
    asked.record(db, TODAY, {"rocket": Times(1, 1)})
    assert asked.top(db, TODAY - 6, TODAY) == [
        AskedQuery("rocket", 6, 1), AskedQuery("zebra", 5, 5), AskedQuery("moon", 1, 0)
    ]  # fmt: skip
    assert asked.top_in_vain(db, TODAY - 6, TODAY) == [AskedQuery("zebra", 5, 5), AskedQuery("rocket", 6, 1)]
    assert asked.top(db, TODAY - 1, TODAY - 1, limit=1) == [AskedQuery("rocket", 3, 0)]


def test_the_volume_of_a_window_has_every_day_of_it(db: Database) -> None:
    asked.record(db, TODAY - 2, {"rocket": Times(3, 1), "zebra": Times(1, 1)})
    assert asked.volume(db, TODAY - 2, TODAY) == [
        DayVolume(TODAY - 2, 4, 2, 2), DayVolume(TODAY - 1, 0, 0, 0), DayVolume(TODAY, 0, 0, 0)
    ]  # fmt: skip


def test_a_full_day_counts_only_what_it_knows_and_prefers_what_is_asked_most(db: Database) -> None:
    assert asked.record(db, TODAY, {"known": Times(1)}, most=3) == 0
    left = asked.record(db, TODAY, {"known": Times(1), "a": Times(1), "b": Times(5), "c": Times(2)}, most=3)
    assert left == 1
    assert {row.query: row.times for row in asked.top(db, TODAY, TODAY)} == {"known": 2, "b": 5, "c": 2}
    assert asked.record(db, TODAY, {f"new {n}": Times(1) for n in range(600)}, most=3) == 600
    assert asked.record(db, TODAY + 1, {"a": Times(1)}, most=3) == 0


def test_days_older_than_the_limit_are_deleted(db: Database) -> None:
    asked.record(db, TODAY - asked.KEPT_DAYS - 1, {"old": Times(1)})
    asked.record(db, TODAY - asked.KEPT_DAYS, {"kept": Times(1)})
    asked.record(db, TODAY, {"new": Times(1)})
    assert {row[0] for row in db.execute("SELECT query FROM asked")} == {"kept", "new"}


@pytest.mark.parametrize(
    ("typed", "counted"),
    [
        ("  Rocket\t ENGINE ", "rocket engine"),
        ("cats OR Dogs", "cats OR dogs"),
        ("Ракета", "ракета"),
        ("e\u0301te\u0301", "été"),
        ("a\x00b\ud800c\u2028d", "a b c d"),
        ("x" * 500, "x" * 200),
        (" \n ", ""),
    ],
)
def test_queries_are_counted_under_one_spelling_that_every_database_takes(
    db: Database, typed: str, counted: str
) -> None:
    assert normalised(typed) == counted
    assert normalised(counted) == counted
    asked.record(db, TODAY, {normalised(typed): Times(1)})
    assert asked.top(db, TODAY, TODAY)[0].query == counted


# -- on the way there -----------------------------------------------------------------------------


def results(query: str, total: int = 1, page: int = 1, shards: ShardsAnswered | None = None) -> Results:
    return Results(request=Request(query=query, page=page), total=total, hits=(), pages=1, shards=shards)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(TODAY * DAY + 100)


@pytest.fixture
def stored(tmp_path: Path, clock: FakeClock) -> StoredAsked:
    folder = DataFolder(tmp_path / "data")
    folder.create()
    open_frontier(folder, Settings()).db.close()
    return StoredAsked(folder, clock, pause=3600.0)


def counted(stored: StoredAsked, since: int = TODAY) -> dict[str, tuple[int, int]]:
    stored.write()
    db = stored._folder.read()
    try:
        return {row.query: (row.times, row.in_vain) for row in asked.top(db, since, TODAY + 9)}
    finally:
        db.close()


def test_a_search_counts_once_and_one_in_vain_twice_over(stored: StoredAsked) -> None:
    for query, total in (("Rocket", 3), ("rocket ", 3), ("zebra", 0), ("", 0)):
        stored.answered(results(query, total), "page")
    assert counted(stored) == {"rocket": (2, 0), "zebra": (1, 1)}
    stored.close()


def test_turning_the_page_is_not_asking_again(stored: StoredAsked) -> None:
    stored.answered(results("rocket"), "page")
    stored.answered(results("rocket", page=2), "page")
    assert counted(stored) == {"rocket": (1, 0)}
    stored.close()


def test_what_a_part_of_the_index_could_not_answer_was_not_in_vain(stored: StoredAsked) -> None:
    stored.answered(results("rocket", 0, shards=ShardsAnswered(2, 1)), "api")
    assert counted(stored) == {"rocket": (1, 0)}
    stored.close()


def test_searches_around_midnight_belong_to_their_days(stored: StoredAsked, clock: FakeClock) -> None:
    stored.answered(results("late"), "page")
    clock.advance(DAY)
    stored.answered(results("early"), "page")
    assert counted(stored, TODAY + 1) == {"early": (1, 0)}
    assert set(counted(stored, TODAY)) == {"early", "late"}
    stored.close()


def test_what_cannot_be_written_now_is_written_later(stored: StoredAsked, tmp_path: Path) -> None:
    file = tmp_path / "data" / "frontier.db"
    away = file.rename(tmp_path / "away.db")
    stored.answered(results("rocket"), "page")
    assert stored.write() == 0
    stored.answered(results("rocket"), "page")
    away.rename(file)
    assert stored.write() == 1
    assert counted(stored) == {"rocket": (2, 0)}


def test_the_end_of_the_server_writes_what_is_left_and_counts_nothing_more(stored: StoredAsked) -> None:
    stored.answered(results("rocket"), "page")
    stored.close()
    stored.answered(results("zebra"), "page")
    assert counted(stored) == {"rocket": (1, 0)}


# -- evaluations ----------------------------------------------------------------------------------


def evaluation(ndcg: float, *rankings: str) -> EvaluationResult:
    worst = (WorstQuery("1", "opening <hours>", ndcg, 3),)
    kept = tuple(RankingResult(name, {"nDCG@10": ndcg}, {"1": ndcg}, worst) for name in rankings or ("web",))
    return EvaluationResult(queries=1, left_out=0, rankings=kept, version="0.1.0")


def test_runs_of_a_set_are_kept_in_order_of_time(db: Database) -> None:
    evaluations.note(db, 200.0, "library", evaluation(0.5, "web", "bm25"))
    evaluations.note(db, 100.0, "library", evaluation(0.25))
    evaluations.note(db, 150.0, "news", evaluation(1.0))
    assert evaluations.names(db) == [("library", 2, 200.0), ("news", 1, 150.0)]
    runs = evaluations.history(db, "library")
    assert [(run.at, run.result.rankings[0].measures) for run in runs] == [
        (100.0, {"nDCG@10": 0.25}), (200.0, {"nDCG@10": 0.5})
    ]  # fmt: skip
    assert evaluations.rankings(runs) == ["web", "bm25"]
    assert runs[0].result.of("bm25") is None and runs[1].result == evaluation(0.5, "web", "bm25")
    assert evaluations.history(db, "nothing") == []


def test_the_oldest_of_very_many_runs_are_forgotten(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluations, "KEPT_RUNS", 3)
    evaluations.note(db, 1.0, "news", evaluation(1.0))
    for at in range(2, 8):
        evaluations.note(db, float(at), "library", evaluation(0.1 * at))
    assert [run.at for run in evaluations.history(db, "library")] == [5.0, 6.0, 7.0]
    assert len(evaluations.history(db, "news")) == 1
