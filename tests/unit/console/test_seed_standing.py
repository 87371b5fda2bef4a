"""What became of the seeds, on the overview: judged aside and kept a while, but never beyond a change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from gossamer.console import seed_standing
from gossamer.console.context import Crawl
from gossamer.console.seed_standing import SeedStanding, standing_of
from gossamer.database.database import Database, open_database
from gossamer.frontier.views.seed_list import count_seeds
from gossamer.operate.verdict import SeedVerdict, Verdict
from gossamer.settings import NetworkSettings, Settings
from gossamer.testing import FakeClock
from gossamer.web.service import Services

NOW = 1_700_000_000.0
LONG = 30.0
"""Seconds that a test waits for what surely comes."""


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = open_database(tmp_path / "frontier.db")
    database.execute("PRAGMA synchronous = OFF")
    yield database
    database.close()


class Watched(Crawl):
    """A crawl whose settings a test can change."""

    now = Settings()

    def __init__(self, data: Path, clock: FakeClock) -> None:
        services: Any = Services(search=None)
        super().__init__(data, lambda: self.now, services, clock)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW)


@pytest.fixture
def crawl(db: Database, tmp_path: Path, clock: FakeClock) -> Watched:
    return Watched(tmp_path, clock)


def name(db: Database, host: str) -> None:
    db.execute("INSERT INTO seeds VALUES (?, ?, 1)", (f"http://{host}/", host))


def seeds(crawl: Crawl) -> int:
    found = crawl.seeds.look(LONG)
    assert found is not None
    return found.seeds


def test_seeds_are_judged_once_in_ten_seconds(db: Database, crawl: Watched, clock: FakeClock) -> None:
    name(db, "a.test")
    assert seeds(crawl) == 1
    name(db, "b.test")
    clock.advance(9.0)
    assert seeds(crawl) == 1
    clock.advance(1.0)
    assert seeds(crawl) == 2


def test_what_took_long_is_kept_twenty_times_as_long(
    crawl: Watched, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = []

    def slow(*_: Any) -> Verdict:
        judged.append(clock.now())
        clock.advance(3.0)
        return Verdict([])

    monkeypatch.setattr(seed_standing, "verdict_of", slow)
    for after in (0.0, 56.0, 1.0):
        clock.advance(after)
        crawl.seeds.look(LONG)
    assert judged == [NOW, NOW + 60]


def test_a_change_on_the_console_or_of_the_settings_is_seen_at_once(db: Database, crawl: Watched) -> None:
    assert seeds(crawl) == 0
    name(db, "a.test")
    crawl.seeds.forget()
    assert seeds(crawl) == 1
    name(db, "b.test")
    crawl.now = Settings(network=NetworkSettings(allow=("127.0.0.0/8",)))
    assert seeds(crawl) == 2


def test_nobody_waits_for_many_seeds_and_what_was_judged_before_a_change_is_not_shown(
    db: Database, crawl: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = Event(), Event()

    def slow(database: Database, *_: Any) -> Verdict:
        found = [SeedVerdict("http://a.test/", "pending")] * count_seeds(database)
        begun.set()
        assert go_on.wait(LONG)
        return Verdict(found)

    monkeypatch.setattr(seed_standing, "verdict_of", slow)
    assert crawl.seeds.look(0.0) is None
    assert begun.wait(LONG)
    assert crawl.ask(count_seeds) == 0  # another page, meanwhile
    name(db, "a.test")
    crawl.seeds.forget()
    assert crawl.seeds.look(0.0) is None
    go_on.set()
    assert seeds(crawl) == 1


def test_those_that_failed_come_first_and_all_are_counted() -> None:
    states = ["kept", "pending", "removed", *["failed"] * 3, *["kept"] * 20]
    found = standing_of(Verdict([SeedVerdict(f"http://{n}.test/", state) for n, state in enumerate(states)], pages=9))
    assert (found.seeds, found.failed, found.pending, found.brought, found.ok) == (26, 3, 1, 21, False)
    assert [one.state for one in found.shown[:4]] == ["failed", "failed", "failed", "kept"] and len(found.shown) == 10


@pytest.mark.parametrize(
    ("standing", "fruitless"),
    [
        (SeedStanding(4, failed=4), True),
        (SeedStanding(4, failed=1, pending=3), False),
        (SeedStanding(4, failed=3, brought=1), False),
        (SeedStanding(4, pending=4), False),
    ],
)
def test_a_crawl_is_fruitless_where_every_seed_was_tried_and_failed(standing: SeedStanding, fruitless: bool) -> None:
    assert standing.is_fruitless is fruitless
