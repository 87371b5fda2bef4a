"""Figures over time: a minute is written once, differences tell what happened, and the table stays small."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from gossamer.clock import Clock
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.errors import StorageError
from gossamer.frontier.views.inspect import status
from gossamer.revisit.config import RevisitConfig
from gossamer.store.config import StorageConfig
from gossamer.supervise.sampling import Sampler
from gossamer.tables import delays, samples
from gossamer.tables.samples import DAY, HOUR, MINUTE, Figures
from gossamer.testing import FakeClock

NOW = 1_700_000_000.0 // HOUR * HOUR


def rows(db: Database, span: int) -> list[int]:
    return [at for (at,) in db.execute("SELECT at FROM samples WHERE span = ? ORDER BY at", (span,))]


def keep(db: Database, at: float, **figures: Any) -> bool:
    return samples.note(db, Figures(at, **figures))


def test_a_minute_is_written_once_whoever_writes_it(db: Database) -> None:
    assert keep(db, NOW + 3, pages=1)
    assert not keep(db, NOW + 40, pages=2)
    assert keep(db, NOW + 61, pages=3)
    assert [one.pages for one in samples.history(db, NOW, NOW + DAY)] == [1, 3]


def test_the_end_of_a_crawl_takes_the_place_of_the_minute_before_it(db: Database) -> None:
    keep(db, NOW + 3, pages=1)
    samples.note(db, Figures(NOW + 50, pages=9), last=True)
    assert [one.pages for one in samples.history(db, NOW, NOW + DAY)] == [9]


def test_hours_that_are_over_for_two_days_keep_their_last_minute(db: Database) -> None:
    for minute in range(3 * 60):
        keep(db, NOW + minute * MINUTE, fetched=minute)
    keep(db, NOW + 2 * HOUR + 2 * DAY, fetched=999)
    assert rows(db, HOUR) == [NOW, NOW + HOUR]
    assert rows(db, MINUTE)[0] == NOW + 2 * HOUR
    assert [one.fetched for one in samples.history(db, NOW, NOW + 2 * HOUR - 1, step=HOUR)] == [59, 119]


def test_what_is_older_than_two_years_goes(db: Database) -> None:
    keep(db, NOW, pages=1)
    keep(db, NOW + 3 * DAY, pages=2)
    assert rows(db, HOUR) == [NOW]
    keep(db, NOW + 800 * DAY, pages=3)
    assert rows(db, HOUR) == []
    assert [one.pages for one in samples.history(db, 0, NOW + 801 * DAY)] == [3]


def test_the_crawl_as_it_stood_is_found_among_minutes_and_hours(db: Database) -> None:
    assert samples.as_of(db, NOW) is None
    for hour in range(72):
        keep(db, NOW + hour * HOUR + 30 * MINUTE, fetched=hour)
    first, middle, late = (samples.as_of(db, NOW + hours * HOUR) for hours in (-5, 10, 71.8))
    assert (first and first.fetched, middle and middle.fetched, late and late.fetched) == (0, 9, 71)
    newest = samples.newest(db)
    assert newest is not None and newest.fetched == 71


def test_a_long_window_is_thinned_to_its_steps(db: Database) -> None:
    for minute in range(30):
        keep(db, NOW + minute * MINUTE, fetched=minute)
    assert [one.fetched for one in samples.history(db, NOW, NOW + HOUR, step=600)] == [9, 19, 29]


def test_the_difference_of_two_samples_is_the_distribution_of_the_time_between_them() -> None:
    before, after = {0: 100, 20: 5}, {0: 100, 20: 15, 40: 10}
    found = delays.summary(samples.grown(before, after))
    assert (found.documents, found.median, found.p95) == (20, 32.0, 1024.0)
    assert samples.grown(after, after) == {}


def test_only_documents_that_surely_kept_to_a_time_count_as_quick() -> None:
    assert samples.within({20: 3, 40: 1}, 900.0) == 0.75
    assert samples.within({}, 900.0) == 1.0


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW)


def sampler(db: Database, folder: Path, clock: Clock) -> Sampler:
    return Sampler(db, DataFolder(folder, StorageConfig()), RevisitConfig(), clock)


def test_a_crawl_writes_a_sample_a_minute(db: Database, tmp_path: Path, clock: FakeClock) -> None:
    one = sampler(db, tmp_path, clock)
    for _ in range(50):
        one.tick(status(db, clock.now()))
        clock.advance(5.0)
    assert len(rows(db, MINUTE)) == 5
    newest = samples.newest(db)
    assert newest is not None and newest.disk_free > 0


def test_figures_that_cannot_be_written_do_not_stop_a_crawl(
    db: Database, tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> bool:
        raise StorageError("the disk is full")

    monkeypatch.setattr(samples, "note", full)
    sampler(db, tmp_path, clock).tick(status(db, NOW))
    assert not rows(db, MINUTE)


def test_samples_of_a_later_version_with_more_figures_can_be_read(db: Database) -> None:
    text = msgspec.json.encode({"taken_at": NOW, "pages": 4, "colour": "blue"}).decode()
    db.execute("INSERT INTO samples VALUES (?, ?, ?)", (MINUTE, int(NOW), text))
    assert [one.pages for one in samples.history(db, NOW, NOW)] == [4]
